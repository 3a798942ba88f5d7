"""Risks of a running job: its log, GPUs, memory, disks and chain. Pure."""

from collections.abc import Iterator

from herorun.core.durations import format_span
from herorun.core.patrol.advice import Advice, PatrolCommands, PatrolState
from herorun.core.patrol.decisions import JobFact
from herorun.core.patrol.format import size
from herorun.core.patrol.observation import (
    DiskRoom,
    Gpu,
    HostObservation,
    LogEnd,
    MachineUnread,
    MemoryUse,
    PreviousTick,
)
from herorun.core.patrol.state import is_success_alone, job_fact_of, trained_of

FULL = 0.05  # share of a disk's bytes or inodes below which it is nearly full
RECENT = 120.0  # seconds: a log that was written since then advances
SILENT = 1800.0  # seconds without a line after which a log counts as frozen
IDLE = 5.0  # per cent of a GPU below which it waits
BUSY = 2.0  # times the number of CPUs
HEALTHY = 60.0  # per cent of a GPU above which it does not wait for the processors
BUSY_SHARE = 0.9  # share of the processors that we may use


def risks(
    observation: HostObservation,
    ways: PatrolCommands,
    before: PreviousTick | None,
    state: PatrolState,
) -> Iterator[Advice]:
    """What is done needs no memory and no room on the disks any more."""
    has_ended = state is PatrolState.DONE or is_success_alone(observation)
    if state in (PatrolState.RUNNING, PatrolState.UNKNOWN) and not has_ended:
        if ways.unmonitored:
            yield Advice("unmonitored", ways.unmonitored, critical=ways.is_silent)
        yield from _advise_on_log(observation, ways)
        yield from _gpus(observation, before)
        yield from _threads(observation)
    yield from _chain(observation, ways)
    if not has_ended:
        yield from _machine(observation, ways, before)


def _advise_on_log(observation: HostObservation, ways: PatrolCommands) -> Iterator[Advice]:
    log = observation.log
    if not isinstance(log, LogEnd):
        return
    if log.failure:
        yield Advice("log", f"Its log shows {log.failure}: {log.excerpt}. {log.advice}")
    if log.age is None or log.age < SILENT:
        return
    if observation.output_age is None:
        yield Advice("silent", _silent_log_alone(observation, log.age, ways), ways.logs)
    elif observation.output_age < SILENT:
        yield Advice(
            "buffered",
            f"The log has not changed for {format_span(log.age)}, but a file in the output roots "
            f"changed {format_span(observation.output_age)} ago: the log may be buffered. See "
            "whether steps advance; set PYTHONUNBUFFERED=1 next time.",
            critical=False,
        )
    else:
        dri = f"the DRI, {ways.dri}," if ways.dri else "the DRI"
        stop = (
            f" If it hangs, {dri} decides: `{ways.restart}` stops it and starts it again, "
            f"`{ways.stop}` only stops it, and nothing relaunches it then."
            if ways.stop
            else ""
        )
        yield Advice(
            "silent",
            f"Neither the log nor anything in the output roots or one level below has changed for "
            f"{format_span(min(log.age, observation.output_age))}: the job may hang. Look at its "
            f"processes on {observation.where} (`nvidia-smi`, `py-spy dump`) and at the end of its "
            f"log.{stop}{' Its log:' if ways.logs else ''}",
            ways.logs,
        )


def _silent_log_alone(observation: HostObservation, age: float, ways: PatrolCommands) -> str:
    """Where the output could not be read, no restart is advised."""
    return (
        f"The log has not changed for {format_span(age)}; whether the output has changed could not "
        f"be read, so the job may hang or only print nothing. Look at its processes on "
        f"{observation.where} (`nvidia-smi`, `py-spy dump`), and whether checkpoints are still "
        f"saved.{' Its log:' if ways.logs else ''}"
    )


def _gpus(observation: HostObservation, before: PreviousTick | None) -> Iterator[Advice]:
    if not isinstance(observation.gpus, tuple) or not observation.gpus:
        return
    use = mean_use(observation.gpus)
    if use >= IDLE:
        return
    if advances(observation, before):
        yield Advice(
            "data-bound",
            f"The GPUs are at {use:.0f} % while steps advance: they wait for data. Compare the "
            "loader's workers and OMP_NUM_THREADS with the "
            f"{observation.cpus or '?'} CPUs of this machine.",
            critical=False,
        )
    else:
        yield Advice("idle", f"The GPUs are at {use:.0f} %, and no step advances.", critical=False)


def advances(observation: HostObservation, before: PreviousTick | None) -> bool:
    """Whether steps advance: since the last tick, or by a log that was just written."""
    if not isinstance(observation.log, LogEnd):
        return False
    if (
        before
        and before.step is not None
        and observation.log.step is not None
        and observation.log.step > before.step
    ):
        return True
    return observation.log.age is not None and observation.log.age < RECENT


def mean_use(gpus: tuple[Gpu, ...]) -> float:
    return sum(gpu.use for gpu in gpus) / len(gpus)


def _threads(observation: HostObservation) -> Iterator[Advice]:
    if (
        not isinstance(observation.gpus, tuple)
        or not observation.gpus
        or not uses_all_cores(observation)
    ):
        return
    use = mean_use(observation.gpus)
    if use < HEALTHY:
        most = f"{observation.cores_allowed:.0f}"
        yield Advice(
            "threads",
            f"The GPUs are at {use:.0f} % while the job's processes use all {most} processors "
            "that they may use: they have too many threads. Set OMP_NUM_THREADS so that all "
            f"workers together have {most}.",
            critical=False,
        )


def uses_all_cores(observation: HostObservation) -> bool:
    """Whether our own processes use up what they may: then the machine is not busy with somebody
    else.
    """
    return bool(
        observation.cores_allowed
        and observation.cores_used is not None
        and observation.cores_used >= BUSY_SHARE * observation.cores_allowed
    )


def _chain(observation: HostObservation, ways: PatrolCommands) -> Iterator[Advice]:
    chain = observation.chain
    if chain is None or isinstance(chain, MachineUnread) or not chain.failed or chain.runs:
        return
    log = f" Its log is {ways.chain_log} on {observation.where}." if ways.chain_log else ""
    message = f"The chain has failed: {chain.failed}.{log} Fix the cause"
    job_fact = job_fact_of(observation)
    if trained_of(observation) or (chain.waits and job_fact is JobFact.ALIVE):
        yield Advice("chain-failed", f"{message}, then start the chain again:", ways.chain)
    elif chain.waits:
        yield Advice("chain-failed", f"{message}, and start it again once the job runs.")
    else:
        when = "This chain does not wait for the training: start it only once the training is done"
        then = f"`{ways.patrol or 'herorun box patrol'}` then prints the command"
        yield Advice("chain-failed", f"{message}. {when}; {then}.")


def _machine(
    observation: HostObservation, ways: PatrolCommands, before: PreviousTick | None
) -> Iterator[Advice]:
    for path, room in observation.disks.items():
        if isinstance(room, DiskRoom):
            yield from _full(path, room)
    memory = observation.memory
    if not isinstance(memory, MemoryUse):
        return
    if memory.share is not None and memory.share > ways.memory:
        yield Advice(
            "memory",
            f"Memory is at {memory.share:.0%} of its limit: the kernel kills at 100 %. Use "
            "fewer workers, or a larger machine.",
        )
    elif (
        _is_overloaded(observation) and memory.share is not None and not uses_all_cores(observation)
    ):
        message = (
            f"The machine is busy (load {observation.load:.0f} on {observation.cpus} CPUs), yet "
            "this cgroup has room: a noisy neighbour."
        )
        yield Advice("neighbour", message, critical=False)
    if before and before.oom_kill is not None and (memory.oom_kill or 0) > before.oom_kill:
        yield Advice(
            "oom-kill",
            f"The kernel has killed {(memory.oom_kill or 0) - before.oom_kill} processes for "
            "lack of memory since the last tick.",
        )


def _is_overloaded(observation: HostObservation) -> bool:
    return bool(
        observation.load and observation.cpus and observation.load > BUSY * observation.cpus
    )


def _full(path: str, room: DiskRoom) -> Iterator[Advice]:
    if room.size and room.free < FULL * room.size:
        yield Advice(
            "disk",
            f"{path}: {size(room.free)} of {size(room.size)} are free. Free space before a "
            "checkpoint cannot be saved.",
        )
    if room.inodes and room.inodes_free < FULL * room.inodes:
        yield Advice(
            "inodes",
            f"{path}: {room.inodes_free} of {room.inodes} inodes are free. Many small files use "
            "up the inodes before the bytes.",
        )
