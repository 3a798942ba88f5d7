"""What evidence is called in messages: a person knows "the job's log", not its type."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

ALL = "all"  # what a gap names where nothing at all may be read
# Types whose name does not say what they hold.
NAMES: Mapping[str, str] = {
    "ActionBlock": "reasons against actions",
    "Admitted": "admission",
    "Adoptee": "job to adopt",
    "Approvals": "authors of the waivers",
    "Bundle": "source bundle",
    "BundleContent": "files of the source bundle",
    "ChannelState": "notification channels",
    "CodeChange": "code changes since the last instance",
    "CodeFlags": "variables that the code reads",
    "Container": "container image",
    "DataFound": "pinned data",
    "Disks": "free disk space",
    "History": "run's record",
    "IgnoredDirectives": "directives in the command's scripts",
    "ImportClosure": "files that the command imports",
    "Installed": "installed packages",
    "JobLog": "job's log",
    "JobWarnings": "scheduler's warnings about the job",
    "LateReceipts": "earlier instances' receipts",
    "LaunchProof": "proof of the recorded launches",
    "LaunchedEdits": "edits that instances ran",
    "Launcher": "launching user",
    "LeaseSeen": "lease in the output root",
    "LeftCheckpoints": "earlier checkpoints",
    "LiveJobs": "list of live jobs",
    "NotifiedBy": "way of notifying people",
    "Offered": "hardware that the scheduler offers",
    "OpenLaunch": "job of an interrupted launch",
    "OtherJobs": "other jobs of this name",
    "OtherRoots": "other runs' output roots",
    "OwnSecrets": "secrets of this environment",
    "OwnVersion": "version of herorun",
    "PrintedPatterns": "log patterns of installed packages",
    "Published": "published refs",
    "RecordedEdits": "recorded edits",
    "RequestReview": "scheduler's review of the request",
    "RootAtEnd": "output root when the job ended",
    "RootFacts": "rules of the output roots",
    "SourceLoss": "source run's loss",
    "SourceRun": "source run's record",
    "StartSiblings": "checkpoints next to the start checkpoint",
    "Triage": "search for errors in the job's log",
    "TrackerIdentity": "tracker's run",
    "TrackerMentions": "trackers that the code names",
    "TrackerTraits": "tracker's abilities",
    "Undelivered": "undelivered messages",
    "Unfinished": "unfinished actions",
    "WaiverUse": "use of the waivers",
    "Watch": "babysitter's settings",
}


def evidence_name(kind: str) -> str:
    """The plain name of an evidence type, without an article.

    >>> evidence_name("Metrics"), evidence_name("WorkTree"), evidence_name("JobLog")
    ('metrics', 'work tree', "job's log")
    """
    return NAMES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()


def format_gaps(gaps: Iterable[str]) -> list[str]:
    """`Gaps` for people: a reason once, after all that it kept from being read.

    >>> format_gaps(["Job: no answer", "Metrics: 503", "JobLog: no answer"])
    ["the job and the job's log (no answer)", 'the metrics (503)']
    """
    names_by_reason: dict[str, list[str]] = {}
    for gap in gaps:
        kind, _, why = gap.partition(": ")
        names_by_reason.setdefault(why, []).append(_with_article(kind) if why else gap)
    return [
        f"{_join_with_and(names)} ({why})" if why else ", ".join(names)
        for why, names in names_by_reason.items()
    ]


def _with_article(kind: str) -> str:
    return "any evidence" if kind == ALL else f"the {evidence_name(kind)}"


def _join_with_and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def name_lack(until: datetime | str | None, at: datetime | str | None) -> str:
    """What evidence is that had not arrived at that time: before it is due, it is not missing.

    >>> name_lack("2026-01-01T12:45:00Z", "2026-01-01T12:00:00.5Z")
    'expected'
    >>> name_lack("2026-01-01T12:45:00Z", "2026-01-01T12:50:00Z"), name_lack(None, None)
    ('missing', 'missing')
    """
    due, then = (
        datetime.fromisoformat(each) if isinstance(each, str) else each for each in (until, at)
    )
    return "expected" if due and then and then <= due else "missing"
