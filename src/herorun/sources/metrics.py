"""What the tracker's rows amount to: only the new ones are read and folded, the rest comes from the cache.

The cache is moved on by `keep_metrics` alone, once what a tick saw is in the journal: an excursion that ended in
between would else be lost to a mere look, or to a crash.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from herorun.core.canonical import canonical, digest
from herorun.core.codec import read
from herorun.core.contract import Contract
from herorun.core.evidence import Metrics, Nothing
from herorun.core.fold import MetricsState, Names, fold_rows, rules_digest, summarise
from herorun.core.ports import Place, Tracker
from herorun.system.files import write_whole

CACHE = "metrics.json"
_read: dict[str, tuple[Metrics | None, str, MetricsState]] = {}  # by state folder, what was read last


def read_metrics(tracker: Tracker, contract: Contract, place: Place) -> Metrics | Nothing:
    """The folded state after all rows that there are now."""
    names = names_of(contract)
    cache = Path(place.state) / CACHE
    # Constants are part of the cache's name: another version folds again from the first row.
    version = digest([rules_digest(), names, contract.tracker.model_dump(mode="json")])
    state = _cached(cache, version)
    try:
        state = _catch_up(tracker, state, names)
    except FileNotFoundError:
        return Nothing("no metrics file yet")
    metrics = summarise(state, names)
    _read[place.state] = metrics, version, state
    return metrics or Nothing("no rows yet")


def keep_metrics(place: Place, seen: object) -> None:
    """What was read and `seen` need not be folded again. Without this nothing is lost but time."""
    metrics, version, state = _read.get(place.state, (None, "", MetricsState()))
    if metrics is not None and metrics is seen:
        cache = Path(place.state) / CACHE
        write_whole(cache, (canonical({"version": version, "state": state}) + "\n").encode())


def _catch_up(tracker: Tracker, state: MetricsState, names: Names) -> MetricsState:
    first = True
    while True:
        batch = tracker.read(state.cursor)
        if batch.restarted:
            state = MetricsState()
        state = fold_rows(state, batch.rows, names, batch.changed_at, keep_closed=not first)
        state = replace(state, cursor=batch.cursor, problems=(*state.problems, *batch.problems)[-20:])
        first = False
        if not batch.rows:
            return state


def names_of(contract: Contract) -> Names:
    """Which columns are which, the contract's names first."""
    told, usual = contract.tracker.metrics, Names()
    watched = tuple(name for ours, name in told.items() if ours not in ("loss", "step"))
    stated = contract.babysit.thresholds.get("metric-out-of-band", {}).get("bands", ())
    bands = [band.split() for band in stated]
    return Names(
        loss=(told["loss"],) if "loss" in told else usual.loss,
        watched=(*watched, *usual.watched),
        first_step=contract.tracker.first_step,
        norm=_first(told, ("grad_norm",), usual.norm),
        rate=_first(told, ("lr", "learning_rate"), usual.rate),
        time=_first(told, ("step_time", "step_time_s"), usual.time),
        speed=_first(told, ("tokens_per_s", "samples_per_s"), usual.speed),
        skipped=_first(told, ("skipped",), usual.skipped),
        declared=tuple(dict.fromkeys((*watched, *(band[0] for band in bands)))),
        bands=tuple((name, float(least), float(most)) for name, least, most in sorted(bands)),
        phases=tuple(sorted(phase.step for phase in contract.phase)),
    )


def _first(told: Mapping[str, str], ours: tuple[str, ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    """The contract's own name for it before the usual ones."""
    return (*(told[name] for name in ours if name in told), *usual)


def _cached(cache: Path, version: str) -> MetricsState:
    """The state of the last tick; a missing, damaged or outdated cache is no loss: all rows are folded again."""
    import json

    try:
        found = json.loads(cache.read_bytes())
        return read(MetricsState, found["state"]) if found["version"] == version else MetricsState()
    except (OSError, ValueError, KeyError, TypeError):
        return MetricsState()
