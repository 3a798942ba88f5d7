"""The decision table of a patrol: from what was seen to one state and to what a person should do. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from herorun.core.patrol.seen import Alive, Before, Blind, Copy, Gpu, Look, Memory, Own, Result, Room

CLOCKS = timedelta(minutes=1)  # two machines' clocks may differ by so much
FULL = 0.05  # share of a disk's bytes or inodes below which it is nearly full
RECENT = 120.0  # seconds: a log that was written since then advances
SILENT = 1800.0  # seconds without a line after which a log counts as frozen
IDLE, HEALTHY_USE = 5.0, 60.0  # per cent of a GPU: below the first it waits, above the second it is well fed
BUSY = 2.0  # times the number of CPUs


class State(StrEnum):
    RUNNING = "running"
    DONE = "done"
    DOWN = "down"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Advice:
    """One row that applies. `command` is exact; empty where there is none to give."""

    row: str
    words: str
    command: str = ""
    grave: bool = True


@dataclass(frozen=True)
class Ways:
    """The exact commands of this run."""

    resume: str
    chain: str = ""  # rebuilds the chain; empty where there is none
    transfer: tuple[tuple[str, str], ...] = ()  # folder there, command
    remove: str = ""  # this patrol
    memory: float = 0.9

    def sends(self, path: str) -> str:
        return dict(self.transfer).get(path, "")


@dataclass(frozen=True)
class Told:
    state: State
    advice: tuple[Advice, ...]

    @property
    def code(self) -> int:
        """0 clear, 1 something is to be done, 3 could not look."""
        if self.state is State.UNKNOWN:
            return 3
        return int(any(each.grave for each in self.advice))


def decide(look: Look, ways: Ways, before: Before | None = None) -> Told:
    """The seed's rows, in its order; then what threatens a run that goes on."""
    state = state_of(look)
    if look.unreachable:
        return Told(State.UNKNOWN, (_unreachable(look),))
    advice = [*_down(look, state, ways), *_results(look), *_copies(look, ways), *_all_done(look, state, ways)]
    if state in (State.RUNNING, State.UNKNOWN):
        advice += [*_log(look), *_gpus(look, before)]
    return Told(state, (*advice, *_chain(look, ways), *_risks(look, ways, before)))


def state_of(look: Look) -> State:
    """Done is what is declared to be done, never the mere end of a process; unknown is never down."""
    if look.unreachable:
        return State.UNKNOWN
    done = all_done(look)
    if done:
        return State.DONE
    if look.alive is Alive.YES or _chain_runs(look):
        return State.RUNNING
    if look.alive is Alive.UNKNOWN or done is None:
        return State.UNKNOWN
    return State.DONE if look.succeeded and not _declared(look) else State.DOWN


def fresh(look: Look, path: str) -> bool | None:
    """Whether a marker is there, and of this run; None where nobody could look."""
    found = look.markers[path]
    if isinstance(found, Blind):
        return None
    return found is not None and (look.began is None or found >= look.began - CLOCKS)


def all_done(look: Look) -> bool | None:
    """Every sign that was declared: markers, words of success, results, copies. None: one could not be seen."""
    signs = _signs(look)
    if False in signs:
        return False
    return None if None in signs else bool(signs)


def _signs(look: Look) -> list[bool | None]:
    signs = [fresh(look, path) for path in look.markers]
    signs += [None if isinstance(each, Blind) else each is not None for each in look.results.values()]
    if isinstance(look.log, Own) and look.log.done is not None:
        signs.append(look.log.done)
    return signs + [copy.whole for copy in look.copies] if signs else []


def _declared(look: Look) -> bool:
    return bool(_signs(look))


def _chain_runs(look: Look) -> bool:
    return look.chain is not None and not isinstance(look.chain, Blind) and look.chain.runs


# --- the seed's rows --------------------------------------------------------------------------------


def _unreachable(look: Look) -> Advice:
    return Advice(
        "unreachable",
        f"{look.unreachable} Look at the provider's console: only there can be seen whether {look.where} is on "
        "and paid for. What runs there may run on; nothing is restarted.",
    )


def _down(look: Look, state: State, ways: Ways) -> Iterator[Advice]:
    if state is not State.DOWN:
        return
    missing = [path for path in look.markers if not fresh(look, path)]
    without = f" without {', '.join(missing)}" if missing else ""
    if look.succeeded and ways.chain:
        yield Advice(
            "chain",
            f"The job ended well{without}. Start the chain, which goes on behind its markers:",
            ways.chain,
        )
        return
    log = look.log if isinstance(look.log, Own) else Own()
    why = f" Its log tells of {log.failure}: {log.excerpt}. {log.advice}" if log.failure else ""
    yield Advice(
        "gone", f"The job is gone{without}: {look.why or 'no reason known'}.{why} Resume it:", ways.resume
    )
    if ways.chain and not _chain_runs(look):
        yield Advice(
            "chain",
            "Then start its chain again, which goes on behind the markers that are there:",
            ways.chain,
        )


def _results(look: Look) -> Iterator[Advice]:
    for path, found in look.results.items():
        if isinstance(found, Result):
            rest = "" if found.whole else "\n(and more: it is longer than a result file)"
            yield Advice("result", f"{path}:\n{found.text.rstrip()}{rest}", grave=False)


def _copies(look: Look, ways: Ways) -> Iterator[Advice]:
    for copy in look.copies:
        if copy.whole is False:
            words = f"{copy.path} has {_count(copy, True)} of the {_count(copy, False)} in {copy.source}. Resume the transfer:"
            yield Advice("copy", words, ways.sends(copy.path))
        elif copy.whole is None:
            blind = next(
                e
                for e in (copy.there, copy.here, Blind("there is no such folder here"))
                if isinstance(e, Blind)
            )
            yield Advice(
                "copy", f"{copy.path} could not be compared with {copy.source}: {blind.why}.", grave=False
            )


def _count(copy: Copy, there: bool) -> str:
    found = copy.there if there else copy.here
    if found is None or isinstance(found, Blind):
        return "none"
    return f"{found.files} files ({found.bytes} bytes)"


def _all_done(look: Look, state: State, ways: Ways) -> Iterator[Advice]:
    if state is State.DONE:
        yield Advice("done", "Everything is done. Remove this patrol:", ways.remove, grave=False)


# --- what threatens it ------------------------------------------------------------------------------


def _log(look: Look) -> Iterator[Advice]:
    log = look.log
    if not isinstance(log, Own):
        return
    if log.failure:
        yield Advice("log", f"Its own log tells of {log.failure}: {log.excerpt}. {log.advice}")
    if log.age is None or log.age < SILENT:
        return
    if look.newest is not None and look.newest < SILENT:
        words = "its output still changes, so it is block-buffered and does not hang: set PYTHONUNBUFFERED=1 next time"
        yield Advice("buffered", f"The log has stood still for {span(log.age)}, but {words}.", grave=False)
    else:
        yield Advice(
            "silent",
            f"The log has stood still for {span(log.age)}, and so has the output: look whether it hangs.",
        )


def _gpus(look: Look, before: Before | None) -> Iterator[Advice]:
    if not isinstance(look.gpus, tuple) or not look.gpus:
        return
    use = mean_use(look.gpus)
    if use >= IDLE:
        return
    if advances(look, before):
        yield Advice(
            "data-bound",
            f"The GPUs stand at {use:.0f} % while steps advance: they wait for data, and are not idle. Look at the "
            f"loader's workers and at OMP_NUM_THREADS against the {look.cpus or '?'} CPUs of this box.",
            grave=False,
        )
    else:
        yield Advice("idle", f"The GPUs stand at {use:.0f} % and no step advances.", grave=False)


def advances(look: Look, before: Before | None) -> bool:
    """Whether steps advance: since the last tick, or by a log that was just written."""
    if not isinstance(look.log, Own):
        return False
    if before and before.step is not None and look.log.step is not None and look.log.step > before.step:
        return True
    return look.log.age is not None and look.log.age < RECENT


def mean_use(gpus: tuple[Gpu, ...]) -> float:
    return sum(gpu.use for gpu in gpus) / len(gpus)


def _chain(look: Look, ways: Ways) -> Iterator[Advice]:
    if look.chain is None or isinstance(look.chain, Blind) or not look.chain.failed or look.chain.runs:
        return
    yield Advice(
        "chain-failed",
        f"The chain has failed: {look.chain.failed}. Once that is mended, go on with it:",
        ways.chain,
    )


def _risks(look: Look, ways: Ways, before: Before | None) -> Iterator[Advice]:
    for path, room in look.disks.items():
        if isinstance(room, Room):
            yield from _full(path, room)
    memory = look.memory
    if not isinstance(memory, Memory):
        return
    if memory.share is not None and memory.share > ways.memory:
        yield Advice(
            "memory",
            f"Memory is at {memory.share:.0%} of its limit: the kernel kills at 100 %. Fewer workers, or a larger box.",
        )
    elif look.load and look.cpus and look.load > BUSY * look.cpus and memory.share is not None:
        words = f"The machine is busy (load {look.load:.0f} on {look.cpus} CPUs), yet this cgroup has room: a noisy neighbour."
        yield Advice("neighbour", words, grave=False)
    if before and before.oom_kill is not None and (memory.oom_kill or 0) > before.oom_kill:
        yield Advice(
            "oom-kill",
            f"The kernel has killed {(memory.oom_kill or 0) - before.oom_kill} processes for memory since the last tick.",
        )


def _full(path: str, room: Room) -> Iterator[Advice]:
    if room.size and room.free < FULL * room.size:
        yield Advice(
            "disk",
            f"{path}: {size(room.free)} of {size(room.size)} are free. Prune checkpoints before one cannot be saved.",
        )
    if room.inodes and room.inodes_free < FULL * room.inodes:
        yield Advice(
            "inodes",
            f"{path}: {room.inodes_free} of {room.inodes} inodes are free. Many small files end before the bytes do.",
        )


def span(seconds: float) -> str:
    """A length of time, for people."""
    if seconds < 120:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size(count: float) -> str:
    """Bytes, for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
