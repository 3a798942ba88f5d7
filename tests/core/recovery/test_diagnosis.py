"""Which cause is named where the scheduler, the log, the store and the disks tell different
stories.
"""

import pytest

from builders import NOON, a_checkpoint, a_job
from herorun.core.evidence import (
    Checkpoints,
    Disk,
    Disks,
    History,
    Instance,
    JobState,
    Nothing,
    Receipt,
    RootAtEnd,
    Triage,
    Unavailable,
)
from herorun.core.recovery.diagnosis import Cause, EndContext, diagnose, end_context_of

ROOT = "/data/tiny"
FIRST = Instance(
    name="tiny-1",
    number=1,
    job="job",
    plan_digest="sha256:0",
    output_root=ROOT,
    started=NOON,
    commit="c0ffee",
)
HERE, MISSING_ROOT = RootAtEnd(ROOT), RootAtEnd(ROOT, False)
TEMPORARY = "/data/tiny-temporary"
TEMPORARY_GONE = RootAtEnd(ROOT, True, TEMPORARY, False)
TEMPORARY_SAVED = History(instances=(FIRST,), most_saved=2, temporary_saved=150)
TEMPORARY_LOST = History(
    instances=(FIRST,), lost_output=frozenset({"tiny-1"}), lost_temporary=frozenset({"tiny-1"})
)
OLDER = Checkpoints((a_checkpoint(100),))
NEWER = Checkpoints((a_checkpoint(200),))
NEW = History(instances=(FIRST,))
CHECKED_IN = History(instances=(FIRST,), checked_in=frozenset({"tiny-1"}))
SAVE_HISTORY = History(instances=(FIRST,), most_saved=2)
LOST_OUTPUT_HISTORY = History(instances=(FIRST,), lost_output=frozenset({"tiny-1"}))
STOPPED_HISTORY = History(
    instances=(FIRST,), checked_in=frozenset({"tiny-1"}), stopped=(("tiny-1", "dri"),)
)
FULL = Disks({ROOT: Disk(0, 1 << 40, 7)})
SMALL = Disks({ROOT: Disk((8 << 20) - 4096, 8 << 20, 1 << 10)})
SMALL_FULL = Disks({ROOT: Disk(1 << 20, 8 << 20, 1 << 10)})
NO_INODES = Disks({ROOT: Disk(1 << 35, 1 << 40, 0)})
ROOMY = Disks({ROOT: Disk(1 << 39, 1 << 40, 1 << 20)})
MISSING = Triage(
    failure_class="data",
    file="train.py",
    line=72,
    excerpt=f"FileNotFoundError: '{ROOT}/metrics.jsonl'",
    advice="Compare.",
)
MISSING_TEMPORARY = Triage(
    failure_class="data",
    file="train.py",
    line=9,
    excerpt=f"FileNotFoundError: '{TEMPORARY}/step-3'",
    advice="Compare.",
)
OTHER_FILE = Triage(
    failure_class="data",
    file="train.py",
    line=72,
    excerpt="FileNotFoundError: '/corpus/a'",
    advice="Compare.",
)
BUG = Triage(failure_class="code-bug-small", file="train.py", line=72, excerpt="NameError: x")
VAGUE = Triage(failure_class="code-bug-complex", excerpt="RuntimeError: write failed")
NO_SPACE = Triage(
    failure_class="disk-full", excerpt="[Errno 28]", needs_person=True, advice="Make room."
)
NCCL = Triage(failure_class="network-collective", excerpt="collective timed out")
DENIED_TRIAGE = Triage(failure_class="storage-auth", excerpt="403", advice="Ask for access.")
SILENT = Triage(failure_class="unknown")
NONE = Checkpoints()
HALF = Checkpoints((a_checkpoint(100), a_checkpoint(200, problem="no metadata.json")))
FAILED_STATE = JobState.FAILED


@pytest.mark.parametrize(
    ("state", "scene", "cause", "observations", "asks"),
    [
        # an output root that is gone
        (
            FAILED_STATE,
            EndContext(triage=MISSING, root=MISSING_ROOT, receipt_gone=True, history=CHECKED_IN),
            "lost-output",
            "output-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=MISSING_ROOT, checkpoints=NONE, history=SAVE_HISTORY),
            "lost-output",
            "output-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=None, root=MISSING_ROOT, checkpoints=NONE, history=SAVE_HISTORY),
            "lost-output",
            "output-root-gone",
            True,
        ),
        (
            JobState.PREEMPTED,
            EndContext(triage=None, root=MISSING_ROOT, checkpoints=NONE, history=SAVE_HISTORY),
            "lost-output",
            "output-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=MISSING, root=HERE, history=LOST_OUTPUT_HISTORY),
            "lost-output",
            "output-root-back",
            True,
        ),
        # a temporary root that is gone, with what nothing else holds
        (
            FAILED_STATE,
            EndContext(
                triage=MISSING_TEMPORARY,
                root=TEMPORARY_GONE,
                checkpoints=OLDER,
                history=TEMPORARY_SAVED,
            ),
            "lost-output",
            "temporary-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=TEMPORARY_GONE, checkpoints=OLDER, history=TEMPORARY_SAVED),
            "lost-output",
            "temporary-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(
                triage=MISSING_TEMPORARY,
                root=TEMPORARY_GONE,
                checkpoints=NEWER,
                history=TEMPORARY_SAVED,
            ),
            "lost-output",
            "temporary-root-gone",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=RootAtEnd(ROOT, True, TEMPORARY), history=TEMPORARY_LOST),
            "lost-output",
            "temporary-root-back",
            True,
        ),
        # one whose last checkpoint its trainer deleted itself, that nothing was seen in, or that
        # was not read
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=TEMPORARY_GONE, checkpoints=NEWER, history=TEMPORARY_SAVED),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=TEMPORARY_GONE, checkpoints=OLDER, history=SAVE_HISTORY),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=TEMPORARY_GONE, history=TEMPORARY_SAVED),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=TEMPORARY_GONE, history=TEMPORARY_LOST),
            "code-bug",
            "code-bug-small",
            False,
        ),
        # one that was never made, or that nobody misses
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=MISSING_ROOT, history=NEW),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=OTHER_FILE, root=HERE, history=SAVE_HISTORY),
            "code-bug",
            "data",
            True,
        ),
        (
            JobState.CANCELLED,
            EndContext(
                triage=MISSING, root=MISSING_ROOT, receipt_gone=True, history=STOPPED_HISTORY
            ),
            "by-us",
            "data",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=MISSING, root=MISSING_ROOT, receipt_gone=True, history=NEW),
            "code-bug",
            "data",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=MISSING_ROOT, checkpoints=HALF, history=SAVE_HISTORY),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=MISSING_ROOT, root_unread=None, history=SAVE_HISTORY),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=MISSING_ROOT, checkpoints=NONE, history=CHECKED_IN),
            "code-bug",
            "code-bug-small",
            False,
        ),
        # full disks
        (
            FAILED_STATE,
            EndContext(triage=VAGUE, root=HERE, disks=FULL, history=SAVE_HISTORY),
            "infra",
            "disk-full",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=None, root=HERE, disks=NO_INODES, history=SAVE_HISTORY),
            "infra",
            "disk-full",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=NO_SPACE, root=HERE, disks=FULL, history=SAVE_HISTORY),
            "infra",
            "disk-full",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=NO_SPACE, root=HERE, disks=ROOMY, history=SAVE_HISTORY),
            "infra",
            "disk-full",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=VAGUE, root=HERE, disks=SMALL_FULL, history=SAVE_HISTORY),
            "infra",
            "disk-full",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=SILENT, root=HERE, disks=SMALL, history=SAVE_HISTORY),
            "unknown",
            "unknown",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=BUG, root=HERE, disks=FULL, history=SAVE_HISTORY),
            "code-bug",
            "code-bug-small",
            False,
        ),
        (
            JobState.OUT_OF_MEMORY,
            EndContext(triage=VAGUE, root=HERE, disks=FULL, history=SAVE_HISTORY),
            "oom",
            "code-bug-complex",
            True,
        ),
        # the scheduler against the log
        (
            JobState.OUT_OF_MEMORY,
            EndContext(triage=BUG, root=HERE, history=SAVE_HISTORY),
            "oom",
            "code-bug-small",
            False,
        ),
        (
            JobState.NODE_FAILED,
            EndContext(triage=NCCL, root=HERE, history=SAVE_HISTORY),
            "infra",
            "network-collective",
            False,
        ),
        (
            FAILED_STATE,
            EndContext(triage=NCCL, root=HERE, history=SAVE_HISTORY),
            "infra",
            "network-collective",
            False,
        ),
        # the store
        (
            FAILED_STATE,
            EndContext(
                triage=DENIED_TRIAGE, root=None, root_unread="403 Forbidden", history=SAVE_HISTORY
            ),
            "infra",
            "storage-auth",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=MISSING, root=None, root_unread="time-out", history=SAVE_HISTORY),
            "code-bug",
            "data",
            True,
        ),
        (
            FAILED_STATE,
            EndContext(triage=SILENT, root=HERE, checkpoints=HALF, history=SAVE_HISTORY),
            "unknown",
            "unknown",
            False,
        ),
    ],
)
def test_what_is_named(state, scene, cause, observations, asks, notice):
    diagnosis = diagnose(a_job(state), scene)

    assert (diagnosis.cause, diagnosis.basis, diagnosis.needs_person) == (
        Cause(cause),
        observations,
        asks,
    )
    assert diagnosis.why == notice and diagnosis.why.startswith("tiny-1 ended as ")


@pytest.mark.parametrize("failure_class", ["benign", "not-a-failure"])
@pytest.mark.parametrize("root", [HERE, MISSING_ROOT])
def test_a_log_without_an_error_has_no_class_of_error(failure_class, root):
    triage = Triage(failure_class=failure_class)
    scene = EndContext(triage=triage, root=root, receipt_gone=True, history=CHECKED_IN)
    why = diagnose(a_job(JobState.NODE_FAILED), scene).why
    assert "class" not in why and failure_class not in why
    assert ("no error" in why) is (root is HERE)


def test_a_tick_s_evidence_becomes_the_scene():
    end_context = end_context_of(
        {RootAtEnd: Unavailable("time-out"), Triage: BUG, History: SAVE_HISTORY}
    )

    assert end_context == EndContext(
        triage=BUG, root=None, root_unread="time-out", history=SAVE_HISTORY
    )
    assert end_context_of(
        {RootAtEnd: MISSING_ROOT, Disks: FULL, Checkpoints: HALF, Receipt: Nothing()}
    ) == EndContext(
        triage=None,
        root=MISSING_ROOT,
        root_unread="",
        checkpoints=HALF,
        disks=FULL,
        receipt_gone=True,
        history=History(),
    )
