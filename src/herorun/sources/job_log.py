"""The current instance's own log: when it last changed, what it complains of, which tracker runs it
names, where it saves, signs of a wedge.
"""

from herorun.core.contract import Contract
from herorun.core.evidence import Complaint, JobLog, Loading, Nothing
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.classes import Loads
from herorun.core.triage.incremental import OwnLog
from herorun.core.triage.match import Match
from herorun.core.triage.signatures import Catalogue
from herorun.sources._signatures import catalogue_of

PATHS = ("path", "file", "latest")


def read_job_log(log: OwnLog, contract: Contract, place: Place) -> JobLog | Nothing:
    """What the one reading of the log has told of a job that may still live. An empty log tells of
    no job that runs.
    """
    if log.offset == 0:
        return Nothing(f"the log of {log.instance} is empty")
    return job_log_of(catalogue_of(contract, place), log)


def job_log_of(catalogue: Catalogue, log: OwnLog) -> JobLog:
    crowded = log.crowded
    return JobLog(
        changed_at=log.changed_at,
        runs=log.signs.runs,
        saves=log.saves,
        wedges=log.wedges,
        skipped=log.skipped,
        complaints=tuple(_complaint(catalogue, log, match) for match in log.seen.lately),
        crowded=_complaint(catalogue, log, crowded) if crowded else None,
        server=log.signs.server,
        size=log.offset,
        overdue=_overdue(catalogue, log),
        step=log.step,
        stepped_at=log.stepped_at,
        loading=tuple(_loading(catalogue, match) for match in log.loading),
        dropped=log.signs.dropped,
    )


def _loading(catalogue: Catalogue, match: Match) -> Loading:
    """What the row's own groups name: a path by the group `path`, `file` or `latest`, a number by
    any other.
    """
    known = {signature.id: signature for signature in catalogue.signatures}.get(match.signature)
    found = known.pattern.search(match.excerpt) if known else None
    groups = {name: text for name, text in (found.groupdict() if found else {}).items() if text}
    paths = [text for name, text in groups.items() if name in PATHS]
    steps = [int(text) - (name == "next") for name, text in groups.items() if name not in PATHS]
    loads = known.loads if known and known.loads else Loads.NONE
    excerpt = scrub(match.excerpt.strip())[:300]
    return Loading(loads.value, match.line, excerpt, next(iter(steps), None), next(iter(paths), ""))


def _overdue(catalogue: Catalogue, log: OwnLog) -> tuple[tuple[str, int, int], ...]:
    matched = dict(log.matched)
    silent = (
        (name, due, log.judged_bytes - matched.get(name, 0)) for name, due in catalogue.due.items()
    )
    return tuple((name, due, told) for name, due, told in silent if told > due)


def _complaint(catalogue: Catalogue, log: OwnLog, match: Match) -> Complaint:
    known = {signature.id: signature for signature in catalogue.signatures}.get(match.signature)
    return Complaint(
        failure_class=match.failure.value,
        weight=match.strength.name.lower(),
        line=match.line,
        excerpt=scrub(match.excerpt.strip())[:300],
        where=f"{match.where.file}:{match.where.line}" if match.where else "",
        advice=known.advice if known else "",
        since=dict(log.known).get(match.fingerprint),
    )
