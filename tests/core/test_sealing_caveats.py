"""A seal repeats every doubt: each kind alone, and none of a run of which all is known."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, an_instance
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Ordered, Word
from herorun.core.evidence import End, HealthAssessment, JobState
from herorun.core.finding import Waiver
from herorun.core.journal import Memory
from herorun.core.seal.caveats import caveats
from herorun.core.seal.manifest import FileRecord, Manifest

START = NOON - 60 * MINUTE
LOOKS = tuple(
    Decided(at=START + n * EVERY, run="healthy", monitor="fresh", progress="~1/2")
    for n in range(1, 5)
)
FULL_MEMORY = Memory(
    instances=(an_instance(),),
    ends={"tiny-1": End(instance="tiny-1", state=JobState.SUCCEEDED, at=NOON)},
)
WHOLE = Manifest("/data/tiny/step-200", (FileRecord("weights", 9, "sha256:aa"),))
STALL = Alert(
    check="stalled-steps",
    subject="tiny-1",
    since=START,
    seen=START,
    state=AlertState.ENDED,
    message="no step",
    instance="tiny-1",
)
ACK = Ordered(NOON, "ada", Word.ACK, (STALL.key,), "an evaluation")
NOTHING_JUDGED = HealthAssessment()


def caveats_of(
    memory=FULL_MEMORY,
    looks=LOOKS,
    assessment=NOTHING_JUDGED,
    waivers=(),
    manifest=WHOLE,
    verified_names=("tiny-1",),
):
    return caveats(
        memory=memory,
        events=looks,
        assessment=assessment,
        waivers=waivers,
        manifest=manifest,
        verified_names=frozenset(verified_names),
        cadence=EVERY,
        at=NOON,
    )


def test_of_a_run_of_which_all_is_known_there_is_none():
    assert caveats_of() == []


@pytest.mark.parametrize(
    "change",
    [
        {"memory": replace(FULL_MEMORY, caveats=("a data fix",))},
        {"memory": replace(FULL_MEMORY, ended={STALL.key: STALL})},
        {"memory": replace(FULL_MEMORY, ended={STALL.key: STALL}, acked={STALL.key: ACK})},
        {"assessment": HealthAssessment((("loss-spike", "high"),))},
        {"assessment": HealthAssessment((), (("monitor-blind", "403"),))},
        {"verified_names": ()},
        {"waivers": [Waiver("no-remote", "a laptop", "@dri", NOON + EVERY)]},
        {
            "manifest": Manifest(
                "/data/tiny/step-200", (*WHOLE.files, FileRecord("metadata.json", 2))
            )
        },
        {"looks": ()},
    ],
)
def test_each_doubt_is_one_caveat(change, notice):
    (caveat,) = caveats_of(**change)
    assert caveat == notice


def test_a_blind_look_closes_no_gap_and_nobody_need_look_after_the_end():
    blind = tuple(replace(look, monitor="stale") for look in LOOKS)
    ended_memory = replace(
        FULL_MEMORY,
        ends={
            "tiny-1": End(instance="tiny-1", state=JobState.SUCCEEDED, at=NOON, ended=START + EVERY)
        },
    )

    assert len(caveats_of(looks=blind)) == 1
    assert caveats_of(ended_memory, looks=()) == []
    assert caveats_of(ended_memory, looks=LOOKS[:1]) == []


def test_a_gap_between_two_looks_is_named():
    second = replace(an_instance(2), started=NOON - timedelta(minutes=5))
    memory = replace(FULL_MEMORY, instances=(an_instance(), second))
    (gap,) = caveats_of(memory, looks=LOOKS[-1:], verified_names=("tiny-1", "tiny-2"))

    assert gap.endswith("(55m)") and "tiny-1" in gap
