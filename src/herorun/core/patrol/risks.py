"""Risks of a running job: its log, GPUs, memory, disks and chain. Pure."""

from collections.abc import Iterator

from herorun.core.durations import say_span
from herorun.core.patrol.advice import Advice, Ways
from herorun.core.patrol.format import size
from herorun.core.patrol.observation import (
    Before,
    Blind,
    DiskRoom,
    Gpu,
    HostObservation,
    MemoryUse,
    Own,
)

FULL = 0.05  # share of a disk's bytes or inodes below which it is nearly full
RECENT = 120.0  # seconds: a log that was written since then advances
SILENT = 1800.0  # seconds without a line after which a log counts as frozen
IDLE = 5.0  # per cent of a GPU below which it waits
BUSY = 2.0  # times the number of CPUs
HEALTHY = 60.0  # per cent of a GPU above which it does not wait for the processors
PEGGED = 0.9  # share of the processors that we may use


def risks(
    look: HostObservation, ways: Ways, before: Before | None, going_on: bool
) -> Iterator[Advice]:
    """`going_on`: it runs, or nobody can say that it does not."""
    if going_on:
        yield from _advise_on_log(look)
        yield from _gpus(look, before)
        yield from _threads(look)
    yield from _chain(look, ways)
    yield from _machine(look, ways, before)


def _advise_on_log(look: HostObservation) -> Iterator[Advice]:
    log = look.log
    if not isinstance(log, Own):
        return
    if log.failure:
        yield Advice("log", f"Its own log tells of {log.failure}: {log.excerpt}. {log.advice}")
    if log.age is None or log.age < SILENT:
        return
    if look.output_age is not None and look.output_age < SILENT:
        message = (
            "its output still changes, so it is block-buffered and does not hang: set "
            "PYTHONUNBUFFERED=1 next time"
        )
        yield Advice(
            "buffered",
            f"The log has not changed for {say_span(log.age)}, but {message}.",
            critical=False,
        )
    else:
        yield Advice(
            "silent",
            f"Neither the log nor the output has changed for {say_span(log.age)}: check whether "
            "the job hangs.",
        )


def _gpus(look: HostObservation, before: Before | None) -> Iterator[Advice]:
    if not isinstance(look.gpus, tuple) or not look.gpus:
        return
    use = mean_use(look.gpus)
    if use >= IDLE:
        return
    if advances(look, before):
        yield Advice(
            "data-bound",
            f"The GPUs stand at {use:.0f} % while steps advance: they wait for data, and are not "
            "idle. Look at the "
            f"loader's workers and at OMP_NUM_THREADS against the {look.cpus or '?'} CPUs of this "
            "box.",
            critical=False,
        )
    else:
        yield Advice("idle", f"The GPUs stand at {use:.0f} % and no step advances.", critical=False)


def advances(look: HostObservation, before: Before | None) -> bool:
    """Whether steps advance: since the last tick, or by a log that was just written."""
    if not isinstance(look.log, Own):
        return False
    if (
        before
        and before.step is not None
        and look.log.step is not None
        and look.log.step > before.step
    ):
        return True
    return look.log.age is not None and look.log.age < RECENT


def mean_use(gpus: tuple[Gpu, ...]) -> float:
    return sum(gpu.use for gpu in gpus) / len(gpus)


def _threads(look: HostObservation) -> Iterator[Advice]:
    if not isinstance(look.gpus, tuple) or not look.gpus or not pegged(look):
        return
    use = mean_use(look.gpus)
    if use < HEALTHY:
        most = f"{look.cores_allowed:.0f}"
        yield Advice(
            "threads",
            f"The GPUs stand at {use:.0f} % while our own processes take all of the {most} "
            "processors that they may use: too "
            "many threads for a slice of this machine. Set OMP_NUM_THREADS so that all workers "
            f"together have {most}.",
            critical=False,
        )


def pegged(look: HostObservation) -> bool:
    """Whether our own processes use up what they may: then the machine is not busy with somebody
    else.
    """
    return bool(
        look.cores_allowed
        and look.cores_used is not None
        and look.cores_used >= PEGGED * look.cores_allowed
    )


def _chain(look: HostObservation, ways: Ways) -> Iterator[Advice]:
    if (
        look.chain is None
        or isinstance(look.chain, Blind)
        or not look.chain.failed
        or look.chain.runs
    ):
        return
    yield Advice(
        "chain-failed",
        f"The chain has failed: {look.chain.failed}. Fix the cause, then start the chain again:",
        ways.chain,
    )


def _machine(look: HostObservation, ways: Ways, before: Before | None) -> Iterator[Advice]:
    for path, room in look.disks.items():
        if isinstance(room, DiskRoom):
            yield from _full(path, room)
    memory = look.memory
    if not isinstance(memory, MemoryUse):
        return
    if memory.share is not None and memory.share > ways.memory:
        yield Advice(
            "memory",
            f"Memory is at {memory.share:.0%} of its limit: the kernel kills at 100 %. Fewer "
            "workers, or a larger box.",
        )
    elif _crowded(look) and memory.share is not None and not pegged(look):
        message = (
            f"The machine is busy (load {look.load:.0f} on {look.cpus} CPUs), yet this cgroup has "
            "room: a noisy neighbour."
        )
        yield Advice("neighbour", message, critical=False)
    if before and before.oom_kill is not None and (memory.oom_kill or 0) > before.oom_kill:
        yield Advice(
            "oom-kill",
            f"The kernel has killed {(memory.oom_kill or 0) - before.oom_kill} processes for "
            "memory since the last tick.",
        )


def _crowded(look: HostObservation) -> bool:
    return bool(look.load and look.cpus and look.load > BUSY * look.cpus)


def _full(path: str, room: DiskRoom) -> Iterator[Advice]:
    if room.size and room.free < FULL * room.size:
        yield Advice(
            "disk",
            f"{path}: {size(room.free)} of {size(room.size)} are free. Prune checkpoints before "
            "one cannot be saved.",
        )
    if room.inodes and room.inodes_free < FULL * room.inodes:
        yield Advice(
            "inodes",
            f"{path}: {room.inodes_free} of {room.inodes} inodes are free. Many small files end "
            "before the bytes do.",
        )
