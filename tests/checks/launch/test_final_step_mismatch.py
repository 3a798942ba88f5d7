import pytest

from builders import FINAL, a_contract, a_plan, answers
from herorun.checks.launch.final_step_mismatch import final_step_mismatch
from herorun.core.evidence import Nothing, TrackerIdentity, TrackerState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

BATCH_CONFIG = {"train_batch_size": 10, "seq_len": 100}  # 1,000 tokens a step


def ask(resolved_config=None, identity=None, **changes):
    contract = a_contract(**changes)
    names = identity or {TrackerIdentity: Nothing()}
    return answers(final_step_mismatch, contract, a_plan(contract, config=resolved_config), names)


def failures(verdicts):
    return {v.subject: v.message for v in verdicts if v.outcome is Outcome.FAIL}


def tracked_identity(**config):
    return TrackerIdentity(state=TrackerState.CRASHED, config=config)


@pytest.mark.parametrize(
    "identity", [{TrackerIdentity: Nothing()}, {TrackerIdentity: Unavailable("down")}]
)
def test_a_lone_statement_has_nothing_to_disagree_with(identity):
    (verdict,) = ask(identity=identity)

    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_an_unknown_final_step_is_another_checks():
    (verdict,) = ask(final_step=None)

    assert verdict.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("config", "changes"),
    [
        ({"max_steps": FINAL}, {}),
        ({"lr_decay_iters": FINAL}, {}),
        ({"cycle": FINAL}, {"config": {"horizon": "cycle"}}),
        (BATCH_CONFIG, {"tokens": 200_000}),
        (BATCH_CONFIG, {"tokens": 201_999}),
        (
            {"max_steps": -1, "eval": {"max_steps": 5}, "decay_steps": 5, "T_max": 5, "epochs": 5},
            {},
        ),
    ],
)
def test_what_agrees_passes(config, changes):
    assert failures(ask(config, **changes)) == {}


@pytest.mark.parametrize(
    ("config", "changes", "subject", "words"),
    [
        ({"trainer": {"max_steps": 300}}, {}, "trainer.max_steps", "trainer.max_steps is 300"),
        (
            {"lr_decay_iters": 100},
            {},
            "lr_decay_iters",
            "the schedule's lr_decay_iters is 100",
        ),
        ({"cycle": 100}, {"config": {"horizon": "cycle"}}, "cycle", "the schedule's cycle is 100"),
        ({}, {"config": {"horizon": "cycle"}}, "[config] horizon", "cycle, which is missing"),
        (BATCH_CONFIG, {"tokens": 204_000}, "tokens", "make 204 steps"),
        (BATCH_CONFIG, {"tokens": 100_000}, "tokens", "make 100 steps"),
        (
            {"steps": 300},
            {"config": {"horizon": "steps"}, "final_step": 300, "tokens": None},
            None,
            "",
        ),
    ],
)
def test_what_disagrees_is_named_with_both_values(config, changes, subject, words):
    messages = failures(ask(config or {"seed": 7}, **changes))

    assert list(messages) == ([subject] if subject else [])
    assert all(words in message for message in messages.values())


def test_the_sentence_names_the_final_step_and_its_source():
    (verdict,) = ask({"max_steps": 300})

    assert mentions(verdict.message, "max_steps", "300", "final", "200", "runs/tiny.toml")


@pytest.mark.parametrize(
    ("config", "subjects"),
    [
        ({"max_steps": FINAL}, []),
        ({"max_steps": 300}, ["tracker:max_steps"]),
        ({"trainer": {"num_train_steps": 300}}, ["tracker:trainer.num_train_steps"]),
        ({}, []),
    ],
)
def test_the_trackers_run_was_to_be_as_long(config, subjects):
    assert list(failures(ask(identity=tracked_identity(**config)))) == subjects


def test_a_named_key_is_looked_up_at_the_tracker_too():
    answer = ask({"t": {"n": 200}}, tracked_identity(t={"n": 250}), final_step="t.n")

    assert list(failures(answer)) == ["tracker:t.n"]


def test_every_disagreement_is_named():
    config = {"max_steps": 300, "lr_decay_iters": 100, **BATCH_CONFIG}

    assert set(failures(ask(config, tokens=9e5))) == {"max_steps", "lr_decay_iters", "tokens"}


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ({"max_steps": 200}, Outcome.NOT_APPLICABLE),
        (BATCH_CONFIG, Outcome.NOT_APPLICABLE),
        ({"max_steps": 200, **BATCH_CONFIG}, Outcome.PASS),
        ({"max_steps": 300, **BATCH_CONFIG}, Outcome.FAIL),
        ({"max_steps": 200, "lr_decay_iters": 300}, Outcome.FAIL),
    ],
)
def test_what_the_step_was_inferred_from_does_not_confirm_it(config, outcome):
    (verdict,) = ask(config, final_step=None, tokens=200_000)

    assert verdict.outcome is outcome


def test_a_pass_says_who_agrees():
    (verdict,) = ask({"max_steps": 200, **BATCH_CONFIG}, tokens=200_000)

    assert mentions(verdict.message, "200", "max_steps", "tokens")
