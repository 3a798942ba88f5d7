"""The part of a seal's statement that comes from evidence."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from builders import (
    FINAL,
    NOON,
    ROOT,
    a_checkpoint,
    a_contract,
    a_history,
    an_instance,
    some_metrics,
)
from core.story import launch_events
from herorun.core.errors import CouldNotLook
from herorun.core.event import Initialised, Noted
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    GivenUp,
    HealthAssessment,
    History,
    Metrics,
    MilestoneCheckpoint,
    Nothing,
    Sealing,
    Unavailable,
)
from herorun.core.journal import fold
from herorun.core.seal.kinds import SealKind
from herorun.operations.seal import statement
from herorun.operations.seal.seal import _must_push
from herorun.record import Pushed
from operations.in_memory import Journal

NONE = Nothing("there is none")
MILESTONE = Sealing(SealKind.MILESTONE, "half")


@pytest.mark.parametrize("missing", [NONE, Unavailable("late")])
def test_what_could_not_be_read_is_stated_as_null(missing: Any) -> None:
    facts = statement.final_state_facts({FinalStep: missing, Metrics: missing}, None)
    assert facts == {
        "final_checkpoint": None,
        "final_checkpoint_temporary": None,
        "reached_step": None,
        "final_step": None,
        "final_metrics": {},
    }


@pytest.mark.parametrize(
    ("of_rows", "saved_step", "reached_step"), [(90, 100, 100), (110, 100, 110)]
)
def test_the_reached_step_is_the_highest_of_rows_and_checkpoint(
    of_rows: int, saved_step: int, reached_step: int
) -> None:
    evidence = {
        FinalStep: FinalStep(200, "runs/tiny.toml"),
        Metrics: some_metrics(of_rows, last={"train/loss": 2.5}),
    }
    assert statement.final_state_facts(evidence, a_checkpoint(saved_step)) == {
        "final_checkpoint": f"{ROOT}/step-{saved_step}",
        "final_checkpoint_temporary": False,
        "reached_step": reached_step,
        "final_step": 200,
        "final_metrics": {"train/loss": 2.5},
    }


def test_the_final_permanent_checkpoint_is_preferred_to_a_newer_one() -> None:
    final, newer = a_checkpoint(100), a_checkpoint(120)
    evidence: dict[Any, Any] = {
        Checkpoints: Checkpoints((newer, final)),
        FinalStep: FinalStep(100, "runs/tiny.toml"),
    }
    assert statement._checkpoint(evidence, Sealing()) == final
    evidence[FinalStep] = NONE
    assert statement._checkpoint(evidence, Sealing()) == newer
    evidence[Checkpoints] = NONE
    assert statement._checkpoint(evidence, Sealing()) is None


@pytest.mark.parametrize("changes", [{"problem": "no metadata"}, {"temporary": True}])
def test_a_final_checkpoint_that_is_incomplete_or_temporary_is_not_preferred(
    changes: dict[str, Any],
) -> None:
    newest = a_checkpoint(120)
    evidence: dict[Any, Any] = {
        Checkpoints: Checkpoints((a_checkpoint(100, **changes), newest)),
        FinalStep: FinalStep(100, "runs/tiny.toml"),
    }
    assert statement._checkpoint(evidence, Sealing()) == newest


def test_a_milestone_states_its_own_checkpoint() -> None:
    evidence: dict[Any, Any] = {
        Checkpoints: Checkpoints((a_checkpoint(200),)),
        MilestoneCheckpoint: MilestoneCheckpoint(a_checkpoint(100)),
    }
    assert statement._checkpoint(evidence, MILESTONE) == a_checkpoint(100)
    evidence[MilestoneCheckpoint] = NONE
    assert statement._checkpoint(evidence, MILESTONE) is None


@pytest.mark.parametrize(
    ("sealing", "stated_alerts"),
    [
        (Sealing(), []),
        (MILESTONE, ["a: one", "b: two"]),
        (Sealing(SealKind.ABORTED), ["a: one", "b: two"]),
    ],
)
def test_open_alerts_are_stated_of_a_run_that_is_not_done(
    sealing: Sealing, stated_alerts: list[str]
) -> None:
    assessment = HealthAssessment((("a", "one"),), (("b", "two"),))
    assert statement._open_alerts({HealthAssessment: assessment}, sealing) == stated_alerts
    assert statement._open_alerts({HealthAssessment: NONE}, sealing) == []


def test_the_record_states_each_instance_and_every_caveat() -> None:
    lines = {"Status": "s", "Caveat": "mixed"}
    memory = fold(
        [
            Initialised(NOON, "tiny", {}),
            *launch_events(1, NOON),
            Noted(at=NOON, by="@dri", title="A note", lines=lines, caveat="mixed"),
        ]
    )
    statement_facts = statement.build_record_part(memory)
    assert [(each["name"], each["checked_in"]) for each in statement_facts["instances"]] == [
        ("tiny-1", False)
    ]
    assert set(statement_facts["instances"][0]) == {
        "name",
        "job",
        "started",
        "plan_digest",
        "checked_in",
    }
    assert statement_facts["caveats"] == ["mixed"]


def test_of_the_launch_the_dirty_files_are_stated_too() -> None:
    memory = fold([Initialised(NOON, "tiny", {}), *launch_events(1, NOON)])
    assert memory.current is not None
    launching: Any = memory.launchings["tiny-1"]
    memory = replace(memory, launchings={"tiny-1": replace(launching, dirty="train.py")})
    run: Any = SimpleNamespace(
        slug="tiny", dri="@dri", contract=a_contract(), tracker=SimpleNamespace(label="Theirs")
    )
    plan = {"patch": None, "argv": ["python", "train.py"], "tracker": {"kind": "jsonl"}}
    facts = statement._of_launch(run, memory, memory.current, plan)
    assert (facts["run"], facts["dirty_tree"]) == ("tiny", "train.py")
    assert facts["tracker_label"] == "Theirs"
    assert facts["launch_command"] == plan["argv"] and facts["tracker"] == plan["tracker"]


def test_the_seal_stops_where_the_record_is_not_pushed_and_the_record_keeps_why() -> None:
    record: Any = Journal()
    record.push = lambda: Pushed("no route")
    record.remote = "origin"
    run: Any = SimpleNamespace(record=record)
    with pytest.raises(CouldNotLook):
        _must_push(run, "seal/tiny")
    (failed_event,) = record.new
    assert (failed_event.key, failed_event.why) == (
        "seal/tiny",
        "no route",
    ) and failed_event.at is not None


@pytest.mark.parametrize(
    ("writer", "given_up", "saved_step", "steps", "has_metrics"),
    [
        ("tiny-2", (), 20, FINAL, True),
        ("tiny-1", (), 20, 20, False),  # not trained again yet
        ("tiny-1", (), FINAL, FINAL, True),  # trained again; the tracker dropped those rows
        ("tiny-1", (GivenUp(20, NOON),), FINAL, FINAL, False),
    ],
)
def test_only_metrics_that_the_newest_instance_keeps_are_final(
    writer: str, given_up: tuple[GivenUp, ...], saved_step: int, steps: int, has_metrics: bool
) -> None:
    instances = (an_instance(1), an_instance(2, start=20))
    own = replace(a_checkpoint(saved_step), modified=NOON)
    evidence = {
        FinalStep: FinalStep(FINAL, "the contract"),
        Metrics: some_metrics(FINAL, instance=writer, last={"train/loss": 2.5}),
        History: a_history(instances=instances, given_up=given_up),
        Checkpoints: Checkpoints((own,)),
    }
    facts = statement.final_state_facts(evidence, None)
    assert (facts["reached_step"], bool(facts["final_metrics"])) == (steps, has_metrics)
