"""The current instance's own log: when it last changed, its errors, the tracker runs that it names,
where it saves, and signs of a stall.
"""

from herorun.core.contract import Contract
from herorun.core.evidence import Complaint, JobLog, Loading, Nothing
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import LoadedState
from herorun.core.triage.incremental import OwnLog
from herorun.core.triage.match import Match
from herorun.core.triage.signatures import MIN_DUE, SignatureSet
from herorun.sources._signatures import signature_set_of

PATHS = ("path", "file", "latest")


def read_job_log(log: OwnLog, contract: Contract, place: Place) -> JobLog | Nothing:
    """The log's facts, for a job that may still be live. An empty log shows nothing about a running
    job.
    """
    if log.offset == 0:
        return Nothing(f"the log of {log.instance} is empty")
    return job_log_of(signature_set_of(contract, place), log)


def job_log_of(signature_set: SignatureSet, log: OwnLog) -> JobLog:
    crowded_match = log.host_contention
    return JobLog(
        changed_at=log.changed_at,
        runs=log.signs.runs,
        saves=log.saves,
        wedges=log.wedges,
        skipped=log.skipped,
        complaints=tuple(_complaint(signature_set, log, match) for match in log.attempt_log.lately),
        crowded=_complaint(signature_set, log, crowded_match) if crowded_match else None,
        server=log.signs.server,
        size=log.offset,
        overdue=_overdue(signature_set, log),
        matching=_matching(signature_set, log),
        step=log.step,
        stepped_at=log.stepped_at,
        loading=tuple(_loading(signature_set, match) for match in log.loading),
        dropped=log.signs.dropped,
    )


def _loading(signature_set: SignatureSet, match: Match) -> Loading:
    """The loading that a match shows, by the row's groups: a path in `path`, `file` or `latest`, a
    step in any other group.
    """
    row = {signature.id: signature for signature in signature_set.signatures}.get(match.signature)
    row_match = row.pattern.search(match.excerpt) if row else None
    groups = {
        name: text for name, text in (row_match.groupdict() if row_match else {}).items() if text
    }
    paths = [text for name, text in groups.items() if name in PATHS]
    steps = [int(text) - (name == "next") for name, text in groups.items() if name not in PATHS]
    loads = row.loads if row and row.loads else LoadedState.NONE
    excerpt = scrub(match.excerpt.strip())[:300]
    return Loading(loads.value, match.line, excerpt, next(iter(steps), None), next(iter(paths), ""))


def _overdue(signature_set: SignatureSet, log: OwnLog) -> tuple[tuple[str, int, int], ...]:
    if log.judged_bytes <= MIN_DUE:
        return ()  # the signatures need not be read
    positions = dict(log.matched)
    silent = (
        (name, due, log.judged_bytes - positions.get(name, 0))
        for name, due in signature_set.due.items()
    )
    return tuple((name, due, quiet_bytes) for name, due, quiet_bytes in silent if quiet_bytes > due)


def _matching(signature_set: SignatureSet, log: OwnLog) -> tuple[str, ...]:
    if not log.matched:
        return ()
    overdue = {name for name, _, _ in _overdue(signature_set, log)}
    positions = dict(log.matched)
    return tuple(name for name in signature_set.due if name in positions and name not in overdue)


def _complaint(signature_set: SignatureSet, log: OwnLog, match: Match) -> Complaint:
    row = {signature.id: signature for signature in signature_set.signatures}.get(match.signature)
    return Complaint(
        failure_class=match.failure.value,
        weight=match.strength.name.lower(),
        line=match.line,
        excerpt=scrub(match.excerpt.strip())[:300],
        where=f"{match.where.file}:{match.where.line}" if match.where else "",
        advice=row.advice if row else "",
        since=dict(log.complaint_times).get(match.fingerprint),
    )
