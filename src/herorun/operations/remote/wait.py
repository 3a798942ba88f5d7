"""`herorun box wait`: short queries in a bounded loop that always ends with a reason. One per run
on this machine.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from herorun.core.errors import EndedBySignal, HerorunError, WrongUse, describe_error
from herorun.core.evidence import Job, reached_step
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.patrol.advice import PatrolAdvice, PatrolState
from herorun.core.patrol.observation import HostObservation
from herorun.core.patrol.summary_line import movement_of, patrol_line
from herorun.core.patrol.wait_condition import WaitCondition, WaitOutcome, judge_condition
from herorun.core.ports import scheduler_traits
from herorun.core.redaction.scrub import scrub
from herorun.operations.health.evaluate import evaluate
from herorun.operations.remote.patrol import decide_advice
from herorun.operations.remote.probe import probe_host
from herorun.runs import MonitoredRun, Run
from herorun.system import process_registry
from herorun.system.clock import now

W = TypeVar("W", bound=MonitoredRun)
WaitObservation: TypeAlias = tuple[
    HostObservation, PatrolAdvice, Mapping[str, Any]
]  # a probe, the advice by it, and other facts
MAX_WAIT = timedelta(days=30)  # no wait lasts longer


@dataclass(frozen=True)
class WaitEnd:
    """The end of a wait."""

    code: int  # 0 reached, 1 impossible or a person must check, 3 the last query failed
    message: str
    line: str
    polls: int
    assessment: PatrolAdvice | None


def wait_for(
    run: W,
    observer: Callable[[W, WaitCondition], Callable[[], WaitObservation]],
    condition: WaitCondition,
    every: float,
    most: int,
    show: Callable[[str], None],
) -> WaitEnd:
    """Query at most `most` times, `every` seconds apart. A failed query does not end the loop.

    `observer` returns the query for such a run, or raises if it can never observe the condition.
    """
    must_end(every, most)
    see = observer(run, condition)
    slug, top, began = run.slug, run.place.repository, now().timestamp()
    enders: list[str] = []
    previous = signal.signal(signal.SIGTERM, lambda number, frame: _end_wait(slug, top, enders))
    try:
        with process_registry.register_watcher(
            "wait", slug, top, str(condition), began, began + every * most
        ) as own:
            for other in retire_earlier_waits(own):
                show(
                    f"the earlier wait of {slug} (process {other.pid}, for {other.what}) is "
                    "ended: a run has one wait"
                )
            again = f"herorun box patrol {slug}" if run.name_to_type else run.status_command
            return _loop(see, condition, every, most, again)
    except KeyboardInterrupt:
        if not enders:
            raise
        raise EndedBySignal(f"This wait of {slug} is ended by {enders[0]}.") from None
    finally:
        signal.signal(signal.SIGTERM, previous)


def observer_of_run(run: Run, condition: WaitCondition) -> Callable[[], WaitObservation]:
    """Queries the machine, the scheduler and the tracker. `WrongUse` for a marker that cannot be
    read.
    """
    if (
        not run.place.reach
        and condition.marker
        and not scheduler_traits(run.scheduler).leaves_files
    ):
        raise WrongUse(
            f"--marker needs a machine to read it on, and {run.contract.scheduler.kind} has none: "
            "use --state or --step."
        )

    def see() -> WaitObservation:
        run_facts = _observe_run(run, condition)
        # after them: the line that is printed is never older than the state that ended the wait
        observation = probe_host(run, condition.marker)
        return observation, decide_advice(run, observation), run_facts

    return see


def must_end(every: float, most: int) -> None:
    if every < 1 or most < 1 or every * most > MAX_WAIT.total_seconds():
        raise WrongUse(
            "--every must be at least 1s, --max at least 1, and --every times --max at most 30d."
        )


def retire_earlier_waits(
    own: process_registry.RegisteredWatcher,
) -> list[process_registry.RegisteredWatcher]:
    """Ask earlier waits for the same run to end; returns those that were asked."""
    others = [
        each
        for each in process_registry.registered_watchers().values()
        if each and each.same_run == own.same_run and each.pid != own.pid
    ]
    return [other for other in others if process_registry.retire(other)]


def _loop(
    see: Callable[[], WaitObservation],
    condition: WaitCondition,
    every: float,
    most: int,
    again: str,
) -> WaitEnd:
    movement, moved_at = "", now()
    advice: PatrolAdvice | None = None
    line = ""
    for poll in range(1, most + 1):
        began = time.monotonic()
        try:
            observation, advice, facts = see()
            line = scrub(patrol_line(observation, advice))
            if advice.state is not PatrolState.UNKNOWN and movement_of(observation) != movement:
                movement, moved_at = movement_of(observation), observation.at
            outcome, why = judge_condition(
                condition, observation, advice.state, facts, observation.at - moved_at
            )
        except (HerorunError, OSError) as error:
            if isinstance(error, WrongUse):
                raise  # the next poll would say the same
            outcome, why, advice = WaitOutcome.WAIT, scrub(describe_error(error)), None
        if outcome is not WaitOutcome.WAIT:
            return WaitEnd(int(outcome is WaitOutcome.OVER), why, line, poll, advice)
        if poll < most:
            time.sleep(max(0.0, every - (time.monotonic() - began)))
    blind = advice is None or advice.state is PatrolState.UNKNOWN
    return WaitEnd(
        3 if blind else 1,
        f"stopped waiting after {count(most, 'query', 'queries')} (--max): {why.rstrip('.')}. "
        f"To wait longer, raise --max; `{again}` checks once",
        line,
        most,
        advice,
    )


def _observe_run(run: Run, condition: WaitCondition) -> dict[str, Any]:
    """What the machine alone does not show: the job's and the run's state, and the tracker's
    step.
    """
    if not (condition.state or condition.step is not None) or run.record.memory().current is None:
        return {}
    facts: dict[str, Any] = {}
    with suppress(HerorunError, OSError):
        tick, evidence = evaluate(run)
        job = evidence.get(Job)
        facts["run"] = tick.run.value
        facts["job"] = job.state.value if isinstance(job, Job) else None
        facts["step"] = reached_step(evidence)
    return facts


def _end_wait(slug: str, top: str, enders: list[str]) -> None:
    """End the wait, and note what ended it: a newer wait for the same run, or a signal. Raises what
    no handler of a failed query catches.
    """
    others = process_registry.registered_watchers().values()
    newer = [e for e in others if e and (e.run, e.top) == (slug, top) and e.pid != os.getpid()]
    live = [each for each in newer if each.lives]
    by = f"process {live[-1].pid}, which waits for {live[-1].what}" if live else "a SIGTERM"
    enders.append(by)
    raise KeyboardInterrupt
