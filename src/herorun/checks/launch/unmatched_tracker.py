"""The job names another metrics file, tracker id or log line than the contract.

Why: the run would train and herorun would see no rows: no loss, no spike, no NaN.
Fix: correct `[tracker] path`, `id`, `project` or `entity`, or the pattern in `[patrol]`, to what
the script writes; or let the script write there, as `herorun.log` does.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import TrackerMentions
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.WARN)
def unmatched_tracker(mentions: TrackerMentions) -> list[Verdict]:
    """One verdict for each key of the contract for which the job names another value."""
    wrong = [failed(f"{key}: {why}", subject=key) for key, why in sorted(mentions.others.items())]
    right = [
        passed(why, subject=key)
        for key, why in sorted(mentions.places.items())
        if key not in mentions.others
    ]
    verdicts = [*wrong, *right]
    return verdicts or [not_applicable("the job names no tracker's project, run or folder")]
