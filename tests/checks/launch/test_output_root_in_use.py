import pytest

from builders import ROOT, TEMPORARY, a_history, an_instance, answers
from herorun.checks.launch.output_root_in_use import output_root_in_use
from herorun.core.check import AtRelaunch
from herorun.core.evidence import OutputRoots, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def ask(permanent, temporary=None, history=None):
    roots = OutputRoots({ROOT: permanent, TEMPORARY: temporary})
    answer = answers(output_root_in_use, roots, history or a_history(0))
    return {verdict.subject: verdict for verdict in answer}


@pytest.mark.parametrize("entries", [None, ()])
def test_a_missing_or_empty_root_passes(entries):
    assert {verdict.outcome for verdict in ask(entries).values()} == {Outcome.PASS}


def test_a_strangers_root_fails_and_names_what_lies_there():
    verdict = ask(("step-100/", "step-200/"))[ROOT]

    assert verdict.outcome is Outcome.FAIL
    assert "step-100/, step-200/" in verdict.message


def test_each_root_is_judged_apart():
    verdicts = ask(None, ("step-7/",))

    assert verdicts[ROOT].outcome is Outcome.PASS
    assert verdicts[TEMPORARY].outcome is Outcome.FAIL


def test_a_root_of_an_earlier_instance_of_this_run_passes():
    verdicts = ask(("step-100/",), ("step-110/",), a_history(1))

    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
    assert "tiny-1" in verdicts[ROOT].message


def test_a_temporary_root_that_no_instance_used_is_a_strangers():
    past = a_history(instances=(an_instance(temporary_root="/data/elsewhere"),))

    assert ask(("step-100/",), ("step-110/",), past)[TEMPORARY].outcome is Outcome.FAIL


def test_a_root_that_the_run_has_left_is_the_runs_own_no_more():
    earlier, now = an_instance(1), an_instance(2, output_root="/data/second", temporary_root=None)
    verdict = ask(("step-100/",), None, a_history(instances=(earlier, now)))[ROOT]

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "tiny-2", "/data/second")


def test_a_fresh_root_after_an_instance_says_where_the_run_was():
    past = a_history(instances=(an_instance(output_root="/data/first"),))
    verdict = ask(())[ROOT], ask((), None, past)[ROOT]

    assert [v.outcome for v in verdict] == [Outcome.PASS] * 2
    assert mentions(verdict[1].message, ROOT, "tiny-1", "/data/first")


def test_a_slash_at_the_end_makes_no_other_root():
    past = a_history(instances=(an_instance(output_root=f"{ROOT}/"),))

    assert ask(("step-100/",), None, past)[ROOT].outcome is Outcome.PASS
    (verdict,) = answers(output_root_in_use, OutputRoots({f"{ROOT}/": ("step-100/",)}), a_history())
    assert verdict.outcome is Outcome.PASS


def test_a_root_out_of_reach_is_unknown_and_never_empty():
    (verdict,) = answers(output_root_in_use, {OutputRoots: Unavailable("permission denied")})

    assert verdict.outcome is Outcome.UNKNOWN


def test_a_relaunch_continues_without_a_reading():
    assert output_root_in_use.at_relaunch is AtRelaunch.WARN
