"""A run's story, tick by tick, through the real memory: what was decided is journalled as `babysit`
does.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from builders import EVERY, NOON, ROOT, healthy, some_metrics
from herorun.core.babysit.actions import Relaunch
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.tick import Rules, Tick, tick
from herorun.core.canonical_json import canonical
from herorun.core.check import Gate
from herorun.core.event import Decided, Done, Failed, Initialised, Intended, Launched, Launching
from herorun.core.evidence import History, Job, Metrics, Now, Unfinished
from herorun.core.finding import Waiver
from herorun.core.journal import Memory, fold
from herorun.core.recovery.policy import RecoveryPolicy
from herorun.discover import checks


def launch_events(number: int, at: datetime, relaunch_of: str = "") -> list[Any]:
    name = f"tiny-{number}"
    plan = {"temporary_root": {"value": None, "source": ""}}
    return [
        Launching(
            at=at,
            instance=name,
            number=number,
            plan=plan,
            plan_digest="sha256:p1a4",
            why="why",
            contract_file="runs/tiny.toml",
            relaunch_of=relaunch_of,
        ),
        Launched(
            at=at,
            instance=name,
            number=number,
            job=f"job-{name}",
            plan_digest="sha256:p1a4",
            output_root=ROOT,
            commit="c0ffee",
            entry={},
            relaunch_of=relaunch_of,
        ),
    ]


def first_memory() -> Memory:
    start = NOON - timedelta(hours=1)
    first_tick = Decided(at=NOON - EVERY, run="healthy", monitor="fresh", progress="~1/2")
    posts = [Done(start, f"tell/tiny-1/{what}", 1) for what in ("first-step", "first-checkpoint")]
    return fold([Initialised(start, "tiny", {}), *launch_events(1, start), first_tick, *posts])


class Story:
    """Ticks through evidence. `fails` names the ticks at which a relaunch cannot be submitted."""

    def __init__(
        self,
        policy: RecoveryPolicy | None = None,
        waivers: Iterable[Waiver] = (),
        fails: Iterable[int] = (),
    ) -> None:
        self.memory = first_memory()
        self.rules = Rules(checks(Gate.HEALTH), policy or RecoveryPolicy(), tuple(waivers))
        self.fails = frozenset(fails)

    def ticks(
        self, rounds: Iterable[Mapping[Any, Any]], every: timedelta = EVERY
    ) -> Iterator[Tick]:
        for index, changes in enumerate(rounds):
            now = NOON + index * every
            job = changes.get(Job)
            wrote = job.ended if isinstance(job, Job) and job.ended else now
            evidence = {
                **healthy(Gate.HEALTH),
                **self._known_evidence(now, index, wrote),
                **changes,
            }
            turn = tick(self.memory.alerts, self.memory.ledger, evidence, self.rules, now)
            self._journal(turn, index in self.fails)
            yield turn

    def _known_evidence(self, now: datetime, index: int, wrote: datetime) -> dict[Any, Any]:
        """What moves by itself: the clock, the memory, and the newest row, until the job has
        ended.
        """
        rows = some_metrics(100 + index, advanced_at=wrote - timedelta(seconds=20))
        return {
            Now: Now(now),
            History: self.memory.history,
            Unfinished: self.memory.unfinished_actions,
            Metrics: rows,
        }

    def _journal(self, turn: Tick, submit_fails: bool) -> None:
        alerts = (*turn.alerts.values(), *turn.ended)
        events: list[Any] = [
            Decided(
                at=turn.at,
                run=turn.run,
                monitor=turn.monitor,
                progress="~1/2",
                alerts=alerts,
                failure=turn.ending,
            )
        ]
        for action in turn.actions:
            attempt = self.memory.attempt(action.key)
            events.append(Intended(at=turn.at, key=action.key, attempt=attempt, what=action.why))
            if isinstance(action, Relaunch) and submit_fails:
                events.append(Failed(turn.at, action.key, attempt, "no answer"))
                continue
            if isinstance(action, Relaunch):
                events += launch_events(self.memory.next_number, turn.at, action.instance)
            events.append(Done(turn.at, action.key, attempt))
        self.memory = fold(events, self.memory)


def actions(
    evidence: Iterable[Mapping[Any, Any]], every: timedelta = EVERY, **changes: Any
) -> list[list[str]]:
    """What was done at each tick, by kind."""
    return [
        [type(action).__name__ for action in turn.actions]
        for turn in Story(**changes).ticks(evidence, every)
    ]


def firing(turn: Tick) -> list[str]:
    return [alert.check for alert in turn.alerts.values() if alert.state is AlertState.FIRING]


def canonical_ticks(evidence: Iterable[Mapping[Any, Any]]) -> str:
    """Every tick in canonical form, one a line."""
    return "\n".join(
        canonical([t.at, t.run, t.monitor, t.findings, list(t.alerts.values()), t.actions])
        for t in Story().ticks(evidence)
    )
