"""How rows are cut, repeated, reordered, reloaded or shifted in time changes nothing."""

import json
import math
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from builders import a_row
from curves import NAMES, NAN, curve, fold_curve, summarise
from herorun.core.canonical_json import canonical
from herorun.core.decode import decode
from herorun.core.detectors import (
    band,
    baseline,
    excursion,
    first_rows,
    grad_norm,
    loss,
    pipeline,
    reorder,
    resume,
    throughput,
    windows,
)
from herorun.core.detectors.excursion import MAX_CLOSED
from herorun.core.detectors.pipeline import rules_digest
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.state import MetricsState

losses = st.one_of(
    st.floats(1.8, 2.2),
    st.floats(3.1, 9.0),
    st.just(NAN),
    st.just(math.inf),
    st.none(),
    st.just(0.0),
)
norms = st.one_of(st.floats(0.1, 2.0), st.just(NAN), st.just(50.0))
PLACES = st.lists(st.integers(0, 90), max_size=6)
FEW = settings(max_examples=60, deadline=None)


@st.composite
def runs(draw, moves=(1, 1, 1, 1, 0, 3, -4, -20)):
    """Rows of a run: calm first, then anything, with steps that repeat, skip and go back."""
    calm = draw(st.integers(35, 60))
    rows, step = curve(*[2.0] * calm, grad_norm=1.0), calm - 1
    for move, value, size in draw(
        st.lists(st.tuples(st.sampled_from(moves), losses, norms), max_size=25)
    ):
        step = max(step + move, 0)
        rows.append(a_row(step, value, grad_norm=size, step_time_s=size if size == size else 1.0))
    return rows


def cut(values, places):
    edges = [0, *sorted(place % (len(values) + 1) for place in places), len(values)]
    return [values[a:b] for a, b in pairwise(edges)]


def bare(state):
    """As text, where NaN equals itself, without what was closed since the last look."""
    return canonical(fold_curve([], state))


@FEW
@given(runs(), PLACES)
def test_chunks(rows, places):
    state, ended_excursions = MetricsState(), []
    for part in cut(rows, places):
        state = fold_curve(part, state)
        ended_excursions += [e for watch in state.watches() for e in watch.closed]
    whole = fold_curve(rows)

    assert bare(state) == bare(whole)
    if len(ended_excursions) < MAX_CLOSED:
        assert sorted(map(repr, ended_excursions)) == sorted(
            repr(e) for watch in whole.watches() for e in watch.closed
        )


@FEW
@given(runs(), PLACES)
def test_kept_excursions_do_not_depend_on_it_either(rows, places):
    state = MetricsState()
    for part in cut(rows, places):
        state = fold_curve(part, state, keep_closed=True)

    assert canonical(state) == canonical(fold_curve(rows))


@FEW
@given(runs(), PLACES)
def test_killed_and_loaded_again(rows, places):
    state = MetricsState()
    for part in cut(rows, places):
        state = decode(
            MetricsState, json.loads(canonical(fold_curve(part, state, keep_closed=True)))
        )

    assert canonical(state) == canonical(fold_curve(rows))


@FEW
@given(runs(moves=(1, 1, 2)), st.data())
def test_duplicates(rows, data):
    twice = []
    for i, row in enumerate(rows):
        twice.append(row)
        if data.draw(st.booleans()):
            twice.append(rows[max(i - data.draw(st.integers(0, WAITING - 1)), 0)])

    assert repr(replace(summarise(fold_curve(twice)), rows=0, late=0)) == repr(
        replace(summarise(fold_curve(rows)), rows=0)
    )


@FEW
@given(runs(moves=(1, 1, 2)), st.integers(1, WAITING - 1))
def test_rows_a_little_out_of_order(rows, distance):
    mixed_rows = [
        row
        for i in range(0, len(rows), distance + 1)
        for row in reversed(rows[i : i + distance + 1])
    ]

    assert repr(summarise(fold_curve(mixed_rows))) == repr(summarise(fold_curve(rows)))


@FEW
@given(runs(), st.integers(-(10**6), 10**6))
def test_another_time_of_day(rows, seconds):
    shift = timedelta(seconds=seconds)
    moved_summary = summarise(fold_curve([replace(row, at=row.at + shift) for row in rows]))
    whole = summarise(fold_curve(rows))

    assert repr(replace(moved_summary, advanced_at=whole.advanced_at)) == repr(whole)


@FEW
@given(runs(moves=(1, 1, 2)), st.floats(0.01, 100.0))
def test_another_unit(rows, scale):
    """Rules are ratios: a loss in other units is out of bounds at the same rows."""
    other = [
        replace(row, values={**row.values, "train/loss": row.values["train/loss"] * scale})
        for row in rows
        if "train/loss" in row.values
    ]
    same = [row for row in rows if "train/loss" in row.values]

    def stretches(result):
        return [(e.first_step, e.rows, e.open) for e in summarise(fold_curve(result)).spikes]

    assert stretches(other) == stretches(same)


@FEW
@given(runs())
def test_no_non_finite_row_is_ever_lost(rows):
    metrics = {excursion.metric for excursion in summarise(fold_curve(rows)).non_finite}
    first: dict = {}
    for row in rows:
        for name, value in row.values.items():
            first.setdefault((name, row.step), value)

    broken_names = {name for (name, _), value in first.items() if not math.isfinite(value)}
    assert broken_names & {"train/loss", "grad_norm"} <= metrics


@FEW
@given(runs(moves=(1, 1, 2)), st.integers(0, 60), st.sampled_from(["grad_norm", "lr"]))
def test_a_metric_that_is_renamed_is_missed_from_there(rows, place, metric):
    """It says how many rows lack it, however they are cut, and nothing else of the run changes."""
    watching = replace(NAMES, declared=(metric,))
    start = [replace(row, values={**row.values, metric: 1.0}) for row in rows]
    after = [replace(row, values=rename_metric(row.values, metric)) for row in start[place:]]
    (_, missing_metrics) = summarise(
        fold_curve([*start[:place], *after], names=watching), watching
    ).presence

    assert (missing_metrics.metric, missing_metrics.rows) == (metric, len(after))
    assert missing_metrics.seen == (place > 0)


def rename_metric(values, metric):
    return {f"optim/{name}" if name == metric else name: value for name, value in values.items()}


@FEW
@given(runs(moves=(1, 1, 2)), st.integers(1, 34))
def test_a_loss_that_is_renamed_in_the_middle_is_one_loss(rows, place):
    """Both names are known ones: the trend continues, and a step that has both is judged once."""
    other = [replace(row, values={NEW.get(k, k): v for k, v in row.values.items()}) for row in rows]

    assert canonical(fold_curve([*rows[:place], *other[place:]]).loss) == canonical(
        fold_curve(rows).loss
    )


NEW = {"train/loss": "loss"}


def test_a_fold_leaves_the_state_before_it_alone():
    before = fold_curve(curve(*[2.0] * 60, grad_norm=1.0, lr=0.1))
    record = canonical(before)
    fold_curve(curve(*[9.0] * 60, first=60, grad_norm=99.0, lr=0.2), before)

    assert canonical(before) == record


def test_the_rules_have_a_digest_that_names_their_constants(monkeypatch):
    before = rules_digest()
    for module in (loss, first_rows, grad_norm, reorder, resume, throughput, band, windows):
        for place in range(len(module.RULES)):
            with monkeypatch.context() as patch:
                other = [*module.RULES]
                other[place] += 1
                patch.setattr(module, "RULES", tuple(other))
                assert rules_digest() != before
    assert rules_digest() == before
    assert set(pipeline.TREND) == {
        baseline.HALF_LIFE,
        baseline.SETTLE,
        baseline.YOUNG,
        baseline.WEIGHT,
        baseline.CLIP,
        baseline.LAG,
        baseline.FOLLOW,
        baseline.FLOOR,
    }
    assert pipeline.STREAK == (excursion.MISSES, excursion.MAX_CLOSED) and NAMES.first_step == 0
