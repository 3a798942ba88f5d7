"""The current instance's own log: when it last changed, which tracker runs it names, where it saves, signs of a wedge."""

from herorun.core.evidence import JobLog
from herorun.core.triage.follow import OwnLog


def read_job_log(log: OwnLog) -> JobLog:
    """What the one reading of the log has told of a job that may still live."""
    return JobLog(log.changed_at, log.signs.runs, log.saves, log.wedges, log.skipped)
