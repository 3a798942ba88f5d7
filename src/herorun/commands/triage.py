"""`herorun triage`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from herorun.core.triage.signatures import SignatureSet
    from herorun.core.triage.verdict import TriageVerdict
    from herorun.schemas.evaluations import Failure

PATIENCE = 60.0  # seconds for one log; most are read at several hundred MiB a second
_BLOCK = 1 << 20  # bytes at the beginning and at the end that are kept
_PART = 1 << 17  # bytes of one read: they stay in the processor's cache while they are searched


@click.command(short_help="Find why a run ended, or the root cause in a log.")
@click.argument("files", metavar="[FILE...]", nargs=-1)
@click.option(
    "--exit-code", type=int, metavar="N", help="The job's exit code; -9 and 137 mean the same."
)
@click.option(
    "--signatures",
    "--catalogue",
    "own",
    multiple=True,
    metavar="FILE",
    help="Signatures of your own, in TOML.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str, files: tuple[str, ...], exit_code: int | None, own: tuple[str, ...], as_json: bool
) -> int:
    """Find the root cause of a failure in the newest attempt of each log; `-` reads standard input.

    If FILE is the name of a run of this repository and not a file, it explains why the newest
    instance ended, from its scheduler, log, store and disks. It does so too for a log file of an
    instance that lies in the run's folder, or that contains the line which check-in wrote. Without
    FILE it explains the repository's run, if there is exactly one.

    A log that takes more than a minute is cut to its start and end, and the answer says so.

    Exit code 0: the log was read and nothing in it failed. 1: a failure was found. 3: the cause is
    unknown, because the log does not say why the job failed, or could not be read as a log.

    \b
    Example:
      herorun triage slurm-4711.out --exit-code 137
      tail -c 100000000 train.log | herorun triage - --json
      herorun triage my-run
    """
    from herorun import output, signatures
    from herorun.core.errors import WrongUse
    from herorun.core.triage.classes import QUIET, FailureClass
    from herorun.schemas.evaluations import TriageDocument

    signature_set = signatures.with_own(*(Path(start, name) for name in own))
    verdicts = [_triage_named(signature_set, name, Path(start), exit_code) for name in files]
    if not verdicts and (exit_code is not None or own):
        raise WrongUse("These options are about a log: name its FILE; `-` reads standard input.")
    verdicts = verdicts or [_triage_only_run(start)]
    if as_json:
        output.show_json(TriageDocument(files=verdicts))
    for failure in () if as_json else verdicts:
        where = f" at {failure.frame}" if failure.frame else ""
        line = f", line {failure.line}" if failure.line else ""
        text = failure.excerpt or _without_line(failure)
        head = f"{failure.class_}{where}{line}"  # which a run's diagnosis may state itself
        message = f"{failure.file}: {text if head in text else f'{head}: {text}'}"
        output.show_line(output.clean(message))
        if failure.advice:
            output.hang(output.console(), "    ", output.clean(failure.advice))
    classes = {failure.class_ for failure in verdicts}
    return 1 if classes - QUIET else 3 if FailureClass.UNKNOWN in classes else 0


def _without_line(failure: "Failure") -> str:
    """The text that replaces the explaining line, if there is none."""
    from herorun.core.triage.classes import QUIET, FailureClass

    if failure.class_ == FailureClass.UNKNOWN:
        return "no cause found"
    return "no failure found" if failure.class_ in QUIET else "from the exit code alone"


def _triage_only_run(start: str) -> "Failure":
    """The failure of the repository's run; `WrongUse` if it has none, or several."""
    from herorun.commands._options import only_run, runs_hint
    from herorun.core.errors import WrongUse
    from herorun.operations.health.diagnose import run_diagnosed

    run = only_run(start)
    if run is None:
        raise WrongUse(f"Name a log or a run: `herorun triage FILE`.{runs_hint(start)}")
    return run_diagnosed(run, Path(start))


def _triage_named(
    signature_set: "SignatureSet", name: str, start: Path, exit_code: int | None
) -> "Failure":
    """The failure of a log; or of a run, if `name` is a run and not a file."""
    if name != "-" and not (start / name).exists():
        from herorun.operations.health.diagnose import names_run, run_diagnosed

        if names_run(name, start):
            return run_diagnosed(name, start)
    elif (
        exit_code is None
        and _is_file(name, start)
        and (instance := _instance_in(start / name)) is not None
    ):
        from herorun.operations.health.diagnose import log_diagnosed

        if diagnosis := log_diagnosed(name, start, instance):
            return diagnosis
    return _failure(name, judge_file(signature_set, name, start, exit_code))


def _instance_in(log: Path) -> str | None:
    """The instance that the newest check-in in the first or the last MiB of a log names; empty if
    only the log's folder may show it, None if nothing does.
    """
    from herorun.core.record.anchors import receipts_in
    from herorun.core.untrusted_json import read_json

    try:
        with log.open("rb") as file:
            head = file.read(_BLOCK)
            file.seek(max(len(head), log.stat().st_size - _BLOCK))
            text = (head + b"\n" + file.read(_BLOCK)).decode(errors="replace")
        receipts = [read_json(each) for each in receipts_in(text)[-1:]]
    except (OSError, ValueError):
        receipts = []
    instances = [one["instance"] for one in receipts if isinstance(one, dict) and "instance" in one]
    return str(instances[0]) if instances else ("" if ".herorun" in log.resolve().parts else None)


def judge_file(
    signature_set: "SignatureSet", name: str, start: Path, exit_code: int | None
) -> "TriageVerdict":
    """The verdict on one log, read in blocks. Raises WrongUse if it cannot be read.

    A log whose every line needs classification takes seconds for each MiB: after `PATIENCE` only
    its end is read.
    """
    from herorun.core.triage.lines import is_text
    from herorun.core.triage.scan import Scan, finish, scan, skip
    from herorun.core.triage.state import AttemptLog, see
    from herorun.core.triage.verdict import DOCUMENTS, judge_log, no_end, no_log, no_text, part_read

    state, attempts, readable, unread_bytes = Scan(), AttemptLog(), True, 0
    until, newest = time.monotonic() + PATIENCE, b""
    for number, block in enumerate(_blocks(name, start)):
        readable = readable if number else is_text(block)
        if time.monotonic() < until:
            state, matches = scan(signature_set, state, block)
            attempts = see(attempts, matches)
            continue
        newest += block
        left_out, newest = newest[:-_BLOCK], newest[-_BLOCK:]
        unread_bytes += len(left_out)
        state = skip(state, len(left_out), left_out.count(b"\n")) if left_out else state
    state, matches = scan(signature_set, state, newest)
    attempts = see(attempts, matches)
    state, matches = finish(signature_set, state)
    attempts = see(attempts, matches)
    log_verdict = judge_log(signature_set, attempts, state.last_line, exit_code)
    if exit_code is None:
        log_verdict = no_end(log_verdict, attempts, _silent_minutes(name, start))
    log_verdict = part_read(log_verdict, unread_bytes) if unread_bytes else log_verdict
    if Path(name).suffix.lower() in DOCUMENTS:
        return no_log(log_verdict)
    return log_verdict if readable else no_text(log_verdict)


def _is_file(name: str, start: Path) -> bool:
    """Whether it can be read twice. A pipe cannot, and its time says nothing about its writer."""
    return name != "-" and (start / name).is_file()


def _silent_minutes(name: str, start: Path) -> float:
    """Since the log was last written; 0 where nothing tells."""
    try:
        if not _is_file(name, start):
            return 0.0
        return max(time.time() - (start / name).stat().st_mtime, 0.0) / 60
    except OSError:
        return 0.0


def _blocks(name: str, start: Path) -> Iterator[bytes]:
    from herorun.core.errors import WrongUse, describe_error
    from herorun.system import progress

    bytes_read, activity = 0, f"reading {Path(name).name}"
    try:
        size = None if name == "-" else (start / name).stat().st_size
        with click.open_file("-" if name == "-" else str(start / name), "rb") as log:
            while block := log.read(_PART):
                yield block
                bytes_read += len(block)
                progress.progress(activity, bytes_read, size and max(size, bytes_read + 1))
            progress.progress(activity, 1, 1)
    except OSError as error:
        raise WrongUse(f"{describe_error(error)}: name a log that can be read.") from None


def _failure(name: str, verdict: "TriageVerdict") -> "Failure":
    from herorun.schemas.evaluations import Failure

    return Failure.of(
        verdict,
        file=name,
        class_=verdict.failure,
        signature=verdict.signature or None,
        frame=str(verdict.where) if verdict.where else None,
        needs_person=verdict.person,
    )
