"""What evidence is called in messages: a person knows "the job's log", not its type."""

import re
from collections.abc import Mapping

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
    "NotifiedBy": "way of notifying people",
    "Offered": "hardware that the scheduler offers",
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


def format_gap(gap: str) -> str:
    """One of `Gaps`, for people.

    >>> format_gap("Job: squeue: time-out")
    'the job (squeue: time-out)'
    """
    kind, _, why = gap.partition(": ")
    return f"the {evidence_name(kind)} ({why})" if why else gap
