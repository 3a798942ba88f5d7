from builders import a_row
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState

NAMES = Names()


def rises(*losses: float) -> list[tuple[int, int, int, bool]]:
    """First step, last step, rows and whether it lasts, of each rise of `eval/loss`."""
    rows = [a_row(step, **{"eval/loss": loss}) for step, loss in enumerate(losses)]
    metrics = summarise(fold_rows(MetricsState(), rows, NAMES), NAMES)
    assert metrics
    return [(e.first_step, e.last_step, e.rows, e.open) for e in metrics.of("overfit")]


def test_a_falling_loss_is_no_rise() -> None:
    assert rises(3.0, 2.5, 2.0, 2.0) == []


def test_noise_below_the_bound_is_no_rise() -> None:
    assert rises(2.0, 2.09, 2.0) == []


def test_a_rise_lasts_from_its_first_row() -> None:
    assert rises(2.0, 2.2, 2.4) == [(2, 3, 2, True)]


def test_a_rise_ends_with_the_first_row_back() -> None:
    assert rises(2.0, 2.2, 1.9) == [(2, 2, 1, False)]


def test_rows_in_many_calls_and_in_one_are_the_same() -> None:
    rows = [a_row(step, **{"eval/loss": loss}) for step, loss in enumerate((2.0, 2.2, 2.4, 1.9))]
    state = MetricsState()
    for row in rows:
        state = fold_rows(state, [row], NAMES, keep_closed=True)
    whole = fold_rows(MetricsState(), rows, NAMES)
    assert summarise(state, NAMES) == summarise(whole, NAMES)
