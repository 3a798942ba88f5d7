"""What outside the record's branch names its commits: our own comments on the issue, receipts in
the output root and in the jobs' logs, admissions.

This only reads. What cannot be read is reported, and is no fault of the record.
"""

from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import HerorunError, describe_error
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import ReadBack
from herorun.core.record.anchors import named_in_comment, named_in_receipt, receipts_in
from herorun.core.redaction.scrub import scrub
from herorun.core.untrusted_json import read_json
from herorun.runs import Run, open_run, watched_run

# Also what a forged journal line brings up, whose fields are not what its kind has.
UNREADABLE = (HerorunError, OSError, ValueError, LookupError, TypeError, AttributeError)
MAX_COMMENTS = 1000  # read of an issue: a digest a day is 365 a year
MAX_RECEIPTS = 200  # read of an output root: one a start
MAX_LOGS = 20  # of the newest instances, each one question
BEGINNING = 1 << 20  # bytes of a log: check-in comes before the training
END = 2000  # lines


@dataclass
class ExternalAnchors:
    """Record commits that are named outside, each with what names it first, and what was not looked
    at.
    """

    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, commit: str, what: str) -> None:
        if commit:
            self.names.setdefault(commit, what)


def compare_anchors(name: str, start: Path) -> ExternalAnchors:
    """Ask the issue, the output root and the jobs' logs by the admitted contract, and this
    machine's admissions.
    """
    outside = ExternalAnchors()
    run = _run_of_name(name, start, outside)
    if run is not None and run.closed_reason:
        outside.notes.append(f"the issue and the output root were not read: {run.closed_reason}")
    elif run is not None:
        _try(run, "issue", _issue, outside)
        _try(run, "receipts", _receipts, outside)
        _try(run, "logs", _logs, outside)
        _try(run, "admissions", _admissions, outside)
    return outside


def _run_of_name(name: str, start: Path, outside: ExternalAnchors) -> Run | None:
    """A forged record may name no contract that can be read: then the one on disk says where to
    look.
    """
    try:
        return watched_run(name, start, follow=False)[0]
    except UNREADABLE as error:
        why = _scrub_error(error)
    try:
        run = open_run(name, start)
    except UNREADABLE:
        outside.notes.append(
            f"the issue and the output root were not read, without a contract: {why}"
        )
        return None
    outside.notes.append(
        "the admitted contract could not be read, so the places to check are from the one on "
        f"disk: {why}"
    )
    return run


def _try(
    run: Run, what: str, check: Callable[[Run, ExternalAnchors], None], outside: ExternalAnchors
) -> None:
    try:
        check(run, outside)
    except UNREADABLE as error:
        outside.notes.append(f"the {what} could not be read: {_scrub_error(error)}")


def _scrub_error(error: Exception) -> str:
    return scrub(describe_error(error))


def _issue(run: Run, outside: ExternalAnchors) -> None:
    """Only comments of our own login count: the adapter sees to that."""
    issue = run.issue
    if not isinstance(issue, ReadBack):
        outside.notes.append(
            f"the issue could not be read: its adapter {run.contract.issue.kind} reads none back"
        )
        return
    comments = issue.comments(write_key(Verb.ISSUE, run.slug), MAX_COMMENTS)
    for body in comments.bodies:
        outside.add(named_in_comment(run.slug, body), "a comment on the issue")
    if comments.more:
        outside.notes.append(f"only the first {MAX_COMMENTS} comments on the issue were read")


def _receipts(run: Run, outside: ExternalAnchors) -> None:
    folder = f"{run.place.output_root}/_herorun/receipts"
    names = [name for name in _list_receipts(run, folder) if name.endswith(".json")]
    if len(names) > MAX_RECEIPTS:
        outside.notes.append(f"only {MAX_RECEIPTS} of the {count(len(names), 'receipt')} were read")
    texts = ((name, run.store.read(f"{folder}/{name}")) for name in names[:MAX_RECEIPTS])
    _read_all(run, "receipt", texts, outside)


def _list_receipts(run: Run, folder: str) -> tuple[str, ...]:
    """A root without receipts has none. One that is not here, of a run that was launched, lies on
    another machine.
    """
    try:
        return run.store.names(folder)
    except FileNotFoundError:
        if run.record.memory().launchings:
            run.store.names(run.place.output_root)
        return ()


def _logs(run: Run, outside: ExternalAnchors) -> None:
    """A job that writes to an object store leaves its receipts in its log only, at the beginning.

    The first instance is asked for in any case: a forged record may name none.
    """
    names = [each.name for each in run.record.memory().instances][-MAX_LOGS:]
    for name in dict.fromkeys((f"{run.slug}-1", *names)):
        try:
            texts = receipts_in(_beginning(run, name))
        except FileNotFoundError:
            continue  # it never ran, or its log is gone
        _read_all(run, "receipt in the log of", ((name, each.encode()) for each in texts), outside)


def _beginning(run: Run, instance: str) -> str:
    """The beginning of the log. A scheduler that reads no log from its start gives the end, which
    holds all of a short log.
    """
    read_log = getattr(run.scheduler, "read_log", None)
    if read_log is None:
        return run.scheduler.tail(instance, END)
    return str(read_log(instance, 0, BEGINNING).data.decode("utf-8", "replace"))


def _admissions(run: Run, outside: ExternalAnchors) -> None:
    """What each job was given, of those that were launched on this machine."""
    folder = run.state / "admissions"
    earlier = folder.glob("*.json")  # as the first versions named them
    paths = sorted([*folder.glob("*/admission.json"), *earlier])[:MAX_RECEIPTS]
    texts = ((str(path.relative_to(folder)), path.read_bytes()) for path in paths)
    _read_all(run, "admission", texts, outside)


def _read_all(
    run: Run, kind: str, texts: Iterable[tuple[str, bytes]], outside: ExternalAnchors
) -> None:
    for name, text in texts:
        try:
            outside.add(named_in_receipt(run.slug, read_json(text)), f"the {kind} {name}")
        except ValueError as error:
            outside.notes.append(f"the {kind} {name} could not be read: {_scrub_error(error)}")
