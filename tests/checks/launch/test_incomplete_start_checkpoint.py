from dataclasses import replace

import pytest

from builders import PARENT, ROOT, a_checkpoint, a_contract, a_history, a_job, a_plan, answer
from herorun.checks.launch.incomplete_start_checkpoint import incomplete_start_checkpoint
from herorun.core.check import AtRelaunch
from herorun.core.evidence import (
    Adoptee,
    Checkpoints,
    Nothing,
    PriorLaunch,
    StartSiblings,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions


def ask(path, beside=(), own=(), history=None, command=None, **changes):
    contract = a_contract(start={"from": path}, command=command or {})
    plan = a_plan(contract, own, beside, history)
    fields = {
        StartSiblings: StartSiblings(tuple(beside)),
        Checkpoints: Checkpoints(tuple(own)),
        **changes,
    }
    return answer(incomplete_start_checkpoint, plan, fields)


def test_a_run_from_scratch_has_none():
    assert answer(incomplete_start_checkpoint).outcome is Outcome.NOT_APPLICABLE


def test_a_complete_one_passes():
    verdict = ask(f"{PARENT}/step-100/", [a_checkpoint(100, PARENT)])

    assert verdict.outcome is Outcome.PASS
    assert verdict.subject == f"{PARENT}/step-100"


def test_an_incomplete_one_fails_with_its_problem():
    verdict = ask(f"{PARENT}/step-100", [a_checkpoint(100, PARENT, "no metadata.json")])

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, f"{PARENT}/step-100", "incomplete", "no metadata.json")


def test_one_that_is_not_there_fails():
    assert ask(f"{PARENT}/step-100", [a_checkpoint(200, PARENT)]).outcome is Outcome.FAIL


def test_a_name_is_matched_whole():
    assert ask(f"{PARENT}/step-10", [a_checkpoint(100, PARENT)]).outcome is Outcome.FAIL


def test_an_unread_folder_is_unknown():
    dark = {StartSiblings: Unavailable("permission denied")}

    assert answer(
        incomplete_start_checkpoint, a_plan(a_contract(start={"from": "/p/step-1"})), dark
    ).outcome is (Outcome.UNKNOWN)


def test_a_parent_out_of_reach_does_not_matter_once_the_run_has_its_own():
    own = [a_checkpoint(150)]
    verdict = ask(f"{PARENT}/step-100", (), own, a_history(), **{})
    dark = answer(
        incomplete_start_checkpoint,
        a_plan(a_contract(start={"from": f"{PARENT}/step-100"}), own, (), a_history()),
        Checkpoints(tuple(own)),
        {StartSiblings: Unavailable("permission denied")},
    )

    assert verdict == dark
    assert dark.outcome is Outcome.PASS and dark.subject == f"{ROOT}/step-150"


def test_nothing_next_to_it_is_not_a_pass():
    assert ask("/p/step-1", **{}).outcome is Outcome.FAIL
    plan = a_plan(a_contract(start={"from": "/p/step-1"}))
    nothing = {StartSiblings: Nothing(), Checkpoints: Nothing()}
    assert answer(incomplete_start_checkpoint, plan, nothing).outcome is Outcome.FAIL


def test_it_is_asked_at_a_relaunch_too():
    assert incomplete_start_checkpoint.at_relaunch is AtRelaunch.BLOCK


def test_one_that_could_not_be_read_is_unknown():
    unread_checkpoint = replace(
        a_checkpoint(100, PARENT), problem="it could not be read: EIO", examined=False
    )
    verdict = ask(f"{PARENT}/step-100", (unread_checkpoint,))

    assert verdict.outcome is Outcome.UNKNOWN and "EIO" in verdict.message


@pytest.mark.parametrize(
    ("argv", "subject"),
    [
        (["bash", "train.sh", "{start}"], "argv[2]"),
        (["python", "t.py", "--from={start}/model"], "argv[2]"),
        (["python", "t.py", "{start}/model"], "argv[2]"),
        (["python", "t.py", "from={start}"], "argv[2]"),
        (["sh", "-c", "exec python t.py --from {start}"], "argv[2]"),
        (["sh", "-c", "exec python t.py --from '{start}'"], "argv[2]"),
        (["sh", "-c", 'exec python t.py --from="{start}/model"'], "argv[2]"),
        (["sh", "-c", 'exec python t.py "--from={start}"/model'], "argv[2]"),
    ],
)
def test_a_start_that_would_not_be_replaced_fails(argv, subject):
    verdict = ask(f"{PARENT}/step-100", [a_checkpoint(100, PARENT)], command={"argv": argv})
    scratch = answer(incomplete_start_checkpoint, a_plan(a_contract(command={"argv": argv})))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, subject)
    assert (scratch.outcome, scratch.subject) == (Outcome.FAIL, subject)


@pytest.mark.parametrize(
    "command",
    [
        {"argv": ["python", "-c", "start = 1; print(f'{start}')"]},
        {"argv": ["python", "-c", "start = 1; x = f'{start}'"]},
        {"argv": ["python", "t.py", "--name=run-{start}"]},
        {"argv": ["python", "t.py", "--file", "step_{start}.pt"]},
        {"argv": ["python", "t.py", "{start}-{end}"]},
        {"argv": ["python", "t.py", "--from=${start}"]},
        {"argv": ["python", "t.py"], "resume_argv": ["python", "t.py", "{start}"]},
        {"argv": ["python", "t.py", "{start}"], "resume_argv": ["python", "t.py", "{start}"]},
    ],
)
def test_a_start_that_is_replaced_or_is_code_passes(command):
    verdict = ask(f"{PARENT}/step-100", [a_checkpoint(100, PARENT)], command=command)

    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("start", [{}, {"from": f"{PARENT}/step-100"}])
def test_a_job_that_was_launched_with_it_is_relaunched_and_adopted(start):
    argv = ["bash", "train.sh", "{start}"]
    plan = a_plan(a_contract(start=start, command={"argv": argv}))
    beside = StartSiblings((a_checkpoint(100, PARENT),))
    adoptee = Adoptee(a_job(), "slurm")
    first, edited_launch = (
        PriorLaunch("tiny-1", {"argv": each}) for each in (argv, ["bash", "train.sh"])
    )

    def outcome(*evidence):
        return answer(incomplete_start_checkpoint, plan, beside, *evidence).outcome

    fine = Outcome.PASS if start else Outcome.NOT_APPLICABLE
    assert [outcome(first), outcome(adoptee)] == [fine, fine]
    assert [outcome(edited_launch), outcome({PriorLaunch: Unavailable("no")})] == [Outcome.FAIL] * 2
