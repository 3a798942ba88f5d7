"""Which checkpoints may be gone on from, which was written last, and what a choice throws away."""

from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    ROOT,
    a_checkpoint,
    a_contract,
    a_history,
    an_instance,
    some_metrics,
)
from herorun.core.evidence import Checkpoints, GivenUp, Taint
from herorun.core.lineage import (
    acceptable,
    compute_discarded_steps,
    decided_on,
    is_under,
    mistrust,
    reasons_once,
    refusal,
    seconds_between,
    written_later,
)
from wording import mentions


def written_checkpoint(step, minutes=None, stamp="", **changes):
    """A complete checkpoint, written so many minutes after noon by the store's clock."""
    at = None if minutes is None else NOON + minutes * MINUTE
    return replace(a_checkpoint(step), timestamp=stamp, modified=at, **changes)


def a_run(*taints, **changes):
    return a_history(instances=(an_instance(intended=NOON),), taints=taints, **changes)


def test_a_folder_is_under_itself_and_not_under_its_namesake():
    assert is_under("/a/b", ["/a/b/"]) and is_under("/a/b/c", ["/a/b"])
    assert not is_under("/a/bc", ["/a/b"]) and not is_under("/a", ["/a/b"])


def test_an_ordinary_one_is_trusted():
    assert mistrust(written_checkpoint(100, 10), a_run()) == ""
    assert refusal(written_checkpoint(100), a_contract(), a_run()) == ""


def test_before_the_first_launch_there_is_nobody_to_trust():
    assert mistrust(written_checkpoint(100, -10), a_history(0)) == ""


def test_what_lay_there_before_is_not_trusted():
    assert mentions(
        mistrust(written_checkpoint(100, 10), a_run(foreign=frozenset({f"{ROOT}/step-100"}))),
        "recorded",
        "instance",
    )


@pytest.mark.parametrize(("minutes", "old"), [(-2, True), (-0.5, False), (0, False), (1, False)])
def test_what_is_older_than_the_first_launch_is_not_trusted(minutes, old):
    assert bool(mistrust(written_checkpoint(100, minutes), a_run())) is old


@pytest.mark.parametrize(
    ("minutes", "taints"), [(9, False), (10, False), (11, True), (19, True), (20, False)]
)
def test_a_taint_is_a_time(minutes, taints):
    taint = Taint(check="not-finite", since=NOON + 10 * MINUTE, step=50, until=NOON + 20 * MINUTE)

    assert bool(mistrust(written_checkpoint(100, minutes), a_run(taint))) is taints


def test_a_taint_without_a_next_launch_is_open():
    taint = Taint(check="not-finite", since=NOON + 10 * MINUTE, step=50)

    assert mentions(mistrust(written_checkpoint(100, 9999), a_run(taint)), "tainted", "not-finite;")


@pytest.mark.parametrize(
    ("step", "minutes", "covered_step"),
    [(119, 20, False), (120, 20, True), (120, 1, False), (200, 60, False), (200, None, True)],
)
def test_where_the_data_names_a_step_the_step_decides_among_what_its_instance_wrote(
    step, minutes, covered_step
):
    taint = Taint(
        check="not-finite",
        since=NOON + 10 * MINUTE,
        step=119,
        until=NOON + 60 * MINUTE,
        instance="tiny-1",
        subject="loss",
        bad_step=121,
    )
    candidate = written_checkpoint(step) if minutes is None else written_checkpoint(step, minutes)

    assert taint.covers(candidate) is covered_step


def test_a_taint_names_its_alert_and_its_steps():
    taint = Taint(
        check="not-finite",
        since=NOON,
        step=119,
        until=None,
        instance="tiny-1",
        subject="loss",
        bad_step=121,
    )

    assert mentions(
        mistrust(written_checkpoint(200, 5), a_run(taint)),
        "tainted",
        "not-finite[loss]",
        "121",
        "119",
    )


@pytest.mark.parametrize(("step", "taints"), [(50, False), (51, True)])
def test_where_the_store_tells_no_time_a_taint_is_a_step(step, taints):
    taint = Taint(check="not-finite", since=NOON, step=50, until=NOON + MINUTE)

    assert bool(mistrust(written_checkpoint(step), a_run(taint))) is taints


def test_a_rejected_lineage_is_refused():
    contract = a_contract(start={"rejected": [f"{ROOT}/step-200"]})

    assert mentions(refusal(written_checkpoint(200), contract, a_run()), "[start]", "rejected")
    assert acceptable(
        [written_checkpoint(100), written_checkpoint(200)], contract, a_run()
    ) == Checkpoints((written_checkpoint(100),))


def test_a_person_decides_by_a_reason():
    candidates = [written_checkpoint(100), written_checkpoint(200)]
    start = {"from": f"{ROOT}/step-100/"}

    assert decided_on(a_contract(start=start), candidates) is None
    assert decided_on(
        a_contract(start={**start, "reason": "as good"}), candidates
    ) == written_checkpoint(100)
    assert decided_on(a_contract(start={"reason": "as good"}), candidates) is None


@pytest.mark.parametrize(
    ("one", "other", "seconds"),
    [
        ("2026-01-01T00:00:00", "2026-01-01T00:01:00", 60),
        ("2026-01-01T00:00:00+00:00", "2026-01-01T00:01:00+00:00", 60),
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:01:00+00:00", 60),
        ("2026-01-01T00:00:00", "2026-01-01T00:01:00+00:00", None),
        ("2026-01-01T00:00:00", "", None),
        ("yesterday", "today", None),
    ],
)
def test_naive_times_are_only_compared_with_one_another(one, other, seconds):
    assert (
        seconds_between(written_checkpoint(1, stamp=one), written_checkpoint(2, stamp=other))
        == seconds
    )


def test_without_the_trainers_time_the_stores_counts():
    assert seconds_between(written_checkpoint(1, 0), written_checkpoint(2, 3)) == 180
    copied_checkpoints = (
        written_checkpoint(1, 99, "2026-01-01T00:00:00"),
        written_checkpoint(2, 3, "2026-01-01T00:01:00"),
    )
    assert seconds_between(*copied_checkpoints) == 60


def test_the_one_that_was_written_last_is_found():
    newest = written_checkpoint(300, 10)
    others = [
        written_checkpoint(100, 11),
        written_checkpoint(200, 20),
        written_checkpoint(150, 15),
        written_checkpoint(250, 5),
        written_checkpoint(40),
    ]

    assert written_later(newest, [*others, newest]) == written_checkpoint(200, 20)
    assert (
        written_later(newest, [newest, written_checkpoint(250, 5), written_checkpoint(300, 30)])
        is None
    )
    assert written_later(newest, [written_checkpoint(100, 20, problem="no metadata.json")]) is None


@pytest.mark.parametrize(("seconds", "result"), [(1, None), (-60, None), (61, 61.0), (-61, -61.0)])
def test_two_stores_have_two_clocks(seconds, result):
    here = written_checkpoint(300, 0, path="s3://bucket/tiny/step-300")
    at = NOON + timedelta(seconds=seconds)
    assert (
        seconds_between(here, replace(here, path="gs://bucket/tiny/step-200", modified=at))
        == result
    )
    assert (
        seconds_between(here, replace(here, path="s3://bucket/tiny/step-200", modified=at))
        == seconds
    )


def test_what_a_choice_throws_away_is_counted():
    cost = compute_discarded_steps(
        300,
        [written_checkpoint(300, 0), written_checkpoint(420, 60, problem="cut")],
        some_metrics(450),
        8,
    )

    assert (cost.steps, cost.accelerator_hours) == (150, None)
    assert mentions(cost.why, "checkpoints", "step")


def test_its_price_is_that_of_the_steps_between_two_checkpoints():
    observations = [written_checkpoint(200, 0), written_checkpoint(300, 50)]  # half a minute a step

    assert compute_discarded_steps(
        300, observations, some_metrics(420), 8
    ).accelerator_hours == pytest.approx(120 * 30 * 8 / 3600)
    assert mentions(
        compute_discarded_steps(300, observations, some_metrics(420), None).why,
        "[hardware]",
        "stated",
    )


def test_nothing_is_thrown_away_where_nothing_was_reached():
    assert compute_discarded_steps(0, [], None, None).steps == 0
    assert (
        compute_discarded_steps(
            300, [written_checkpoint(300, 0)], some_metrics(100), 8
        ).accelerator_hours
        == 0
    )


def test_an_unknown_start_is_not_guessed():
    assert compute_discarded_steps(None, [written_checkpoint(300, 0)], None, 8).steps is None


def test_times_that_run_backwards_price_nothing():
    assert (
        compute_discarded_steps(
            300, [written_checkpoint(200, 60), written_checkpoint(300, 0)], some_metrics(400), 8
        ).accelerator_hours
        is None
    )


def test_what_a_person_decided_on_is_not_refused_again():
    start = {"from": f"{ROOT}/step-100", "reason": "the NaN was in the logger"}
    tainted_run = a_run(Taint(check="not-finite", since=NOON, step=50))

    assert refusal(written_checkpoint(100), a_contract(), tainted_run)
    assert refusal(written_checkpoint(100), a_contract(start=start), tainted_run) == ""
    assert refusal(
        written_checkpoint(100), a_contract(start={**start, "rejected": [ROOT]}), tainted_run
    )


BACK = GivenUp(100, NOON + 10 * MINUTE, ((f"{ROOT}/step-300", "then"),), "a spike")


@pytest.mark.parametrize(
    ("candidate", "ruled_out"),
    [
        (written_checkpoint(100, 5), False),  # what it went back to
        (written_checkpoint(300, 5), True),
        (written_checkpoint(300, 11), False),  # written again by the instance that went back
        (written_checkpoint(300, stamp="then"), True),  # the store tells no time, the trainer does
        (written_checkpoint(300, stamp="later"), False),
        (written_checkpoint(300, stamp=""), True),  # nobody can tell, so a person must
        (written_checkpoint(400, stamp="then"), False),  # it was not there
    ],
)
def test_a_rollback_rules_out_what_was_above_it_then(candidate, ruled_out):
    reason = mistrust(candidate, a_run(given_up=(BACK,)))

    assert (mentions(reason, "went", "100")) is ruled_out


def test_what_was_given_up_is_gone_on_from_only_if_a_person_names_it():
    history = a_run(given_up=(BACK,))
    old, older = written_checkpoint(300, 5), written_checkpoint(100, 5)

    assert acceptable([old, older], a_contract(), history).newest == older
    contract = a_contract(start={"from": old.path, "reason": "it was good after all"})
    assert refusal(old, contract, history) == ""


def test_what_is_perhaps_half_deleted_is_never_gone_on_from():
    candidate = a_checkpoint(100)
    history = a_history(deleting=frozenset({candidate.path}))
    assert mentions(mistrust(candidate, history), "deletion", "half")


def test_a_reason_is_stated_once_however_many_checkpoints_share_it():
    refused_checkpoints = [(written_checkpoint(step), "tainted") for step in (100, 200, 300)] + [
        (written_checkpoint(400), "rejected")
    ]

    assert reasons_once(refused_checkpoints) == (
        f"tainted (3 checkpoints, steps 100 to 300); {ROOT}/step-400: rejected"
    )
