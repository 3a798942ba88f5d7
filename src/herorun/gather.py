"""Read only the evidence that is asked for: each source once, all at once, by a deadline.

What fails or is late becomes `Unavailable`. A source whose last read still hangs is not started
again.
"""

import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeAlias

from herorun.core.check import name_of
from herorun.core.durations import format_span
from herorun.core.errors import describe_error
from herorun.core.evidence import Evidence, Gaps, Job, Nothing, Unavailable
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.system import progress

Source: TypeAlias = Callable[..., Any]
Kind: TypeAlias = Any  # an evidence type
_Read: TypeAlias = tuple[tuple[str, str], Callable[[], tuple[Kind, Any]]]  # its run and name, too

PROGRESS_INTERVAL = 0.5  # seconds between two updates of the progress line
PATIENCE = 0.005  # seconds without an answer until what waits behind a slow read is read beside it

# sources whose read has not come back, by run and name
_reading: set[tuple[str, str]] = set()


def by_kind(sources: Iterable[Source]) -> dict[Kind, Source]:
    """Index sources by the evidence that they return; `Job | Nothing` is a source of Job."""
    return {evidence_type(_hints(source)["return"]): source for source in sources}


def evidence_type(hint: Any) -> Kind:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    (kind,) = [part for part in typing.get_args(hint) if part not in (Nothing, Unavailable)]
    return kind


def gather(
    kinds: Iterable[Kind],
    sources: Mapping[Kind, Source],
    given_evidence: Evidence,
    deadline: float = 60,
) -> dict[Kind, Any]:
    """Every wanted evidence type with its value, `Nothing` or `Unavailable`; what is given is not
    read.
    """
    graph = _needed(kinds, sources, given_evidence)
    order = TopologicalSorter(graph)
    order.prepare()
    evidence, reads = dict(given_evidence), _Reads()
    place = given_evidence.get(Place)
    whose = (
        place.state if isinstance(place, Place) else ""
    )  # runs that are watched together read the same sources
    until, pending_count = monotonic() + deadline, 0
    while order.is_active():
        for kind in order.get_ready():
            if kind in given_evidence:
                order.done(kind)
                continue
            inputs = [evidence[need] for need in graph[kind]]
            _queue_read((whose, name_of(kind)), kind, sources.get(kind), inputs, reads)
            pending_count += 1
        reads.start()
        if pending_count:
            progress.progress(
                "reading the world",
                len(evidence) - len(given_evidence),
                len(graph.keys() - given_evidence.keys()),
            )
            interval = PROGRESS_INTERVAL if reads.waiting.empty() else PATIENCE
            try:
                kind, value = reads.answers.get(
                    timeout=max(0.0, min(interval, until - monotonic()))
                )
            except Empty:
                if monotonic() >= until:
                    break
                reads.hurry()
                continue
            evidence[kind], pending_count = value, pending_count - 1
            order.done(kind)
    progress.progress("reading the world", 1, 1)
    timed_out = Unavailable(f"not read within {format_span(deadline)}")
    evidence |= dict.fromkeys(graph.keys() - evidence.keys(), timed_out)
    return evidence | {Gaps: _gaps(evidence, graph)}


def _needed(
    kinds: Iterable[Kind], sources: Mapping[Kind, Source], given_evidence: Evidence
) -> dict[Kind, tuple[Kind, ...]]:
    graph: dict[Kind, tuple[Kind, ...]] = {}
    queue = [kind for kind in kinds if kind is not Gaps]
    while queue:
        kind = queue.pop()
        if kind not in graph:
            graph[kind] = (
                () if kind in given_evidence or kind not in sources else _inputs(sources[kind])
            )
            queue += graph[kind]
    return graph


@lru_cache(maxsize=256)
def _hints(source: Source) -> dict[str, Any]:
    """Asked of each source three times a tick, and slow."""
    return typing.get_type_hints(source)


@lru_cache(maxsize=256)
def _inputs(source: Source) -> tuple[Kind, ...]:
    hints = _hints(source)
    return tuple(evidence_type(kind) for name, kind in hints.items() if name != "return")


def _queue_read(
    key: tuple[str, str],
    kind: Kind,
    source: Source | None,
    inputs: list[Any],
    reads: "_Reads",
) -> None:
    if source is None:
        reads.answers.put((kind, Unavailable(f"nothing here reads {key[1]}")))
        return
    if key in _reading:
        reads.answers.put((kind, Unavailable("the last read has not come back yet")))
        return
    _reading.add(key)
    reads.waiting.put((key, partial(_read_source, kind, source, inputs)))


class _Reads:
    """What one look reads. One thread takes them one after another, for most are over in less time
    than it takes to wake another; only what waits behind a slow one is read beside it.
    """

    def __init__(self) -> None:
        self.waiting = SimpleQueue[_Read]()
        self.answers = SimpleQueue[tuple[Kind, Any]]()
        self._lock = Lock()
        self._readers = 0

    def start(self) -> None:
        """Start a thread for each waiting read."""
        with self._lock:
            missing = int(not self._readers and not self.waiting.empty())
            self._readers += missing
        self._begin(missing)

    def hurry(self) -> None:
        """Read all that waits at once."""
        with self._lock:
            missing = self.waiting.qsize()
            self._readers += missing
        self._begin(missing)

    def _begin(self, count: int) -> None:
        for _ in range(count):
            reader = _idle.pop() if _idle else _Reader()
            reader.looks.put(self)

    def read(self, reader: "_Reader") -> None:
        """Until nothing waits any more. The reader is idle before the last answer is told: who
        hears of it may need one.
        """
        answer: tuple[Kind, Any] | None = None
        while request := self._next():
            if answer is not None:
                self.answers.put(answer)
            key, act = request
            try:
                answer = act()
            finally:
                _reading.discard(key)  # before it is told: anyone who hears of it may ask again
        _idle.append(reader)
        if answer is not None:
            self.answers.put(answer)

    def _next(self) -> _Read | None:
        with self._lock:
            try:
                return self.waiting.get_nowait()
            except Empty:
                self._readers -= 1
                return None


class _Reader(Thread):
    """Reads for one look after another: each run of a fleet asks for two dozen sources, and a
    thread for each of them costs more than most reads.
    """

    def __init__(self) -> None:
        # A daemon: a hung read must not keep the babysitter from its next tick.
        super().__init__(name="reader", daemon=True)
        self.looks: SimpleQueue[_Reads] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.looks.get().read(self)


_idle: list[_Reader] = []
os.register_at_fork(after_in_child=_idle.clear)  # no thread lives on in a forked process


def _read_source(kind: Kind, source: Source, inputs: list[Any]) -> tuple[Kind, Any]:
    began = monotonic()
    try:
        value = _lacking(source, inputs) or source(*inputs)
    except Exception as error:
        value = Unavailable(scrub(describe_error(error)), getattr(error, "root", ""))
    gap = f", unavailable: {value.why}" if isinstance(value, Unavailable) else ""
    progress.log(f"{name_of(kind)} in {monotonic() - began:.2f} s{gap}")
    return kind, value


def _lacking(source: Source, inputs: list[Any]) -> Unavailable | Nothing | None:
    """An input without a value, unless the annotation says that the source deals with it; a gap
    comes first.
    """
    hints = _hints(source)
    accepted_types = [typing.get_args(hint) for name, hint in hints.items() if name != "return"]
    lacking = [
        value
        for value, kinds in zip(inputs, accepted_types, strict=True)
        if isinstance(value, (Nothing, Unavailable)) and type(value) not in kinds
    ]
    return next((i for i in lacking if isinstance(i, Unavailable)), None) or next(
        iter(lacking), None
    )


def _gaps(evidence: Mapping[Kind, Any], graph: Mapping[Kind, Any]) -> Gaps:
    """What was asked for and could not be read; what is given besides it is no gap."""
    reasons = sorted(f"{name_of(k)}: {why}" for k in graph if (why := _why_unread(evidence[k])))
    return Gaps(tuple(reasons), len(graph))


def _why_unread(value: Any) -> str:
    """Empty if it was read. A scheduler that answers without the job's state has told nothing."""
    if isinstance(value, Job) and value.state.in_doubt:
        return value.reason or f"the scheduler says {value.raw or value.state} of {value.instance}"
    return value.why if isinstance(value, Unavailable) else ""
