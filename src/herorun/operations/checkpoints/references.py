"""Which checkpoints anything refers to: reads every record and contract. An unreadable one is never
"no reference".
"""

from collections.abc import Iterable, Iterator

from herorun.core.contract import Contract, parse_contract
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.event import CheckedIn, Event, Launching, Sealed
from herorun.core.journal import fold
from herorun.core.redaction.scrub import scrub
from herorun.core.retention import RetentionReference
from herorun.record import Record
from herorun.runs import MAX_CONTRACT_BYTES, Run, known_slugs
from herorun.system.files import read_regular

RECORDS = "refs/heads/herorun/*"


def all_references(run: Run) -> RetentionReference:
    """The checkpoints that any recorded run, contract or seal names, here and on the remote;
    `CouldNotLook` if one cannot be read.
    """
    names: dict[str, str] = {}
    roots: dict[str, str] = {}
    contracts = list(_contracts(run))
    for contract in contracts:
        if contract.start.from_:
            names[contract.start.from_.rstrip("/")] = (
                f"{contract.slug} starts from it, by its contract"
            )
        if contract.slug != run.slug:
            output = contract.output
            roots |= {
                root.rstrip("/"): contract.slug
                for root in (output.root, output.temporary_root)
                if root
            }
    by_slug = {contract.slug: contract for contract in contracts}
    for slug in sorted({*known_slugs(run.repository), *by_slug, *_remote_runs(run), run.slug}):
        events = _all_events(run, slug, by_slug.get(slug))
        names |= {path.rstrip("/"): why for path, why in _list_named_checkpoints(events)}
        if slug == run.slug:
            foreign = fold(events).history.foreign
            names |= dict.fromkeys(
                foreign, "it is older than the first launch: no recorded instance wrote it"
            )
        else:
            roots |= dict.fromkeys(_launched_roots(events), slug)
    return RetentionReference(names, roots)


def _contracts(run: Run) -> Iterator[Contract]:
    """The contracts of the work tree and of HEAD. An unreadable one raises, because it may name any
    checkpoint.
    """
    top, head = run.repository.top, run.repository.resolve("HEAD")
    texts = [
        (f"runs/{path.name}", read_regular(path, MAX_CONTRACT_BYTES))
        for path in sorted((top / "runs").glob("*.toml"))
    ]
    inside = [name for _, _, name in run.repository.entries(head, "runs")] if head else []
    paths = [f"runs/{name}" for name in inside if name.endswith(".toml") and "/" not in name]
    committed_texts = run.repository.read(head, paths, MAX_CONTRACT_BYTES) if head and paths else {}
    for path, data in [*texts, *((path, data) for path, data in committed_texts.items() if data)]:
        try:
            yield parse_contract(data.decode(), path)
        except (HerorunError, ValueError) as error:
            raise CouldNotLook(
                f"It is unknown which checkpoint {path} names, so nothing is deleted: "
                f"{scrub(describe_error(error))}"
            ) from None


def _remote_runs(run: Run) -> set[str]:
    """The runs with a record on the remote, including those that this clone has never fetched."""
    remote = run.contract.record_remote
    if remote not in run.repository.remotes():
        return set()
    return {ref.rpartition("/")[2] for ref in run.repository.remote_tips(remote, RECORDS)}


def _all_events(run: Run, slug: str, contract: Contract | None) -> list[Event]:
    """The events of the local and of the remote record: either may be ahead."""
    source = contract or run.contract
    branch = source.record_branch if contract else ""
    remote = source.record_remote if source.record_remote in run.repository.remotes() else None
    record = Record.discover(run.repository, slug, branch, remote)
    try:
        record.must_understand()
        lines = {line.id: line.event for line in (*record.published_lines(), *record.lines())}
    except (HerorunError, OSError) as error:
        raise CouldNotLook(
            f"It is unknown what {slug} still needs, so nothing is deleted: its record could not "
            f"be read: {describe_error(error)}"
        ) from None
    return list(lines.values())


def _list_named_checkpoints(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    for event in events:
        match event:
            case Launching():
                start = (event.plan.get("start") or {}).get("value") or {}
                if start.get("path"):
                    yield str(start["path"]), f"launch checkpoint of {event.instance}"
            case CheckedIn() if event.loaded:
                yield event.loaded, f"{event.instance} loaded it"
            case Sealed() if event.checkpoint:
                which = f"{event.ending} {event.name}".strip()
                yield event.checkpoint, f"sealed as {event.tag} ({which})"


def _launched_roots(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Launching):
            values = (event.plan.get(name) or {} for name in ("output_root", "temporary_root"))
            yield from (str(each["value"]).rstrip("/") for each in values if each.get("value"))
