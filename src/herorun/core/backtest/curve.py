"""Runs the detectors and checks of a live run over a bare curve: which alert fires at which row.

Chunks of rows are evaluated at once; only where an alert changes is the chunk halved, until the row
is found. So a long calm curve costs one pass. The result does not depend on the chunks: once a
check fails for an excursion, it fails until the excursion ends, so none is missed within a chunk.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any

from herorun.core.babysit.ended_alerts import as_at_last_row, as_over
from herorun.core.babysit.inhibition import is_in_a_stretch, numeric_stretches
from herorun.core.check import Check, Gate, Topic, evaluate
from herorun.core.contract import Contract, contract_from
from herorun.core.detectors.excursion import MAX_CLOSED
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import (
    Cadence,
    Excursion,
    History,
    Instance,
    Metrics,
    Nothing,
    PriorLaunch,
    SourceLoss,
    UnjudgedMetric,
)
from herorun.core.finding import Finding, Outcome
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row

CHUNK = 2048
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

Key = tuple[str, str]  # check, subject
Findings = Mapping[Key, Finding]  # those that fail


def _build_base_evidence() -> dict[Any, Any]:
    """The evidence besides the metrics: a run of one instance that starts from nothing, under a
    contract that declares no order of the data: a bare curve does not say it.
    """
    instance = Instance(
        name="curve-1",
        number=1,
        job="",
        plan_digest="",
        output_root="",
        started=BEGINNING,
        commit="",
        intended=BEGINNING,
    )
    contract_tables = {
        "slug": "curve",
        "goal": "a backtest",
        "dri": "@nobody",
        "final_step": 1,
        "command": {"argv": ["true"]},
        "config": {"files": []},
        "output": {"root": "/nowhere"},
        "checkpoints": {},
        "tracker": {"kind": "jsonl"},
    }
    return {
        History: History(initialised=True, instances=(instance,)),
        Contract: contract_from(contract_tables, "a curve"),
        Cadence: Nothing(),
        PriorLaunch: Nothing(),
        SourceLoss: Nothing(),
    }


BASE_EVIDENCE: Mapping[Any, Any] = _build_base_evidence()


@dataclass(kw_only=True)
class FiredAlert:
    """One alert of a backtest. Rows are 0-based data rows."""

    check: str
    severity: str
    topic: Topic
    subject: str
    row: int
    step: int
    until_row: int | None  # None: still firing at the last row
    message: str
    fix: str = ""  # what to do next


@dataclass(kw_only=True)
class CurveBacktest:
    """One curve under way."""

    checks: Sequence[Check]
    names: Names = field(default_factory=Names)
    evidence: Mapping[Any, Any] = field(
        default_factory=lambda: BASE_EVIDENCE
    )  # besides the metrics
    state: MetricsState = field(default_factory=MetricsState)
    rows: int = 0
    alerts: list[FiredAlert] = field(default_factory=list)
    _firing: dict[Key, FiredAlert] = field(default_factory=dict)
    _muted: set[Key] = field(default_factory=set)
    _closed_keys: set[tuple[str, str, int]] = field(
        default_factory=set
    )  # excursions that are over: kind, metric, first step

    def run(self, rows: Iterable[Row]) -> list[FiredAlert]:
        """All alerts, in the order in which they fired."""
        remaining = iter(rows)
        return self.run_chunks(iter(lambda: list(islice(remaining, CHUNK)), []))

    def run_chunks(self, chunks: Iterable[Sequence[Row]]) -> list[FiredAlert]:
        """The same of rows that come many at once, as lists or as columns."""
        for chunk in filter(len, chunks):
            self.state = self._walk(self.state, chunk)
            self.rows += len(chunk)
        self._describe_open_alerts()
        return self.alerts

    def unjudged(self) -> tuple[UnjudgedMetric, ...]:
        """What the checks could not judge up to the last row: their silence proves nothing."""
        metrics = summarise(self.state, self.names)
        return metrics.unjudged if metrics else ()

    def _describe_open_alerts(self) -> None:
        """What still fires says what the last row shows, and not what the first one did."""
        metrics = summarise(self.state, self.names) if self._firing else None
        failing = self._failing(only_open(metrics)) if metrics else {}
        for key in self._firing.keys() & failing.keys():
            self._firing[key].message = as_at_last_row(failing[key].verdict.message)

    def _walk(self, state: MetricsState, chunk: Sequence[Row], offset: int = 0) -> MetricsState:
        after = fold_rows(state, chunk, self.names, seen_at=BEGINNING)
        metrics = summarise(after, self.names)
        assert metrics is not None
        first = self.rows + offset
        open_now = self._failing(only_open(metrics))
        news = self._news(metrics)
        failing = self._failing(news) if _ended_keys(news) else open_now
        known_keys = self._firing.keys() | self._muted
        has_ended = bool(known_keys) and bool(_ended_keys(metrics) - self._closed_keys)
        may_have_resolved = len(chunk) > 1 and self._may_have_resolved(state, after)
        if (
            failing.keys() == open_now.keys() == known_keys
            and not has_ended
            and not may_have_resolved
        ):
            self._note_ends(metrics)
            return after
        if len(chunk) == 1:
            self._note_ends(metrics)
            self._settle(first, chunk[0].step, news, failing, open_now)
            return after
        middle = len(chunk) // 2
        between = self._walk(state, chunk[:middle], offset)
        return self._walk(between, chunk[middle:], offset + middle)

    @staticmethod
    def _may_have_resolved(before: MetricsState, after: MetricsState) -> bool:
        """Whether an alert may have lasted for less than a chunk without leaving an excursion:
        rows were missing, or there were more excursions than are remembered.
        """
        one, other = before.steps, after.steps
        gaps = (one.gap, one.regular, one.gaps) != (other.gap, other.regular, other.gaps)
        return gaps or any(len(watch.closed) >= MAX_CLOSED for watch in after.watches())

    def _news(self, metrics: Metrics) -> Metrics:
        """The rows that wait for their order report an excursion's end again: without those that
        were reported.
        """
        return _only(
            metrics,
            lambda excursion: excursion.open or _excursion_key(excursion) not in self._closed_keys,
        )

    def _note_ends(self, metrics: Metrics) -> None:
        """One that began again at the step where it ended, as a later attempt may, has an end to
        come.
        """
        self._closed_keys |= _ended_keys(metrics)
        self._closed_keys -= _excursion_keys(metrics, is_open=True)

    def _settle(
        self, row: int, step: int, metrics: Metrics, failing: Findings, open_now: Findings
    ) -> None:
        numeric = numeric_stretches({Metrics: metrics}, failing.values(), self._by_name)
        for key in sorted(failing.keys() - self._firing.keys()):
            verdict = failing[key].verdict
            if self._topic(key) is Topic.METRIC and is_in_a_stretch(verdict.steps, numeric):
                # a value that is not finite makes the shape of the curve meaningless
                self._muted.add(key)
            else:
                self._muted.discard(key)
                self._fire(key, row, step, verdict.message)
        for key in sorted((self._firing.keys() | self._muted) - open_now.keys()):
            if key in self._firing:
                resolved_alert = self._firing.pop(key)
                resolved_alert.until_row = row
                message = failing[key].verdict.message if key in failing else resolved_alert.message
                resolved_alert.message = as_over(message)
            self._muted.discard(key)

    def _fire(self, key: Key, row: int, step: int, message: str) -> None:
        check = self._by_name[key[0]]
        new_alert = FiredAlert(
            check=check.name,
            severity=check.severity,
            topic=check.topic,
            subject=key[1],
            row=row,
            step=step,
            until_row=None,
            message=message,
            fix=check.next_action(""),
        )
        self._firing[key] = new_alert
        self.alerts.append(new_alert)

    def _topic(self, key: Key) -> Topic:
        return self._by_name[key[0]].topic

    @cached_property
    def _by_name(self) -> dict[str, Check]:
        return {check.name: check for check in self.checks}

    def _failing(self, metrics: Metrics) -> Findings:
        findings = evaluate(self.checks, {**self.evidence, Metrics: metrics})
        return {
            (finding.check, finding.verdict.subject): finding
            for finding in findings
            if finding.verdict.outcome is Outcome.FAIL
        }


def only_open(metrics: Metrics) -> Metrics:
    """The excursions that have not ended at the newest row."""
    return _only(metrics, lambda excursion: excursion.open)


def _only(metrics: Metrics, predicate: Callable[[Excursion], bool]) -> Metrics:
    return replace(
        metrics,
        spikes=tuple(filter(predicate, metrics.spikes)),
        non_finite=tuple(filter(predicate, metrics.non_finite)),
        excursions=tuple(filter(predicate, metrics.excursions)),
    )


def _ended_keys(metrics: Metrics) -> set[tuple[str, str, int]]:
    return _excursion_keys(metrics, is_open=False)


def _excursion_keys(metrics: Metrics, is_open: bool) -> set[tuple[str, str, int]]:
    every = (*metrics.spikes, *metrics.non_finite, *metrics.excursions)
    return {_excursion_key(excursion) for excursion in every if excursion.open is is_open}


def _excursion_key(excursion: Excursion) -> tuple[str, str, int]:
    return excursion.kind, excursion.metric, excursion.first_step


def judging(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The health checks that a bare curve can answer."""
    return tuple(
        c
        for c in checks
        if c.gate is Gate.HEALTH
        and Metrics in c.needs
        and set(c.needs) <= BASE_EVIDENCE.keys() | {Metrics}
    )
