"""Which checkpoints may go, by literals: whatever is in doubt stays, and something complete always
does.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON, ROOT, TEMPORARY, a_checkpoint
from herorun.core.canonical_json import plain
from herorun.core.errors import Blocked
from herorun.core.retention import (
    RetentionPolicy,
    RetentionReference,
    SizedCheckpoint,
    must_leave_one,
    plan_from,
    prune_plan,
)
from wording import mentions

OLD = NOON - timedelta(days=3)
POLICY = RetentionPolicy(2, 100, (250,), 1000)


def sized_checkpoint(step, temporary=True, problem="", **changes):
    root = TEMPORARY if temporary else ROOT
    candidate = replace(a_checkpoint(step, root, problem, temporary), modified=OLD)
    return SizedCheckpoint(
        candidate, **{"bytes": 10, "files": 2, "digest": f"sha256:{step}", **changes}
    )


def plan(
    *sized_checkpoints, policy=POLICY, names=None, roots=None, recovery="", trusted_paths=None
):
    trusted_paths = (
        [s.candidate.path for s in sized_checkpoints] if trusted_paths is None else trusted_paths
    )
    return prune_plan(
        slug="tiny",
        checkpoints=sized_checkpoints,
        policy=policy,
        references=RetentionReference(names or {}, roots or {}),
        recovery=recovery,
        trusted_paths=trusted_paths,
        now=NOON,
    )


def steps(values):
    return [victim.step for victim in values.victims]


def why(values, step):
    return next("; ".join(record.why) for record in values.remaining if record.step == step)


def test_numbers_decide_and_not_letters():
    deletion_plan = plan(*(sized_checkpoint(step) for step in (9, 10, 99, 101)))
    assert steps(deletion_plan) == [9, 10]
    assert mentions(why(deletion_plan, 101), "newest", "2")


def test_permanent_ones_milestones_and_the_final_one_stay():
    deletion_plan = plan(
        sized_checkpoint(100, False),
        sized_checkpoint(150, False),
        sized_checkpoint(250),
        sized_checkpoint(1000),
        sized_checkpoint(1001),
        sized_checkpoint(1002),
    )
    assert steps(deletion_plan) == [150]
    assert mentions(why(deletion_plan, 100), "permanent", "100 steps")
    assert mentions(why(deletion_plan, 250), "milestone", "contract")
    assert mentions(why(deletion_plan, 1000), "final", "step")


def test_what_anybody_names_stays_also_by_something_inside_it():
    names = {
        f"{TEMPORARY}/step-1/": "launch checkpoint of other-1",
        f"{TEMPORARY}/step-2/model": "fork starts from it",
    }
    deletion_plan = plan(*(sized_checkpoint(step) for step in (1, 2, 3, 11, 12)), names=names)
    assert steps(deletion_plan) == [3]
    assert mentions(why(deletion_plan, 1), "launch", "other-1")


def test_what_lies_in_another_runs_root_stays():
    deletion_plan = plan(
        *(sized_checkpoint(step) for step in (1, 2, 3)), roots={TEMPORARY: "other"}
    )
    assert steps(deletion_plan) == [] and mentions(why(deletion_plan, 1), "lies", "root")


def test_the_recovery_source_stays_however_old():
    deletion_plan = plan(
        *(sized_checkpoint(step) for step in (1, 2, 3)), recovery=f"{TEMPORARY}/step-1"
    )
    assert steps(deletion_plan) == [] and "recovery source" in why(deletion_plan, 1)


def test_a_rejected_lineage_is_none_of_the_latest():
    deletion_plan = plan(
        *(sized_checkpoint(step) for step in (1, 2, 8, 9)),
        trusted_paths=[f"{TEMPORARY}/step-{n}" for n in (1, 2)],
    )
    assert steps(deletion_plan) == [8, 9]


@pytest.mark.parametrize(
    "doubtful",
    [
        sized_checkpoint(1, doubt="it is a link to elsewhere"),
        sized_checkpoint(1, digest=""),
        replace(
            sized_checkpoint(1), candidate=replace(sized_checkpoint(1).candidate, examined=False)
        ),
        replace(
            sized_checkpoint(1),
            candidate=replace(sized_checkpoint(1).candidate, alike=True, problem="a backup"),
        ),
        replace(
            sized_checkpoint(1, problem="no metadata.json"),
            candidate=replace(a_checkpoint(1, problem="x"), modified=None),
        ),
        replace(
            sized_checkpoint(1),
            candidate=replace(a_checkpoint(1, problem="x"), modified=NOON - timedelta(hours=1)),
        ),
        sized_checkpoint(99, problem="no metadata.json"),
    ],
)
def test_whatever_is_in_doubt_stays(doubtful):
    assert steps(plan(doubtful, *(sized_checkpoint(step) for step in (10, 11)))) == []


def test_an_old_incomplete_one_below_a_complete_one_may_go():
    deletion_plan = plan(sized_checkpoint(1, problem="no metadata.json"), sized_checkpoint(10))
    assert mentions(deletion_plan.victims[0].why, "no metadata.json")


def test_without_a_complete_one_that_stays_there_is_no_plan():
    with pytest.raises(Blocked, match=r"tiny.*stay"):
        plan(sized_checkpoint(1), sized_checkpoint(2), trusted_paths=[])
    deletion_plan = plan(*(sized_checkpoint(step) for step in (1, 2, 3)))
    with pytest.raises(Blocked):
        must_leave_one(deletion_plan, set())


def test_the_digest_is_of_what_is_deleted_and_comes_back_from_the_file():
    deletion_plan = plan(*(sized_checkpoint(step) for step in (1, 2, 3)))
    assert (
        plan_from(plain(deletion_plan)) == deletion_plan
        and plan_from(plain(deletion_plan)).digest == deletion_plan.digest
    )
    earlier = {**plain(deletion_plan), "kept": plain(deletion_plan)["remaining"]}  # as once written
    del earlier["remaining"]
    assert plan_from(earlier) == deletion_plan
    assert replace(deletion_plan, victims=()).digest != deletion_plan.digest
    assert replace(deletion_plan, remaining=()).digest == deletion_plan.digest
    digits = deletion_plan.digest.removeprefix("sha256:")
    assert deletion_plan.is_named(deletion_plan.digest) and deletion_plan.is_named(
        f" {digits[:12]}\n"
    )
    assert (
        not deletion_plan.is_named(digits[:11])
        and not deletion_plan.is_named("")
        and not deletion_plan.is_named(digits[1:20])
    )
