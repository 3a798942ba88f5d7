from dataclasses import replace

from builders import NOON, PARENT, ROOT, a_checkpoint, a_contract, a_history, answer
from herorun.checks.launch.no_complete_checkpoint import no_complete_checkpoint
from herorun.core.check import AtRelaunch
from herorun.core.evidence import Checkpoints, Taint, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

CUT = a_checkpoint(150, problem="no metadata.json")


def ask(*own, history=None, **start):
    contract = a_contract(start=start)
    return answer(no_complete_checkpoint, contract, history or a_history(), Checkpoints(own))


def test_a_first_launch_is_not_asked():
    assert ask(CUT, history=a_history(0)).outcome is Outcome.NOT_APPLICABLE


def test_a_run_that_saved_nothing_yet_is_not_asked():
    assert ask().outcome is Outcome.NOT_APPLICABLE


def test_one_complete_one_is_enough():
    assert ask(a_checkpoint(100), CUT).subject == f"{ROOT}/step-100"


def test_none_complete_fails_and_says_why_of_each():
    problem = "no metadata.json: the folder is empty"
    verdict = ask(a_checkpoint(100, problem=problem), CUT)

    assert verdict.outcome is Outcome.FAIL
    assert verdict.details == (
        f"{ROOT}/step-150: no metadata.json",
        f"{ROOT}/step-100: {problem}",
    )


def test_a_named_start_is_not_asked():
    assert ask(CUT, **{"from": f"{PARENT}/step-9"}).outcome is Outcome.NOT_APPLICABLE


def test_to_begin_before_tainted_ones_needs_a_reason():
    """The start that the contract names is mostly that of the first launch."""
    start, tainted_history = (
        {"from": f"{PARENT}/step-9"},
        a_history(taints=(Taint(check="not-finite", since=NOON, step=50),)),
    )

    assert ask(a_checkpoint(100), history=tainted_history, **start).outcome is Outcome.FAIL
    assert (
        ask(a_checkpoint(100), history=tainted_history, **start, reason="x").outcome
        is Outcome.NOT_APPLICABLE
    )
    assert ask(a_checkpoint(100), **start, rejected=[ROOT]).outcome is Outcome.NOT_APPLICABLE


def test_rejected_and_tainted_ones_do_not_count():
    assert ask(a_checkpoint(100), rejected=[ROOT]).outcome is Outcome.FAIL
    tainted_history = a_history(taints=(Taint(check="not-finite", since=NOON, step=50),))
    assert mentions(ask(a_checkpoint(100), history=tainted_history).details[0], "not-finite")


def test_one_that_nobody_looked_into_does_not_count():
    assert ask(replace(a_checkpoint(100), examined=False)).outcome is Outcome.FAIL


def test_a_root_out_of_reach_is_unknown():
    dark = {Checkpoints: Unavailable("permission denied")}

    assert answer(no_complete_checkpoint, a_history(), dark).outcome is Outcome.UNKNOWN


def test_it_is_asked_at_a_relaunch_too():
    assert no_complete_checkpoint.at_relaunch is AtRelaunch.BLOCK
