"""What the checks promise about whole curves, and the curves that must stay quiet."""

import math
from random import Random

import pytest

from builders import a_contract, a_row
from curves import curve
from herorun.core.backtest.curve import BASE_EVIDENCE, CurveBacktest, judging
from herorun.core.check import Gate
from herorun.core.contract import Contract
from herorun.core.detectors.names import Names
from herorun.discover import checks
from wording import mentions

CHECKS = judging(checks(Gate.HEALTH))
ORDERED_EVIDENCE = {**BASE_EVIDENCE, Contract: a_contract(data={"order": "deterministic"})}


def alerts(rows, evidence=BASE_EVIDENCE, names=Names()):  # noqa: B008  # never changes
    return CurveBacktest(checks=CHECKS, names=names, evidence=evidence).run(rows)


def criticals(rows, evidence=BASE_EVIDENCE):
    return [(a.check, a.row) for a in alerts(rows, evidence) if a.severity == "critical"]


def noisy(level, count, spread=0.03, seed=3):
    lots = Random(seed)
    return [level * math.exp(lots.gauss(0, spread)) for _ in range(count)]


# --- the first descent is no noise ----------------------------------------------------------------

DESCENT = [max(0.0088, 2.3 * math.exp(-i / 5)) * x for i, x in enumerate(noisy(1, 50))]


def test_a_loss_that_leaps_right_after_its_first_descent_is_found():
    (first, *_) = criticals(curve(*DESCENT, 229.0, *noisy(4.7, 60)))

    assert first == ("loss-spike", 50)


@pytest.mark.parametrize(("row", "expectation"), [(20.0, []), (229.0, [("loss-spike", 50)])])
def test_one_row_above_the_first_descent_is_an_alert_only_if_it_is_enormous(row, expectation):
    assert criticals(curve(*DESCENT, row, *noisy(0.0088, 60))) == expectation


@pytest.mark.parametrize("begins", [16, 21, 28, 35, 45, 60])
def test_a_rise_within_the_first_descent_is_found_after_three_sparse_rows(begins):
    descent = [(2 + 8 * math.exp(-i / 5)) * x for i, x in enumerate(noisy(1, 90, 0.01))]
    risen_rows = curve(*descent[:begins], *(1.5 * loss for loss in descent[begins:]), gap=20)

    assert criticals(curve(*descent, gap=20)) == []
    assert criticals(risen_rows)[0] == ("loss-spike", begins + 2)


# --- the loss of a generator ----------------------------------------------------------------------


def test_a_loss_that_rises_from_ln_2_may_be_a_generators():
    """Its discriminator learns: by half and more in ten steps is nothing, threefold is."""
    began = noisy(0.72, 60, 0.04)

    doubled_curve = curve(*began, *noisy(1.5, 40, 0.1))
    assert criticals(doubled_curve) == []
    # a preference loss begins there too, and may go wrong: a rise that stays is not passed over
    assert [(a.check, a.severity) for a in alerts(doubled_curve)] == [("loss-elevated", "warn")]
    assert criticals(curve(*began, *noisy(1.5, 40, 0.2))) == []
    assert criticals(curve(*began, *noisy(2.9, 40, 0.1))) == [("loss-spike", 62)]
    # a classifier has learned before, and another loss begins elsewhere
    learned_losses = [0.69 * 0.98**i for i in range(60)]
    assert criticals(curve(*learned_losses, *noisy(0.5, 40, 0.1)))[0] == ("loss-spike", 69)
    assert criticals(curve(*noisy(2.0, 60, 0.04), *noisy(4.2, 40, 0.1)))[0] == ("loss-spike", 69)
    # nor need each of its first rows lie there, if their mean does
    assert criticals(curve(0.69, 0.68, 0.64, 0.61, *began, *noisy(1.5, 40, 0.1))) == []


# --- the first rows of a sparse record ------------------------------------------------------------


@pytest.mark.parametrize(
    ("third", "fourth", "result"), [(6e4, 1e7, 1), (900.0, 8e3, 0), (6e4, 3, 1), (250.0, 3, 0)]
)
def test_rows_a_thousand_times_the_highest_so_far_are_found_however_sparse(third, fourth, result):
    rows = curve(0.85, 1.2, third, fourth, 2.5, 2.4, 2.2, 2.0, gap=100)

    assert len([name for name, _ in criticals(rows) if name == "loss-spike"]) == result


# --- zeros ----------------------------------------------------------------------------------------


def test_a_loss_that_is_zero_by_nature_is_no_alert():
    """A reward that all samples of a group share gives no gradient, and a loss of 0.0000."""
    lots = Random(1)
    zeros = [1, 3, *(lots.randint(1, 14) for _ in range(60))]
    lives = [x for count in zeros for x in (*noisy(0.4, lots.randint(1, 9)), *[0.0] * count)]

    assert max(zeros) >= 12 and criticals(curve(*lives)) == []
    assert criticals(curve(*noisy(0.4, 80), *[0.0] * 12)) == [("zero-loss", 89)]


# --- a resume -------------------------------------------------------------------------------------


def resume_curve(first, count, times=1.0):
    """300 rows, and a resume at row `first` whose data are shuffled: `count` steps come again."""
    again = noisy(2.0, count, 0.02, seed=8)
    return [
        *curve(*noisy(2.0, 300, 0.02)),
        *curve(*(times * x for x in again), first=first),
        *curve(*(times * x for x in noisy(2.0, 200, 0.02, seed=9)), first=first + count),
    ]


@pytest.mark.parametrize("overlap", [2, 3, 9, 40])
def test_shuffled_data_at_a_resume_are_no_alert_where_no_order_is_declared(overlap):
    rows = resume_curve(300 - overlap, overlap)

    assert criticals(rows) == []
    assert criticals(rows, ORDERED_EVIDENCE)[0][0] == "resume-mismatch"


def test_one_batch_that_is_shuffled_is_an_alert_where_an_order_is_declared():
    losses = noisy(2.0, 300, 0.02)
    again = [*losses[280:285], 1.1 * losses[285], *losses[286:], *noisy(2.0, 60, 0.02)]
    rows = [*curve(*losses), *curve(*again, first=280)]

    assert criticals(rows) == []
    assert criticals(rows, ORDERED_EVIDENCE)[0] == ("resume-mismatch", 305)


def test_another_level_is_an_alert_without_an_order_too():
    assert criticals(resume_curve(260, 40, 1.05))[0][0] == "resume-mismatch"
    assert criticals(resume_curve(298, 2, 1.05))[0][0] == "resume-mismatch"  # after the warm-up


@pytest.mark.parametrize(("level", "result"), [(0.3, [("loss-spike", 135)]), (0.02, [])])
def test_near_zero_a_loss_that_is_all_noise_has_no_new_level(level, result):
    losses = [*noisy(2.0, 20, 0.05), *noisy(level, 100, 0.5), *noisy(6 * level, 60, 0.5, seed=103)]

    assert criticals(curve(*losses)) == result


# --- the gradient norm ----------------------------------------------------------------------------


def with_norms(*norms, losses=None):
    losses = losses or noisy(2.0, len(norms), 0.003)
    return [
        a_row(i, loss, grad_norm=norm)
        for i, (loss, norm) in enumerate(zip(losses, norms, strict=True))
    ]


@pytest.mark.parametrize("row", [5e-4, 300.0])
@pytest.mark.parametrize("usual", [1e-6, 1.0])
def test_one_row_of_a_huge_norm_is_no_alert_while_the_loss_is_calm(usual, row):
    rows = with_norms(*noisy(usual, 150, 0.2), row, *noisy(usual, 40, 0.2))

    assert criticals(rows) == []


def test_two_rows_are_one_and_so_is_one_with_a_loss_that_leaps():
    assert ("grad-norm-explosion", 151) in criticals(
        with_norms(*noisy(1.0, 150, 0.2), *[300.0] * 4, *noisy(1.0, 40, 0.2))
    )
    losses = [*noisy(2.0, 150, 0.003), *[7.0] * 3, *noisy(2.0, 40, 0.003)]
    norms = [*noisy(1.0, 150, 0.2), 300.0, *noisy(1.0, 42, 0.2)]
    assert ("grad-norm-explosion", 150) in criticals(with_norms(*norms, losses=losses))


def test_a_norm_that_comes_back_from_nothing_is_no_explosion():
    norms = [*noisy(1.0, 200, 0.2), *noisy(1e-7, 60, 0.2), *noisy(0.8, 60, 0.2)]

    assert criticals(with_norms(*norms)) == []


@pytest.mark.parametrize(("after", "result"), [(2.0, False), (7.0, True)])
def test_a_norm_of_next_to_nothing_that_grows_counts_with_a_loss_that_leaps(after, result):
    norms = [*noisy(3e-5, 150, 0.2), *noisy(2e-3, 30, 0.2)]
    losses = [*noisy(2.0, 150, 0.003), *noisy(after, 30, 0.003)]
    checks_fired = {check for check, _ in criticals(with_norms(*norms, losses=losses))}

    assert ("grad-norm-explosion" in checks_fired) is result


@pytest.mark.parametrize(("rows", "result"), [(1, []), (2, [("not-finite", 31)])])
@pytest.mark.parametrize("norm", [math.nan, math.inf])
def test_a_loss_of_zero_next_to_a_norm_that_is_not_finite_is_a_lost_run(norm, rows, result):
    """A trainer that filters losses of nan logs 0."""
    run_rows = with_norms(
        *[1.0] * 30, *[norm] * rows, *[1.0] * 9, losses=[*noisy(2, 30), *[0.0] * rows, *noisy(2, 9)]
    )
    assert criticals(run_rows) == result
    assert all(mentions(a.message, "logged as 0", "step 30") for a in alerts(run_rows) if result)
    skipped_rows = with_norms(*[1.0] * 30, *[norm] * rows, *[1.0] * 9)
    assert criticals(skipped_rows) == []  # half precision looks for its scale
    calm = with_norms(*[1.0] * 30, *[0.0] * rows, losses=[*noisy(2, 30), *[0.0] * rows])
    assert criticals(calm) == []


@pytest.mark.parametrize(
    ("level", "norm", "result"),
    [
        (1.2, None, [("zero-loss", 4)]),
        (1.2, 0.8, [("zero-loss", 4)]),
        (1.2, 0.0, []),  # nothing of the batch counted
        (0.6, None, []),  # small enough to be printed as zero by nature
    ],
)
def test_two_rows_of_zero_after_a_loss_of_a_nat_are_a_lost_run(level, norm, result):
    norms = {} if norm is None else {"grad_norm": norm}
    start = curve(level, 1.1 * level, level, 0.0, **norms)
    run_rows = [*start, a_row(4, 0.0, **norms)]

    assert criticals(run_rows) == result
    assert criticals([*run_rows, *curve(*[level] * 30, first=5, **norms)]) == result
    # one row may be a batch without labels
    assert criticals(start) == criticals([*start, *curve(*[level] * 30, first=4, **norms)]) == []


def test_a_second_collapse_after_a_rollback_is_found_as_soon_as_the_first():
    zeros, level = [0.0] * 100, noisy(2.0, 60)
    rows = [*curve(*level, *zeros), *curve(*level[20:], first=20), *curve(*zeros, first=60)]

    alert_rows = [row for check, row in criticals(rows) if check == "zero-loss"]
    assert alert_rows == [61, 201]


def test_zeros_that_a_relaunch_keeps_stay_a_habit_of_the_loss():
    losses = noisy(2.0, 300)
    for step in (*range(50, 300, 50), *range(51, 300, 50)):
        losses[step] = 0.0
    first, second = curve(*losses[:180]), curve(*losses[170:260], first=170)
    rows = [*first, *second, *curve(*losses[240:], first=240)]

    assert criticals(rows) == [("zero-loss", 51)]


def test_zeros_after_a_steep_descent_are_no_rounding():
    norms = [3.0, 2.0, 2.0, 1.0, *[0.0] * 12]
    run_rows = with_norms(*norms, losses=[11.0, 7.0, 4.0, 2.0, *[0.0] * 12])

    assert criticals(run_rows) == [("zero-loss", 13)]


# --- a training that begins again -----------------------------------------------------------------

FIRST = [10.5 * math.exp(-i / 5) + 2 for i in range(20)]


@pytest.mark.parametrize("times", [1.0, 1.15, 1.3])
def test_a_second_beginning_before_row_30_is_found_by_an_opening_that_differs(times):
    """Other batches or another seed open differently; the step counter begins again too."""
    rows = [*curve(*FIRST), *curve(*(times * x for x in FIRST))]

    (again,) = [a for a in alerts(rows) if a.check == "weights-reset"]
    assert again.row == 23 and mentions(again.message, "first rows", "again", "step 0")


@pytest.mark.parametrize(
    ("again", "count"),
    [
        ([3.4, 0.47, 0.31], 1),
        ([3.4, 0.47, 0.14], 0),  # the third row is another
        ([0.41, 0.36, 0.25], 0),  # weights that have learned
    ],
)
def test_a_run_of_three_rows_that_begins_again_is_found(again, count):
    """A row an epoch: the step counter begins again too."""
    rows = [*curve(2.66, 0.36, 0.25, first=1), *curve(*again, 0.2, 0.15, first=1)]

    assert len([a for a in alerts(rows) if a.check == "weights-reset"]) == count


def test_a_resume_of_a_young_run_is_no_second_beginning():
    rows = [*curve(*FIRST), *curve(*FIRST[10:], first=10)]

    assert [a for a in alerts(rows) if a.severity == "critical"] == []


# --- what alerts say ------------------------------------------------------------------------------


def test_a_throughput_is_reported_in_its_own_unit_and_direction():
    rates = [*noisy(518.0, 120, 0.01), *noisy(150.0, 80, 0.01)]
    times = [*noisy(2.0, 120, 0.01), *noisy(3.0, 80, 0.01)]
    losses = noisy(2.0, 200)

    by_rate = alerts([a_row(i, losses[i], tokens_per_s=rate) for i, rate in enumerate(rates)])
    (slow,) = [a for a in by_rate if a.check == "throughput-collapse"]
    assert mentions(slow.message, "tokens_per_s", "149.8", "516.9", "-71 %")

    by_time = alerts([a_row(i, losses[i], step_time_s=time) for i, time in enumerate(times)])
    (slow,) = [a for a in by_time if a.check == "throughput-collapse"]
    assert mentions(slow.message, "step_time_s", "2.991", "1.996", "+50 %")


def test_every_alert_names_the_next_action_and_the_steps_of_the_file():
    rows = curve(*noisy(2.0, 60), *[7.0] * 14, *noisy(2.0, 60), first=5000, gap=10)
    fired_alerts = alerts(rows, names=Names(first_step=1))

    assert {"loss-spike"} <= {a.check for a in fired_alerts}
    assert all(a.fix.endswith(".") for a in fired_alerts)
    spike = next(a for a in fired_alerts if a.check == "loss-spike")
    assert mentions(spike.message, "from step 5600", "ended", "step 5730")
