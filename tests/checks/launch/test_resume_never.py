import pytest

from builders import a_checkpoint, a_contract, a_history, a_plan, answer, some_metrics
from herorun.checks.launch.resume_never import resume_never
from herorun.core.evidence import Metrics, Nothing, PriorLaunch, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NO_METRICS = {Metrics: Nothing("no metrics file yet")}
OWN = (a_checkpoint(100),)


def ask(resume="never", identity="tiny", own=OWN, metrics=NO_METRICS):
    """The second launch by hand; the first reported under tiny."""
    contract = a_contract(tracker={"resume": resume, "id": identity})
    plan = a_plan(contract, own=own, history=a_history())
    return answer(resume_never, contract, plan, PriorLaunch("tiny-1", a_plan().values), metrics)


def test_a_first_launch_may_begin():
    assert (
        answer(resume_never, a_contract(tracker={"resume": "never"})).outcome
        is Outcome.NOT_APPLICABLE
    )


@pytest.mark.parametrize(("own", "metrics"), [(OWN, NO_METRICS), ((), some_metrics(41))])
def test_a_second_launch_under_the_id_is_refused_with_the_fork_command(own, metrics):
    verdict = ask(own=own, metrics=metrics)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny")
    assert mentions(verdict.message, "tiny-1", "tiny", "`herorun fork tiny NEW")


def test_under_a_new_id_it_may():
    assert ask(identity="tiny-b").outcome is Outcome.PASS


def test_under_allow_it_is_not_asked():
    assert ask("allow").outcome is Outcome.NOT_APPLICABLE


def test_an_instance_that_left_nothing_may_be_repeated():
    assert ask(own=()).outcome is Outcome.PASS


def test_rows_that_nobody_could_read_are_unknown():
    assert ask(own=(), metrics={Metrics: Unavailable("403")}).outcome is Outcome.UNKNOWN
