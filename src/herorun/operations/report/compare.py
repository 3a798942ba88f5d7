"""Compares two runs, two instances or two files step by step, by gates that were set before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from herorun.core.compare.gate import ComparisonGate, parse_gate
from herorun.core.compare.operand import Operand
from herorun.core.compare.verdict import compare
from herorun.core.config.diff import diff_launches
from herorun.core.contract import KeyClass
from herorun.core.detectors.names import Names
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.event import Launching
from herorun.core.finding import count
from herorun.core.journal.launch_intents import plan_values
from herorun.core.lazy_dataclass import dataclass
from herorun.core.metric_names import names_of
from herorun.core.plan import describe_differences
from herorun.operations.metrics.series import Curves, RowSeries, curves_of
from herorun.operations.report.curve_file import (
    columns_of,
    names_of as names_of_columns,
    refuse_pipe,
    rows_of,
)
from herorun.operations.report.differences import CompareOutcome
from herorun.runs import Run, watched_run
from herorun.system.metrics_cache import Point

# The fields of a plan, besides the config, that affect the training. The others are places and
# names.
TRAINS = ("code_tree", "patch", "container", "packages", "hardware")


@dataclass(frozen=True)
class Subject:
    """One side of the comparison, with its run and plan, unless it is a file."""

    side: Operand
    run: Run | None = None
    launching: Launching | None = None


def compare_two(
    start: Path,
    operands: tuple[str, str],
    gates: Sequence[str] = (),
    metrics: Sequence[str] = (),
    window: str = "",
    repeat: bool = False,
) -> CompareOutcome:
    """Compare two subjects. `WrongUse` for an unknown name, or an invalid gate or window."""
    bounds = parse_window(window)
    try:
        own_gates = [parse_gate(text) for text in gates]
    except ValueError as error:
        raise WrongUse(f"{error}.") from None
    a, b = _subject(operands[0], start), _subject(operands[1], start)
    b = replace(b, side=_shift_steps(b.side, a, b))
    kind, differs = _kind(a, b, repeat)
    result = compare(
        a.side, b.side, list(dict.fromkeys([*_gates_of(b), *own_gates])), metrics, bounds
    )
    return CompareOutcome(a.side, b.side, kind, result, differs)


def parse_window(text: str) -> tuple[int | None, int | None]:
    """`FROM:TO`, both included; either may be left out.

    >>> parse_window("100:")
    (100, None)
    """
    low, colon, high = text.partition(":")
    try:
        if text and not colon:
            raise ValueError
        bounds = tuple(
            int(each.replace(",", "").replace("_", "")) if each.strip() else None
            for each in (low, high)
        )
    except ValueError:
        raise WrongUse(
            f"--window {text!r}: write FROM:TO in steps, as in 1000:2000 or 1000:."
        ) from None
    return bounds[0], bounds[1]


def _subject(word: str, start: Path) -> Subject:
    path = start / word
    refuse_pipe(path)
    if path.suffix == ".csv" or (path.is_file() and path.suffix != ".toml"):
        return Subject(_of_file(path, word))
    slug, dash, number = word.rpartition("-")
    try:
        return _of_run(watched_run(word, start)[0])
    except WrongUse:
        if not dash or not number.isdigit():
            raise
    try:
        run = watched_run(slug, start)[0]
    except HerorunError:
        raise WrongUse(
            f"{word!r} is not a CSV file, a run, or an instance such as my-run-2."
        ) from None
    return _of_instance(run, word)


def _of_file(path: Path, word: str) -> Operand:
    series = RowSeries()
    try:
        names = names_of_columns(columns_of(path)) or Names(loss=())
        for row in rows_of(path):
            series.add(row)
    except OSError as error:
        raise WrongUse(f"{word} cannot be read: {error.strerror or error}.") from None
    return Operand(name=word, values=_last_of_each(series), names=names, attempts=_spans(series))


def _of_run(run: Run) -> Subject:
    curves, _ = curves_of(run)
    launchings = run.record.memory().launchings.values()
    newest = max(launchings, key=lambda each: each.number, default=None)
    return Subject(_side(run, run.slug, curves), run, newest)


def _of_instance(run: Run, name: str) -> Subject:
    """The rows of one instance, by their times; without times by the order of the attempts, if
    there are as many as instances.
    """
    memory = run.record.memory()
    number = next((n for n, each in enumerate(memory.instances) if each.name == name), None)
    if number is None:
        names_of_all = ", ".join(each.name for each in memory.instances) or "none"
        raise WrongUse(f"{run.slug} has no instance {name}: it has {names_of_all}.")
    curves, _ = curves_of(run)
    since = memory.instances[number].intended
    after = memory.instances[number + 1].intended if number + 1 < len(memory.instances) else None
    attempts = sorted({p.attempt for metric in curves.names for p in curves.points(metric)})
    by_order = attempts[number] if len(attempts) == len(memory.instances) else None
    own, name_too = RowSeries(), name
    for metric in curves.names:
        for point in curves.points(metric):
            if point.at is None and by_order is None:
                raise CouldNotLook(
                    f"The rows of {run.slug} have no times, and there are "
                    f"{count(len(attempts), 'attempt')} but "
                    f"{count(len(memory.instances), 'instance')}: it is unknown which rows are of "
                    f"{name}."
                )
            if point.at is None:
                name_too = f"{name} (inferred: attempt {by_order})"
                mine = point.attempt == by_order
            else:
                mine = (since is None or since <= point.at) and (after is None or point.at < after)
            if mine:
                own.put_point(metric, Point(*point))
    return Subject(_side(run, name_too, own), run, memory.launchings[name])


def _side(run: Run, name: str, curves: Curves) -> Operand:
    contract = run.contract
    return Operand(
        name=name,
        values=_last_of_each(curves),
        names=names_of(contract),
        attempts=_spans(curves),
        permanent_every=contract.checkpoints.permanent_every,
        phases=tuple((phase.name, phase.step) for phase in contract.phase),
        is_run=True,
    )


def _last_of_each(curves: Curves) -> dict[str, dict[int, float]]:
    """The values by metric and step; of a step that several attempts logged, the last attempt's,
    from which the run continued.
    """
    return {
        metric: {p.step: p.value for p in sorted(curves.points(metric), key=lambda p: p.attempt)}
        for metric in curves.names
    }


def _spans(curves: Curves) -> dict[int, tuple[int, int]]:
    spans: dict[int, tuple[int, int]] = {}
    for metric in curves.names:
        for point in curves.points(metric):
            low, high = spans.get(point.attempt, (point.step, point.step))
            spans[point.attempt] = min(low, point.step), max(high, point.step)
    return spans


def _shift_steps(side: Operand, a: Subject, b: Subject) -> Operand:
    """B's rows with A's step numbers: if the trainers count from different first steps, the runs
    are joined on completed updates.
    """
    by = a.side.names.first_step - side.names.first_step if a.side.is_run and b.side.is_run else 0
    if not by:
        return side
    values = {
        name: {step + by: value for step, value in curve.items()}
        for name, curve in side.values.items()
    }
    spans = {n: (low + by, high + by) for n, (low, high) in (side.attempts or {}).items()}
    return replace(side, values=values, attempts=spans)


def _gates_of(b: Subject) -> list[ComparisonGate]:
    """The gates of B's committed contract: uncommitted gates may have been set after the
    results.
    """
    if b.run is None:
        return []
    signed_values = b.run.committed_contract
    return [parse_gate(text) for text in signed_values.compare.gates] if signed_values else []


def _kind(a: Subject, b: Subject, repeat: bool) -> tuple[str, tuple[str, ...]]:
    """The relation of the two, and the differences of their plans that can affect the training."""
    one, other = a.launching, b.launching
    if one is None or other is None or b.run is None or a.run is None:
        return ("repeat" if repeat else "curves"), ()
    before, after = plan_values(one.plan), plan_values(other.plan)
    changes = [
        str(change)
        for change in diff_launches(before, after, b.run.contract.config)
        if change.steers or change.kind is KeyClass.RESUME_BREAKING
    ]
    changes += describe_differences(
        {name: before.get(name) for name in TRAINS}, {name: after.get(name) for name in TRAINS}
    )
    if repeat or not changes:
        return ("resume" if a.run.slug == b.run.slug else "repeat"), tuple(changes)
    return "change", tuple(changes)
