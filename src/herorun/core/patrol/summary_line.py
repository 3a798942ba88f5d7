"""The one line of a patrol, printed even if nothing changed: silence looks like a dead monitor.
Pure.
"""

from collections.abc import Iterator

from herorun.core.durations import format_span
from herorun.core.finding import count
from herorun.core.patrol.advice import PatrolAdvice, PatrolState
from herorun.core.patrol.decisions import ChainFact, JobFact
from herorun.core.patrol.format import short_figures, size
from herorun.core.patrol.observation import (
    ChainState,
    Count,
    DiskRoom,
    HostObservation,
    LogEnd,
    MachineUnread,
    MemoryUse,
    PreviousTick,
)
from herorun.core.patrol.risks import mean_use
from herorun.core.patrol.state import chain_fact, fresh, job_fact_of


def patrol_line(
    observation: HostObservation, advice: PatrolAdvice, before: PreviousTick | None = None
) -> str:
    why = observation.why if not observation.unreachable else ""
    parts = [
        f"{_state_of(observation, advice)}{f' ({why})' if why else ''}",
        *filter(None, [advice.monitor]),
        *_detail_facts(observation, advice),
        *_summary_parts(observation, before),
    ]
    if before is not None and not observation.unreachable:  # a failed read shows no change
        parts.append(_describe_changed(observation, advice, before))
    return f"{observation.at:%Y-%m-%dT%H:%M:%SZ} {observation.name}: {'; '.join(parts)}"


def _state_of(observation: HostObservation, advice: PatrolAdvice) -> str:
    """A job that ended well is not down, though something that was declared is missing."""
    is_down = advice.state is PatrolState.DOWN
    has_ended = not observation.unreachable and job_fact_of(observation) is JobFact.ENDED
    return "not done" if is_down and has_ended else advice.state.value


def _detail_facts(observation: HostObservation, advice: PatrolAdvice) -> Iterator[str]:
    """The job and its chain, each by itself, where there is a chain."""
    chain = chain_fact(observation)
    if chain is ChainFact.NONE or observation.unreachable:
        return
    job = job_fact_of(observation)
    if job.value != advice.state.value and job is not JobFact.ALIVE:
        yield f"job {job}"
    stage = observation.chain.stage if isinstance(observation.chain, ChainState) else ""
    state = "not running" if chain is ChainFact.GONE else chain  # it may never have been started
    yield f"chain {state}{f' ({stage})' if chain is ChainFact.RUNNING else ''}"


def _summary_parts(observation: HostObservation, before: PreviousTick | None) -> Iterator[str]:
    if observation.unreachable:
        yield observation.unreachable.rstrip(".")
        return
    yield from _summarise_log(observation, before)
    if observation.markers:
        fresh_ones = sum(fresh(observation, path) is True for path in observation.markers)
        yield f"markers {fresh_ones}/{len(observation.markers)}"
    if observation.results:
        present = sum(
            output is not None and not isinstance(output, MachineUnread)
            for output in observation.results.values()
        )
        yield f"results {present}/{len(observation.results)}"
    for copy in observation.copies:
        yield f"files {_count_files(copy.remote)}/{_count_files(copy.local)}"
    yield from _machine(observation)


def _count_files(count: Count | MachineUnread | None) -> str:
    return "?" if isinstance(count, MachineUnread) else str(count.files if count else 0)


def _summarise_log(observation: HostObservation, before: PreviousTick | None) -> Iterator[str]:
    log = observation.log
    if isinstance(log, MachineUnread):
        yield f"log unknown: {log.why}"
    if not isinstance(log, LogEnd):
        return
    age = f" ({format_span(log.age)} ago)" if log.age is not None else ""
    gain_text = _describe_gain(log.step, before, observation)
    if log.line:
        yield f"{short_figures(log.line)[:120]}{gain_text}{age}"
    elif log.age is not None:
        yield f"log written {format_span(log.age)} ago"


def _describe_gain(
    step: int | None, before: PreviousTick | None, observation: HostObservation
) -> str:
    if step is None or before is None or before.step is None:
        return ""
    seconds = (observation.at - before.at).total_seconds()
    return f" [{step - before.step:+d} steps in {format_span(seconds)}]"


def _machine(observation: HostObservation) -> Iterator[str]:
    if isinstance(observation.gpus, tuple) and observation.gpus:
        yield f"{count(len(observation.gpus), 'GPU')} {mean_use(observation.gpus):.0f}% busy"
    elif isinstance(observation.gpus, MachineUnread):
        yield f"gpu unknown: {observation.gpus.why}"
    if isinstance(observation.memory, MemoryUse) and observation.memory.share is not None:
        yield f"host memory {observation.memory.share:.0%} used"
    elif isinstance(observation.memory, MachineUnread):
        yield f"host memory unknown: {observation.memory.why}"
    if isinstance(observation.memory, MemoryUse) and observation.memory.oom_kill:
        yield f"oom_kill {observation.memory.oom_kill}"
    rooms = [room for room in observation.disks.values() if isinstance(room, DiskRoom)]
    if rooms:
        least = min(rooms, key=lambda room: room.free)
        yield f"disk {size(least.free)} free"
        inodes = [room.inodes_free / room.inodes for room in rooms if room.inodes]
        yield from (f"inodes {share:.0%} free" for share in sorted(inodes)[:1])
    elif observation.disks:
        yield "disk unknown"


def _describe_changed(
    observation: HostObservation, advice: PatrolAdvice, before: PreviousTick
) -> str:
    if facts_of(observation, advice) == before.facts:
        return f"nothing changed since {before.at:%H:%MZ}"
    return f"changed since {before.at:%H:%MZ}"


def facts_of(observation: HostObservation, advice: PatrolAdvice) -> str:
    """What counts as a change: not the time, the load or a percentage."""
    log = observation.log if isinstance(observation.log, LogEnd) else LogEnd()
    counts = [(copy.path, copy.is_complete) for copy in observation.copies]
    facts: list[object] = [
        advice.state.value,
        log.step,
        log.line if log.step is None else "",
        log.failure,
        chain_fact(observation).value,
        counts,
    ]
    facts += [
        sorted(path for path in observation.markers if fresh(observation, path)),
        [each.row for each in advice.advice if each.critical],
    ]
    return repr(facts)


def news_facts(observation: HostObservation, advice: PatrolAdvice) -> list[str]:
    """What a person is notified of: no step, no load, no percentage."""
    log = observation.log if isinstance(observation.log, LogEnd) else LogEnd()
    markers = sorted(path for path in observation.markers if fresh(observation, path))
    quiet = ("neighbour", "threads", "data-bound", "idle", "unmonitored")
    rows = sorted(each.row for each in advice.advice if each.critical or each.row not in quiet)
    return [
        advice.state.value,
        chain_fact(observation).value,
        log.failure,
        *markers,
        *rows,
    ]


def movement_of(observation: HostObservation) -> str:
    """Values that change while a run trains: in a stall none of them does."""
    log = observation.log if isinstance(observation.log, LogEnd) else LogEnd()
    markers = sorted(path for path in observation.markers if fresh(observation, path))
    copies = [copy.remote for copy in observation.copies]
    newest = observation.output_age is not None and observation.output_age < 60
    return repr(
        [
            log.line,
            log.step,
            log.size,
            markers,
            copies,
            observation.at.timestamp() if newest else "",
        ]
    )
