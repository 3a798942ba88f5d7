"""A log judged whole, as the command does it."""

from herorun.core.triage.match import Match
from herorun.core.triage.scan import Scan, finish, scan
from herorun.core.triage.signatures import SignatureSet
from herorun.core.triage.state import AttemptLog, see
from herorun.core.triage.verdict import TriageVerdict, judge_log
from herorun.signatures import load_signature_set


def judge_text(
    log: str | bytes,
    exit_code: int | None = None,
    signature_set: SignatureSet | None = None,
    block: int = 1 << 20,
) -> TriageVerdict:
    signatures = signature_set or load_signature_set()
    state, matches = scan_text(log, signatures, block)
    return judge_log(signatures, see(AttemptLog(), matches), state.last_line, exit_code)


def judged_training(log: str) -> TriageVerdict:
    """The same of a job that then made a step: only what shows a success can be benign."""
    return judge_text(f"{log}\nstep 900: loss 2.0")


def scan_text(
    log: str | bytes, signatures: SignatureSet, block: int = 1 << 20
) -> tuple[Scan, list[Match]]:
    data = log.encode() if isinstance(log, str) else log
    state, matches = Scan(), []
    for at in range(0, len(data), block):
        state, some = scan(signatures, state, data[at : at + block])
        matches += some
    state, remaining = finish(signatures, state)
    return state, matches + remaining
