"""The records of several runs go to their remote in one push."""

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from herorun.core.babysit.cadence import push_delay
from herorun.core.errors import HerorunError, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.record import Pushed, Record
from herorun.system.git import Repository
from herorun.system.git.plumbing import RefMoved, move_ref, move_refs
from herorun.system.git.push_many import RefUpdate, push_many

AT_ONCE = 1000  # records in one call: their names are words of a command line, about 250 bytes each
STALE = ("stale info", "fetch first", "non-fast-forward")  # another push came first


def push_together(records: Sequence[Record]) -> list[Pushed]:
    """Bring the remotes up to date, with one push for all records of a remote; what came of each,
    in their order.

    A record to which somebody else has added meanwhile is then pushed alone, on top of theirs. What
    cannot go through stays queued, as with `Record.push`.
    """
    results: dict[int, Pushed] = {}
    for remote, group in _by_remote(records):
        for start in range(0, len(group), AT_ONCE):
            results |= _push(remote, group[start : start + AT_ONCE])
    return [
        results[number] if number in results else _alone(record)
        for number, record in enumerate(records)
    ]


def _alone(record: Record) -> Pushed:
    try:
        return record.push()
    except (HerorunError, OSError) as error:
        return Pushed(scrub(describe_error(error)))


def _by_remote(records: Sequence[Record]) -> Iterator[tuple[str, list[tuple[int, Record]]]]:
    groups: dict[tuple[Path, str], list[tuple[int, Record]]] = {}
    for number, record in enumerate(records):
        if record.remote is not None:
            groups.setdefault((record.repository.common, record.remote), []).append(
                (number, record)
            )
    for (_, remote), group in groups.items():
        if len(group) > 1:
            yield remote, group


def _push(remote: str, group: Sequence[tuple[int, Record]]) -> dict[int, Pushed]:
    """What came of those that need no second look; the others are left out."""
    repository = group[0][1].repository
    try:
        tips = repository.refs("refs/herorun/record/", "refs/herorun/pushed/")
        updates = _waiting(group, tips)
        refusals = push_many(repository, remote, list(updates.values())) if updates else {}
    except (HerorunError, OSError) as error:
        return {number: Pushed(scrub(describe_error(error))) for number, _ in group}
    results = {}
    moves = []
    for number, record in group:
        each = updates.get(number)
        why = refusals.get(each.ref, "") if each else ""
        if each and not why:
            moves.append((record.pushed_ref, each.oid, each.expected))
        if (each and not any(word in why for word in STALE)) or (
            _is_up_to_date(record, tips) and not record.is_unlisted
        ):
            results[number] = Pushed(
                f"{record.branch} was refused by {remote}: {scrub(why)}" if why else ""
            )
    _note(repository, moves)
    for number, record in group:
        if number in results:
            record.pack_refs()
    return results


def _waiting(group: Sequence[tuple[int, Record]], tips: Mapping[str, str]) -> dict[int, RefUpdate]:
    """What is to be sent, by number. Of two that name one branch the second is sent alone."""
    updates: dict[int, RefUpdate] = {}
    targets = {"refs/heads/main", "refs/heads/master"}
    for number, record in group:
        tip, target = tips.get(record.ref), f"refs/heads/{record.branch}"
        if tip and not _is_up_to_date(record, tips) and target not in targets:
            updates[number] = RefUpdate(tip, target, tips.get(record.pushed_ref))
            targets.add(target)
    return updates


def _is_up_to_date(record: Record, tips: Mapping[str, str]) -> bool:
    return tips.get(record.ref) == tips.get(record.pushed_ref)


def _note(repository: Repository, moves: Sequence[tuple[str, str, str | None]]) -> None:
    """The remote has them. Where one was noted meanwhile by somebody else, theirs stands."""
    try:
        move_refs(repository, moves)
    except RefMoved:
        for ref, new, old in moves:
            with contextlib.suppress(RefMoved):
                move_ref(repository, ref, new, old)


class PushPacer:
    """For loops that push at about the same time: pushes to one remote keep the distance of
    `core.babysit.cadence.push_delay`, and each takes along all records that wait for one.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stop_event = threading.Event()
        self._queues: dict[tuple[Path, str | None], _Queue] = {}

    def push(
        self, record: Record, cadence: timedelta = timedelta(), urgent: bool = False
    ) -> Pushed:
        """The result, once it was pushed; without a `cadence` it waits only while another push is
        under way.
        """
        if record.remote is None or record.tip == record.pushed_tip:
            return record.push()  # nothing to send: at most a look at the remote
        with self._guard:
            key = record.repository.common, record.remote
            queue = self._queues.setdefault(key, _Queue(self._stop_event))
        return queue.push(record, cadence, urgent)

    def end(self) -> None:
        """Nobody waits any longer for others: what is queued goes out now."""
        self._stop_event.set()
        with self._guard:
            queues = list(self._queues.values())
        for queue in queues:
            queue.wake()


@dataclass(eq=False)
class _PushRequest:
    record: Record
    answer: Pushed | None = None


class _Queue:
    """The pushes that wait for one remote."""

    def __init__(self, stop_event: threading.Event) -> None:
        self._condition, self._one_at_a_time = threading.Condition(), threading.Lock()
        self._waiting: list[_PushRequest] = []
        self._stop_event = stop_event
        self._began: float | None = None  # the last push
        self._took = timedelta()  # the last push that ended

    def push(self, record: Record, cadence: timedelta, urgent: bool) -> Pushed:
        request = _PushRequest(record)
        with self._condition:
            self._waiting.append(request)
            while request.answer is None and (seconds_left := self._delay(cadence, urgent)) > 0:
                self._condition.wait(seconds_left)
            if request.answer is not None:
                return request.answer
        with self._one_at_a_time:
            return self._all(request) if request.answer is None else request.answer

    def wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def _delay(self, cadence: timedelta, urgent: bool) -> float:
        if self._began is None or self._stop_event.is_set():
            return 0.0
        since_last = timedelta(seconds=time.monotonic() - self._began)
        return push_delay(since_last, cadence, urgent, self._took).total_seconds()

    def _all(self, request: _PushRequest) -> Pushed:
        """All that wait, and in any case this one: the thread that was to bring it may have ended
        in between.
        """
        with self._condition:
            others, self._waiting = [each for each in self._waiting if each is not request], []
            self._began = began = time.monotonic()
        answers = push_together([request.record, *(each.record for each in others)])
        with self._condition:
            self._took = timedelta(seconds=time.monotonic() - began)
            for each, answer in zip(others, answers[1:], strict=True):
                each.answer = answer
            self._condition.notify_all()
        return answers[0]
