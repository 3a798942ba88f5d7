from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    PARENT,
    a_checkpoint,
    a_contract,
    a_history,
    a_plan,
    answer,
    answers,
)
from herorun.checks.launch.fork_drift import MAX_VERDICTS, fork_drift
from herorun.core.evidence import (
    Nothing,
    PriorLaunch,
    RecordedLaunch,
    SourceLaunches,
    StartSiblings,
    Unavailable,
)
from herorun.core.finding import Outcome
from herorun.core.redaction.scrub import scrub_tree
from wording import mentions

BEFORE = {
    "optimizer": {"lr": 0.001},
    "pack": 8,
    "log_interval": 10,
    "run_name": "parent",
    "out": f"{PARENT}/logs",
}


def parent_launch(config=None, instance="parent-1", at=NOON - 60 * MINUTE, **changes):
    """What the record keeps of a launch of the run that is forked."""
    contract = a_contract(
        slug="parent",
        output={"root": PARENT, "temporary_root": f"{PARENT}-temporary"},
        tracker={"id": "parent", "name": "parent"},
        **changes,
    )
    plan = scrub_tree(a_plan(contract, config=config or BEFORE).values)
    return RecordedLaunch("parent", instance, (PARENT, f"{PARENT}-temporary"), at, plan)


def ask(config=None, *launches, kind="full-state", modified_at=None, **changes):
    """The first launch of a fork from the parent's step 100."""
    beside = a_checkpoint(100, root=PARENT)
    contract = a_contract(start={"from": beside.path, "kind": kind}, **changes)
    plan = a_plan(contract, beside=[beside], config=config or BEFORE)
    siblings = StartSiblings((a_checkpoint(100, root=PARENT),))
    if modified_at:
        siblings = StartSiblings((type(beside)(beside.path, 100, PARENT, modified=modified_at),))
    return answers(
        fork_drift, plan, contract, siblings, SourceLaunches(launches or (parent_launch(),))
    )


def failures(verdicts):
    return {v.subject: v.message for v in verdicts if v.outcome is Outcome.FAIL}


def test_a_fork_that_trains_as_its_source_passes():
    (verdict,) = ask()

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "trains", "parent-1")


def test_each_key_that_steers_is_named_with_both_values_and_signed_by_itself():
    messages = failures(ask({**BEFORE, "optimizer": {"lr": 0.016}, "pack": 1}))

    assert messages.keys() == {"optimizer.lr", "pack"}
    assert messages["optimizer.lr"].startswith("optimizer.lr: 0.001 -> 0.016 (trajectory)")
    assert "pack: 8 -> 1 (unclassified)" in messages["pack"] and "parent-1" in messages["pack"]


@pytest.mark.parametrize(("kind", "count"), [("full-state", 1), ("weights-only", 0)])
def test_a_shape_that_the_state_does_not_fit_counts_where_the_state_is_loaded(kind, count):
    assert len(failures(ask({**BEFORE, "num_nodes": 2}, kind=kind))) == count


def test_a_key_that_only_runs_otherwise_is_shown_and_passes():
    (verdict,) = ask({**BEFORE, "log_interval": 20})

    assert verdict.outcome is Outcome.PASS
    assert "log_interval: 10 -> 20 (" in verdict.message


def test_the_forks_own_names_are_no_change():
    (verdict,) = ask(
        {
            **BEFORE,
            "run_name": "tiny",
            "out": "/data/tiny/logs",
            "initialize_from": f"{PARENT}/step-100",
        }
    )

    assert verdict.outcome is Outcome.PASS
    assert any("run_name: 'parent' -> 'tiny'" in line for line in verdict.details)


def test_another_name_than_its_own_is_a_change():
    assert failures(ask({**BEFORE, "run_name": "parental"})).keys() == {"run_name"}


def test_the_command_and_its_environment_are_compared_too():
    messages = failures(
        ask(command={"argv": ["python", "train.py", "--lr", "3"], "env": {"PACK": "1"}})
    )

    assert {"argv.lr", "env.PACK"} <= messages.keys()


def test_it_is_compared_with_the_instance_that_wrote_the_checkpoint():
    later = parent_launch({**BEFORE, "pack": 1}, "parent-2", NOON)

    # the store tells no time: the newest
    assert failures(ask(None, parent_launch(), later)).keys() == {"pack"}
    assert not failures(ask(None, parent_launch(), later, modified_at=NOON - 30 * MINUTE))
    assert failures(
        ask(None, parent_launch(), later, modified_at=NOON + timedelta(hours=1))
    ).keys() == {"pack"}


def test_beyond_fifty_keys_one_answer_sums_up():
    messages = failures(ask({**BEFORE, **{f"k{n}": n for n in range(MAX_VERDICTS + 2)}}))

    assert len(messages) == MAX_VERDICTS + 1 and "k9: absent -> 9" in messages["further keys"]


def test_it_has_nothing_to_ask_of_a_run_that_continues_from_its_own():
    history = a_history()
    plan = a_plan(own=[a_checkpoint(100)], history=history)

    assert (
        answer(fork_drift, plan, SourceLaunches((parent_launch(),))).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_a_later_launch_is_compared_with_the_forks_own_last_instance():
    contract = a_contract(start={"from": f"{PARENT}/step-100"})
    plan = a_plan(contract, config={"pack": 1})
    prior = PriorLaunch("tiny-1", plan.values)

    verdict = answer(fork_drift, plan, contract, prior, SourceLaunches((parent_launch(),)))

    assert verdict.outcome is Outcome.NOT_APPLICABLE and "tiny-1" in verdict.message


@pytest.mark.parametrize(
    ("source", "outcome"),
    [(Nothing("no record"), Outcome.NOT_APPLICABLE), (Unavailable("git is gone"), Outcome.UNKNOWN)],
)
def test_without_a_record_there_is_nothing_to_compare(source, outcome):
    plan = a_plan(a_contract(start={"from": f"{PARENT}/step-100"}))

    assert answer(fork_drift, plan, {SourceLaunches: source}).outcome is outcome
