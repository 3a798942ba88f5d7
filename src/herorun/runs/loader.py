"""Opening a run by its name: a slug, or the path of its contract."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from herorun.core.contract import (
    SLUG,
    Contract,
    ContractFile,
    Fault,
    WrongContract,
    locate_faults,
    parse_contract,
    plan_part,
)
from herorun.core.errors import (
    CouldNotLook,
    HerorunError,
    WrongTable,
    WrongUse,
    describe_error,
    sentence,
)
from herorun.core.evidence import LaunchProof
from herorun.core.untrusted_toml import parse_toml
from herorun.record import Record
from herorun.runs.admitted_contract import admitted_contract, drift_from, replace_contract
from herorun.runs.launch_history import MAX_CONTRACT_BYTES, launched_contract, newest
from herorun.runs.notifiers import must_be_complete, must_be_sendable, must_hold_pages
from herorun.runs.run import Run
from herorun.runs.thresholds import check_limits
from herorun.system.files import read_regular
from herorun.system.git import GitFailed, Repository, find_repository
from herorun.system.user_trust import REJECTIONS, read_trusted_items

if TYPE_CHECKING:
    from herorun.runs.launch_trust import RecordProof

NOT_CONTACTED = "herorun did not contact the contract's scheduler, tracker or stores"  # if shut


def contract_path(repository: Repository, name: str, start: Path) -> Path:
    """RUN is a slug, which names `runs/<slug>.toml`, or a path, whose `.toml` may be left away."""
    if _is_path(name):
        path = (start / (name if name.endswith(".toml") else f"{name}.toml")).resolve()
        _relative_path(repository, path)
        return path
    if not SLUG.fullmatch(name):
        raise WrongUse(
            f"{name!r} is neither a slug (a-z, 0-9 and -, at most 48 characters, beginning with a "
            "letter or digit) nor a path to a .toml file."
        )
    return repository.top / "runs" / f"{name}.toml"


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith(".toml")


def _instead(path: Path, name: str) -> str:
    """What to type in the place of a run that is not there: one that is, where the name is near to
    it.
    """
    from herorun.core.suggestions import closest_names

    init = f"`herorun init {name}` writes one"
    slugs = sorted(each.stem for each in path.parent.glob("*.toml"))
    if closest := closest_names(path.stem, slugs):
        return f"did you mean `{closest[0]}`? If not, {init}"
    return f"`herorun list` shows the runs, and {init}"


def open_run(name: str, start: Path) -> Run:
    """The run that RUN names, with the contract as it is on disk."""
    repository = find_repository(start)
    path = contract_path(repository, name, start)
    try:
        text = read_regular(path, MAX_CONTRACT_BYTES).decode("utf-8")
    except FileNotFoundError:
        raise WrongUse(f"There is no contract {path}: {_instead(path, name)}.") from None
    except UnicodeDecodeError:
        raise WrongUse(f"The contract {path} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise WrongUse(f"The contract cannot be read: {describe_error(error)}.") from None
    shown_path = _relative_path(repository, path)
    run = Run(
        repository=repository,
        contract=_read_contract(text, shown_path, repository.top),
        file=ContractFile(shown_path, text, _read_committed(repository, shown_path)),
    )
    with run.naming_lines():
        if faults := fault_of_slug(run.slug, path.stem):
            raise WrongTable("", "", faults)
        check_limits(run.contract)
        must_hold_pages(run.contract.issue.kind)
        must_be_complete(run.contract.issue)
        must_be_sendable(run.contract.notify)
        must_read_signatures(run.contract, repository.top)
    return run


def _read_contract(text: str, path: str, top: Path) -> Contract:
    """A `WrongUse` has all that is wrong, also in the tables that adapters and checks read."""
    try:
        return parse_contract(text, path)
    except WrongContract as error:
        from herorun.runs.adapter_tables import all_faults  # imported for a fault alone

        faults = all_faults(error, Path(path).stem, top)
        raise locate_faults(faults, ContractFile(path, text)) from None


def fault_of_slug(slug: str, stem: str) -> list[Fault]:
    """What is wrong if it is not the name of the contract's file."""
    message = f"slug = {slug!r} must be the file's name: rename one of them"
    return [(("slug",), message)] if slug != stem else []


def must_read_signatures(contract: Contract, top: Path) -> None:
    """A wrong row is reported when the contract is read, not on the day that a log is."""
    if contract.babysit.signatures:
        from herorun import signatures

        try:
            signatures.of_contract(contract, top)
        except WrongUse as error:
            raise WrongTable("babysit", "", [(("signatures",), str(error))]) from None


def _read_committed(repository: Repository, path: str) -> str | None:
    try:
        data = repository.read("HEAD", [path], MAX_CONTRACT_BYTES)[path]
    except GitFailed:  # as before the first commit
        if repository.resolve("HEAD"):
            raise
        return None
    return data.decode("utf-8", "replace") if data is not None else None


def _relative_path(repository: Repository, path: Path) -> str:
    try:
        return str(path.relative_to(repository.top))
    except ValueError:
        raise WrongUse(
            f"The contract {path} lies outside the repository {repository.top}: it must be "
            "committed with the code."
        ) from None


def watched_run(name: str, start: Path, follow: bool = True) -> tuple[Run, str]:
    """The run as a babysitter sees it, and what is wrong with the contract on disk (empty if
    nothing).

    The file is followed while it parses and its plan part is the admitted one; otherwise the
    admitted contract stands. Where nothing proves the launch, the run is closed: it is shown from
    its record, and none of its values is used. `follow` as for `Record.fetch`.
    """
    try:
        run, problem = open_run(name, start), ""
        run.record.fetch(run.record.ask_recently, follow=follow)
        apply_proof(run, run.contract)
    except HerorunError as error:
        run, problem = _admitted_by_name(name, start, error), str(error).rstrip(".")
    if run.closed:
        return run, problem
    admitted_one = admitted_contract(run)
    run.drift = drift_from(run, admitted_one, problem)
    if admitted_one is None or admitted_one is run.contract:
        return run, problem
    if plan_part(admitted_one) == plan_part(run.contract):
        return run, problem
    return replace_contract(
        run, admitted_one
    ), problem or f"{run.file.path} was changed since the launch"


def _is_other_file(repository: Repository, name: str, start: Path, contract_file: str) -> bool:
    return (
        _is_path(name) and contract_path(repository, name, start) != repository.top / contract_file
    )


def _admitted_by_name(name: str, start: Path, error: HerorunError) -> Run:
    """The contract file is gone or broken: go by the record of that slug, if there is one and the
    name is no path to another file.
    """
    from herorun.runs.launch_trust import prove

    repository = find_repository(start)
    slug = Path(name).stem
    if not SLUG.fullmatch(slug) or repository.resolve(f"refs/herorun/record/{slug}") is None:
        raise error
    record, rules = Record.discover(repository, slug), _rules(repository, slug)
    proof = prove(record, rules)
    record.rejected_launches = proof.rejected_launches
    launching = newest(record.memory())
    if launching is None and proof.doubts:
        raise CouldNotLook(
            f"{sentence(str(error))} The record of {slug} cannot replace it: {proof.doubts[0]}."
        ) from None
    if launching is None or _is_other_file(repository, name, start, launching.contract_file):
        raise error
    contract = launched_contract(repository, launching)
    run = Run(
        repository=repository, contract=contract, file=ContractFile(launching.contract_file, "")
    )
    apply_proof(run, rules, proof)
    return run


def _rules(repository: Repository, slug: str) -> Contract | None:
    """Whose `[code]` says what is published: the committed contract, where the one on disk cannot
    be read.
    """
    path = f"runs/{slug}.toml"
    try:
        return parse_contract(_read_committed(repository, path) or "", path)
    except HerorunError:
        return None


def apply_proof(run: Run, rules: Contract | None, proof: "RecordProof | None" = None) -> None:
    """Hold its record against what proves it; from then on what does not count is left out of its
    memory.
    """
    from herorun.runs.launch_trust import describe_unstated, prove

    proof = proof or prove(run.record, rules)
    run.record.rejected_launches = proof.rejected_launches
    doubts = [*proof.doubts, *_doubtful_seals(run)]
    alone = tuple(
        describe_unstated(run.slug, launching, message) for launching, message in proof.unstated
    )
    run.unproven = LaunchProof(tuple(doubts), alone)
    run.to_prove, run.to_accept = (
        proof.unproven,
        tuple(launching for launching, _ in proof.unstated),
    )
    valid_launchings, counts = (
        run.record.memory_as_written().launchings,
        run.record.memory().launchings,
    )
    if proof.unseen:
        run.closed = describe_unread(proof.unseen)
    elif proof.doubts and valid_launchings and not counts:
        run.closed = (
            f"{NOT_CONTACTED}, because no launch in the record is proven: {proof.doubts[0]}. If "
            f"you know that it is right: `herorun trust {run.slug}`."
        )


def describe_unread(why: str) -> str:
    return f"{NOT_CONTACTED}, because {why}."


def _doubtful_seals(run: Run) -> Iterator[str]:
    """A seal whose tag this clone lacks is asked of the remote first."""
    if not (seals := run.record.unproven_seals()):
        return
    from herorun.record.seals import bring_tag, is_seal_of  # most records have no such seal

    rejected_tags = read_trusted_items(run.repository.main, REJECTIONS)
    for seal, _ in seals:
        with contextlib.suppress(HerorunError):
            if is_seal_of(run.slug, seal.tag):
                bring_tag(run.repository, run.contract.code.remote, seal.tag)
    for seal, problem in run.record.unproven_seals():
        if seal.statement_digest not in rejected_tags:
            yield f"the seal {seal.tag} does not count: {problem}"


def known_slugs(repository: Repository) -> Iterator[str]:
    """Every run that has a contract or a record here."""
    refs = repository.git(
        "for-each-ref", "--format=%(refname)", "refs/herorun/record/"
    ).text.split()
    recorded_slugs = {ref.removeprefix("refs/herorun/record/") for ref in refs}
    slugs = {
        path.stem
        for path in (repository.top / "runs").glob("*.toml")
        if _is_meant_as_contract(path)
    }
    yield from sorted(recorded_slugs | slugs)


def _is_meant_as_contract(path: Path) -> bool:
    """Whatever cannot be read is: it must be reported. A config that lies next to the contracts
    names no slug.
    """
    if not SLUG.fullmatch(path.stem):
        return False
    try:
        text = read_regular(path, MAX_CONTRACT_BYTES).decode()
    except (OSError, ValueError):
        return True
    with contextlib.suppress(WrongUse):
        parse_contract(text, path.name)  # not read again when its run is opened
        return True
    try:
        return "slug" in parse_toml(text)
    except ValueError:
        return True
