import pytest

from builders import a_contract, a_plan, answer, answers, traits_of
from herorun.checks.launch.invalid_tracker_id import invalid_tracker_id
from herorun.core.finding import Outcome

TRACKER = {"kind": "wandb", "path": None, "entity": "ent", "project": "proj"}


def failures(**changes):
    plan = a_plan(a_contract(tracker={**TRACKER, **changes}))
    verdicts = answers(invalid_tracker_id, plan, traits_of(plan.tracker.value.kind))
    return [v.subject for v in verdicts if v.outcome is not Outcome.PASS]


def test_another_tracker_has_no_such_rules():
    assert answer(invalid_tracker_id).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("name", ["a", "A-1_b.c", "x" * 64])
def test_a_plain_id_passes(name):
    assert failures(id=name) == []


@pytest.mark.parametrize("name", ["x" * 65, "a b", "a/b", "a:b", "a?b", "ü", "a\n", "a#1"])
def test_an_id_that_w_and_b_refuses_fails(name):
    assert failures(id=name) == [name]


def test_the_slug_stands_for_an_id_that_is_not_given():
    assert failures(id=None) == []


@pytest.mark.parametrize("name", ["x" * 129, *(f"a{letter}b" for letter in "/\\#?%:"), " a"])
def test_a_project_that_w_and_b_refuses_fails(name):
    assert failures(project=name) == [name]


@pytest.mark.parametrize("name", ["x" * 128, "my project (2)"])
def test_a_project_may_be_long_and_hold_spaces(name):
    assert failures(project=name) == []


def test_an_entity_holds_no_slash():
    assert failures(entity="a/b") == ["a/b"]


def test_the_offline_kind_keeps_the_same_rules_and_may_leave_the_project_open():
    assert failures(kind="wandb_offline", id="a/b", project=None, entity=None) == ["a/b"]
