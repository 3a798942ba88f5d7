"""Why the current instance ended, by its own log. A running job is not read."""

import signal

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, Nothing, Triage, Unavailable
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import QUIET
from herorun.core.triage.incremental import OwnLog, verdict_of_log
from herorun.core.triage.verdict import TriageVerdict
from herorun.sources._signatures import signature_set_of


def read_triage(
    log: OwnLog | Nothing | Unavailable, job: Job, contract: Contract, place: Place
) -> Triage | Nothing:
    """The root of the failure in the newest attempt; Nothing while the job is live, or without a
    log.
    """
    if not job.state.is_final:
        return Nothing(f"{job.instance} has not ended")
    if isinstance(log, Unavailable):
        raise CouldNotLook(log.why)
    if isinstance(log, Nothing) or log.instance != job.instance:
        return Nothing(f"{job.instance} left no log")
    return _triage_evidence(
        verdict_of_log(signature_set_of(contract, place), log, _shell_exit_code(job))
    )


def _shell_exit_code(job: Job) -> int | None:
    """As a shell reports it: 128 and the signal's number."""
    if job.exit_code is not None or job.signal is None:
        return job.exit_code
    number = signal.Signals.__members__.get(job.signal)
    return 128 + number if number else None


def _triage_evidence(verdict: TriageVerdict) -> Triage:
    where = verdict.where
    return Triage(
        failure_class=verdict.failure.value,
        role=verdict.role.value,
        fingerprint=verdict.fingerprint,
        file=where.file if where else "",
        line=where.line if where else None,
        excerpt=scrub(verdict.excerpt)[:300],
        needs_person=verdict.person
        and verdict.failure not in QUIET,  # a log without a cause cannot become clearer
        advice=verdict.advice,
    )
