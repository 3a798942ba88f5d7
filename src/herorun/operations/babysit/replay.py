"""Reads the stored evidence of recorded ticks, and evaluates them again."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from herorun import __version__
from herorun.core.babysit.tick import Rules
from herorun.core.canonical_json import timestamp
from herorun.core.errors import describe_error
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.replay import Replay, ReplayResult, past_ticks, replay, totals
from herorun.core.untrusted_json import read_json
from herorun.operations.health.rules import evidence_file, rules_digest, rules_of
from herorun.runs import MonitoredRun, Run
from herorun.system import progress

if TYPE_CHECKING:
    from herorun.schemas.evaluations import ReplayAll


class Evidence:
    """The stored evidence of a run on this machine; one day is in memory at a time."""

    def __init__(self, run: MonitoredRun) -> None:
        self._run = run
        self._day = ""
        self._lines: dict[str, dict[str, Any]] = {}
        self._problem = ""

    def of(self, at: datetime) -> tuple[Mapping[str, Any] | None, str]:
        """The evidence of the tick at that time, or why it is unknown."""
        path = evidence_file(self._run, at)
        if path.name != self._day:
            self._read(at)
        forms = self._lines.get(timestamp(at))
        if forms is not None:
            return forms, ""
        return None, self._problem or f"{path.name} has no complete line for it"

    def _read(self, at: datetime) -> None:
        path = evidence_file(self._run, at)
        self._day, self._lines, self._problem = path.name, {}, ""
        try:
            with path.open("rb") as file:
                for line in file:
                    self._take(line)
        except FileNotFoundError:
            self._problem = f"its evidence ({path.name}) is not on this machine"
        except OSError as error:
            self._problem = f"its evidence cannot be read: {describe_error(error)}"

    def _take(self, line: bytes) -> None:
        """Keep the evidence of one line; a truncated or foreign line is ignored."""
        try:
            document = read_json(line)
            at, evidence = document["at"], document["evidence"]
        except (ValueError, KeyError, TypeError):
            return
        if isinstance(at, str) and isinstance(evidence, dict):
            self._lines[at] = evidence


def replays(run: MonitoredRun, rules: Rules, since: datetime | None = None) -> Iterator[Replay]:
    """Every recorded tick since `since`, evaluated again by these rules. Nothing is written."""
    evidence, digest = Evidence(run), rules_digest(rules)
    ticks = list(past_ticks(run.record.lines(), since))
    for number, past in enumerate(ticks):
        progress.progress("judging recorded ticks", number, len(ticks))
        forms, why_lost = evidence.of(past.observed.at)
        yield replay(past, forms, why_lost, rules, digest)
    progress.progress("judging recorded ticks", 1, 1)


@dataclass(frozen=True)
class ReplayedTicks:
    """The result of a replay, for people and programs."""

    slug: str
    since: datetime | None
    rules: str  # digest of today's rules
    ticks: tuple[Replay, ...]

    @property
    def code(self) -> int:
        results = {tick.result for tick in self.ticks}
        if ReplayResult.DIFFERS in results:
            return 1
        return 3 if ReplayResult.UNKNOWN in results or not results else 0

    def document(self) -> "ReplayAll":
        from herorun.schemas.evaluations import ReplayAll

        return ReplayAll.of(self, version=__version__, totals=totals(self.ticks))

    def lines(self) -> list[str]:
        """The ticks that differ, one line each, and a summary."""
        lines = []
        for tick in self.ticks:
            if tick.result is not ReplayResult.SAME:
                rules = (
                    "the same rules give another result"
                    if tick.same_rules
                    else f"recorded by herorun {tick.version}; this version gives another result"
                ) + (" (recorded -> this version):" if tick.differences else "")
                reason = f"{tick.result}: {tick.why}" if tick.why else rules
                lines.append(f"tick of {timestamp(tick.at)}: {reason}")
                lines += [f"  {message}" for message in (*tick.interventions, *tick.differences)]
        counts = totals(self.ticks)
        others = sum(not tick.same_rules for tick in self.ticks)
        with_others = (
            f"; {others} of them recorded with another version, threshold, policy or waiver"
            if others
            else ""
        )
        lines.append(
            f"{self.slug}: {count(counts['ticks'], 'tick')}: {counts['same']} as recorded, "
            f"{counts['differs']} different, {counts['unknown']} unknown{with_others}"
        )
        return lines if self.ticks else [f"{self.slug}: {self._why_none()}"]

    def _why_none(self) -> str:
        if self.since is None:
            return f"no tick is recorded yet; `herorun status {self.slug}` shows the run's state"
        return f"no tick is recorded since {timestamp(self.since)}: choose an earlier --since"


def replay_run(run: Run, since: datetime | None) -> ReplayedTicks:
    """Every recorded tick, evaluated by today's rules."""
    rules = rules_of(run)
    return ReplayedTicks(run.slug, since, rules_digest(rules), tuple(replays(run, rules, since)))
