import pytest

from builders import a_contract, a_plan
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.finding import Outcome
from herorun.core.identity.fork import ForkPoint, fork_point, judge_fork
from herorun.core.plan import StartPoint
from wording import mentions

START = StartPoint("/data/parent/step-100", 100)
PARENT = TrackerIdentity(
    state=TrackerState.ABSENT, parent=TrackerState.FINISHED, parent_last_step=500
)


def ask(point="parent?_step=99", start=START, identity=PARENT, first_step=0):
    run = a_plan(a_contract(tracker={"first_step": first_step})).tracker.value
    return judge_fork(point, run, start, identity)


def outcomes(**changes):
    return [verdict.outcome for verdict in ask(**changes)]


def test_a_fork_just_below_the_checkpoint_is_right():
    assert outcomes() == [Outcome.PASS, Outcome.PASS]


@pytest.mark.parametrize(
    "point",
    ["parent", "parent?step=9", "parent?_step=", "parent?_step=-1", "parent?_step=9.5", "?_step=9"],
)
def test_any_other_form_is_refused(point):
    assert fork_point(point) is None
    assert outcomes(point=point) == [Outcome.FAIL]


def test_the_form_of_w_and_b():
    assert fork_point("a-b.c?_step=0") == ForkPoint("a-b.c", 0)


@pytest.mark.parametrize("first", [50, 0])
def test_a_fork_above_the_first_row_names_where_to_fork(first, notice):
    start = StartPoint("/data/parent/step-50", first)
    verdict = ask(start=start)[-1]

    assert verdict.outcome is Outcome.FAIL
    assert verdict.message == notice
    assert verdict.subject == "parent?_step=99"


def test_a_run_is_no_fork_of_itself():
    (verdict,) = ask(point="tiny?_step=9")

    assert verdict.outcome is Outcome.FAIL
    assert "own id" in verdict.message


@pytest.mark.parametrize(
    ("state", "last", "outcome"),
    [
        (TrackerState.RUNNING, 99, Outcome.PASS),
        (TrackerState.CRASHED, 98, Outcome.FAIL),
        (TrackerState.FINISHED, None, Outcome.FAIL),
        (TrackerState.ABSENT, None, Outcome.FAIL),
        (TrackerState.DELETED, None, Outcome.FAIL),
        (TrackerState.UNREACHABLE, None, Outcome.UNKNOWN),
        (None, None, Outcome.UNKNOWN),
    ],
)
def test_the_parent_must_be_there_and_have_come_so_far(state, last, outcome, notice):
    verdict = ask(
        identity=TrackerIdentity(state=TrackerState.ABSENT, parent=state, parent_last_step=last)
    )[0]

    assert verdict.outcome is outcome
    assert verdict.message == notice


@pytest.mark.parametrize(
    ("step", "first_step", "outcome"),
    [(99, 0, Outcome.PASS), (100, 0, Outcome.FAIL), (100, 1, Outcome.PASS), (101, 1, Outcome.FAIL)],
)
def test_the_childs_first_row_lies_above_the_forks_step(step, first_step, outcome):
    assert ask(point=f"parent?_step={step}", first_step=first_step)[1].outcome is outcome


@pytest.mark.parametrize("start", [None, StartPoint("/data/parent/step-100", 100, "weights-only")])
def test_training_from_step_0_cannot_be_a_fork(start):
    verdict = ask(start=start)[1]

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "drop", "99")


def test_a_checkpoint_of_unknown_step_is_unknown():
    assert ask(start=StartPoint("/data/parent/last", None))[1].outcome is Outcome.UNKNOWN
