"""Read only the evidence that is asked for: each source once, all at once, by a deadline.

What fails or is late becomes `Unavailable`. A source whose last read still hangs is not started
again.
"""

import os
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic, process_time
from typing import Any

from herorun.core.check import name_of
from herorun.core.durations import format_span
from herorun.core.errors import describe_error
from herorun.core.evidence import Evidence, Gaps, Job, Nothing, Unavailable
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.source_index import Graph, Kind, ReadOrder, Source, accepted_types, read_order
from herorun.system import progress

PROGRESS_INTERVAL = 0.5  # seconds between two updates of the progress line
PATIENCE = 0.005  # seconds without an answer until what waits behind it is read in parallel
MAX_PATIENCE = 0.1  # the same while this process computes

# sources whose read has not come back, by run and name
_reading: set[tuple[str, str]] = set()


def gather(
    kinds: Iterable[Kind],
    sources: Mapping[Kind, Source],
    given_evidence: Evidence,
    deadline: float = 60,
) -> dict[Kind, Any]:
    """Every wanted evidence type with its value, `Nothing` or `Unavailable`; what is given is not
    read.
    """
    graph, order = read_order(kinds, sources, given_evidence)
    reads = _SourceReads(graph, order, sources, given_evidence)
    until = monotonic() + deadline
    try:
        while (rest := until - monotonic()) > 0 and not reads.wait(rest):
            progress.progress("reading the world", *reads.progress)
        progress.progress("reading the world", 1, 1)
    finally:  # an interrupted gather begins no further read
        evidence = reads.close()
    timed_out = Unavailable(f"not read within {format_span(deadline)}")
    evidence |= dict.fromkeys(graph.keys() - evidence.keys(), timed_out)
    return evidence | {Gaps: _gaps(evidence, graph)}


def begin(source: Source, *inputs: Any) -> Source:
    """Begin a slow read whose inputs are known, while its caller still waits for others. The source
    that is returned waits for the answer, and gives it once.
    """
    answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def read() -> None:
        try:
            answer.put((source(*inputs), None))
        except BaseException as error:
            answer.put((None, error))

    def wait() -> Any:
        value, error = answer.get()
        if error is not None:
            raise error
        return value

    Thread(target=read, name="early reader", daemon=True).start()
    return wait


class _SourceReads:
    """The reads of one `gather`. One thread takes the reads one after another and notes each answer
    itself, for most are over in less time than it takes to wake another thread; only what waits
    behind a slow one is read in parallel.
    """

    def __init__(
        self,
        graph: Graph,
        order: ReadOrder,
        sources: Mapping[Kind, Source],
        given_evidence: Evidence,
    ) -> None:
        self._graph, self._sources, self._given_evidence = graph, sources, given_evidence
        place = given_evidence.get(Place)
        # Runs that are watched together read the same sources.
        self._whose = place.state if isinstance(place, Place) else ""
        self._evidence = dict(given_evidence)
        self._users, self._missing = order.users, dict(order.needs)
        self._waiting = deque(kind for kind, count in self._missing.items() if not count)
        self._pending_count = len(self._missing)  # to read
        self._is_closed, self._is_watched = False, True
        self._lock, self._news = Lock(), SimpleQueue[bool]()
        self._cpu_seconds = process_time()
        self._answered_at = monotonic()
        self._begin(min(1, len(self._waiting)))

    @property
    def progress(self) -> tuple[int, int]:
        """How many were read, and how many there are to read."""
        read_count = len(self._evidence) - len(self._given_evidence)
        return read_count, len(self._graph.keys() - self._given_evidence.keys())

    def wait(self, longest: float) -> bool:
        """Whether all is read; waits a moment for it, and sees to what waits behind a slow read."""
        with self._lock:
            if not self._pending_count:
                return True
            self._is_watched = bool(self._waiting)
            interval = PATIENCE if self._is_watched else PROGRESS_INTERVAL
        with suppress(Empty):
            self._news.get(timeout=min(interval, longest))
        self._hurry()
        return False

    def _hurry(self) -> None:
        """Read all that waits at once, if the slow read waits for something, not for this process:
        then others could only take turns with it.
        """
        with self._lock:
            cpu_seconds, now = process_time(), monotonic()
            silent = now - self._answered_at
            is_slow = silent > PATIENCE and cpu_seconds - self._cpu_seconds < PATIENCE / 2
            self._cpu_seconds = cpu_seconds
            missing = len(self._waiting) if is_slow or silent > MAX_PATIENCE else 0
        self._begin(missing)

    def close(self) -> dict[Kind, Any]:
        """What was read until now; nothing is begun any more."""
        with self._lock:
            self._is_closed = True
            return dict(self._evidence)

    def _begin(self, count: int) -> None:
        for _ in range(count):
            try:
                reader = _idle.pop()
            except IndexError:
                reader = _Reader()
            reader.queue.put(self)

    def read(self, reader: "_Reader") -> None:
        """Until nothing waits any more. The reader is idle before the end is reported: who gets it
        may need one.
        """
        while (kind := self._next()) is not None:
            self._note(kind, self._read(kind))
        _idle.append(reader)
        if not self._pending_count:
            self._news.put(True)

    def _next(self) -> Kind | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting and not self._is_closed else None

    def _read(self, kind: Kind) -> Any:
        key, source = (self._whose, name_of(kind)), self._sources.get(kind)
        if source is None:
            return Unavailable(f"nothing here reads {key[1]}")
        if key in _reading:
            return Unavailable("the last read has not come back yet")
        _reading.add(key)
        try:
            return _read_source(kind, source, [self._evidence[need] for need in self._graph[kind]])
        except BaseException as error:  # such as a library's sys.exit: the answer is not lost
            return Unavailable(f"the read ended with {type(error).__name__}")
        finally:
            _reading.discard(key)  # before it is reported: who gets it may ask again

    def _note(self, kind: Kind, value: Any) -> None:
        with self._lock:
            self._evidence[kind], self._answered_at = value, monotonic()
            self._pending_count -= 1
            for user in self._users[kind]:
                self._missing[user] -= 1
                if not self._missing[user]:
                    self._waiting.append(user)
            is_news = len(self._waiting) > 1 and not self._is_watched
            self._is_watched |= is_news
        if is_news:
            self._news.put(False)


class _Reader(Thread):
    """Reads for one gather after another: each run of a fleet asks for two dozen sources, and a
    thread for each of them costs more than most reads.
    """

    def __init__(self) -> None:
        # A daemon: a hung read must not keep the babysitter from its next tick.
        super().__init__(name="reader", daemon=True)
        self.queue: SimpleQueue[_SourceReads] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.queue.get().read(self)


_idle: list[_Reader] = []
os.register_at_fork(after_in_child=_idle.clear)  # no thread lives on in a forked process


def _read_source(kind: Kind, source: Source, inputs: list[Any]) -> Any:
    began = monotonic()
    try:
        value = _lacking(source, inputs) or source(*inputs)
    except Exception as error:
        value = Unavailable(scrub(describe_error(error)), getattr(error, "root", ""))
    if progress.verbose:
        gap = f", unavailable: {value.why}" if isinstance(value, Unavailable) else ""
        with suppress(OSError):  # a closed pipe loses the line, and not the answer
            progress.log(f"{name_of(kind)} in {monotonic() - began:.2f} s{gap}")
    return value


def _lacking(source: Source, inputs: list[Any]) -> Unavailable | Nothing | None:
    """An input without a value, unless the annotation says that the source deals with it; a gap
    comes first.
    """
    lacking = [
        value
        for value, kinds in zip(inputs, accepted_types(source), strict=True)
        if isinstance(value, (Nothing, Unavailable)) and type(value) not in kinds
    ]
    if not lacking:
        return None
    return next((i for i in lacking if isinstance(i, Unavailable)), None) or next(
        iter(lacking), None
    )


def _gaps(evidence: Mapping[Kind, Any], graph: Mapping[Kind, Any]) -> Gaps:
    """What was asked for and could not be read; what is given besides it is no gap."""
    reasons = sorted(f"{name_of(k)}: {why}" for k in graph if (why := _why_unread(evidence[k])))
    return Gaps(tuple(reasons), len(graph))


def _why_unread(value: Any) -> str:
    """Empty if it was read. An answer of the scheduler without the job's state does not count."""
    if isinstance(value, Job) and value.state.in_doubt:
        return value.reason or f"the scheduler says {value.raw or value.state} of {value.instance}"
    return value.why if isinstance(value, Unavailable) else ""
