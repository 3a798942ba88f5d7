"""Several runs in one process: a thread each, so that a slow or broken one delays and ends no other."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from herorun.acts.babysitter import tick_once, unattended, watch
from herorun.acts.looks import Looks
from herorun.acts.many import Answer, each
from herorun.acts.pushing import Together, push_together
from herorun.acts.turn import Turn, take_turn
from herorun.core.errors import HerorunError, in_words
from herorun.core.scrub import scrub
from herorun.core.until import Until
from herorun.record import Pushed, Record
from herorun.workspace import Run, watched_run

AT_ONCE = 32  # ticks; a thousand at the same moment would only wait for one another
PUSH_EVERY = 60.0  # seconds, at most about: what was seen is also for those who look from outside
LAST_WORDS = 10.0  # seconds that the loops get to end between two ticks

Report = Callable[[Run, Turn], None]


def watch_all(
    names: Sequence[str], start: Path, report: Report, tell: Callable[[str, str], None], until: Until
) -> list[int]:
    """Their exit codes, once all have ended; `tell` gets what ended one that could not be watched."""
    looks = Looks().expect(names, start)
    fleet = _Fleet(start, report, tell, until, looks)
    with unattended(), _asked_to_end():
        threads = [
            threading.Thread(target=fleet.watch, args=(name,), name=f"babysit {name}", daemon=True)
            for name in dict.fromkeys(names)
        ]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(0.2)  # short, so that an interruption is heard
        except KeyboardInterrupt:
            fleet.end(threads)
            raise
    return [fleet.codes.get(name, 3) for name in dict.fromkeys(names)]


def tick_each(names: Sequence[str], start: Path) -> list[Answer[Turn]]:
    """One tick of each run, one after another; their records are pushed together, now and then and at the end."""
    answers: list[Answer[Turn]] = []
    waiting: list[Record] = []
    told: dict[str, str] = {}

    def later(record: Record) -> Pushed:
        waiting.append(record)
        return Pushed()

    def push() -> float:
        told.update({r.slug: pushed.why for r, pushed in zip(waiting, push_together(waiting), strict=True)})
        waiting.clear()
        return time.monotonic()

    looks, last = Looks().expect(names, start), time.monotonic()
    try:
        for answer in each(names, lambda name: tick_once(name, start, looks, later)[1]):
            answers.append(answer)
            if time.monotonic() - last > PUSH_EVERY:
                last = push()
    finally:
        push()
    return [_with(answer, told) for answer in answers]


def _with(answer: Answer[Turn], told: Mapping[str, str]) -> Answer[Turn]:
    turn = answer.value
    why = told.get(turn.run.slug) if turn else None
    return replace(answer, value=replace(turn, push=why)) if turn and why else answer


class _Fleet:
    """What the loops share: a place to speak, and the word that they are to end."""

    def __init__(
        self, start: Path, report: Report, tell: Callable[[str, str], None], until: Until, looks: Looks
    ) -> None:
        self.codes: dict[str, int] = {}
        self._start, self._until, self._looks = start, until, looks
        self._speak, self._tell = report, tell
        self._one_at_a_time = threading.Lock()
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._over = threading.Event()
        self._together = Together()

    def watch(self, name: str) -> None:
        try:
            self.codes[name] = watch(
                name,
                self._start,
                self._report,
                self._until,
                turn=self._turn,
                over=self._over,
                opened=watched_run,
            )
        except (HerorunError, OSError) as error:
            self.codes[name] = error.exit_code if isinstance(error, HerorunError) else 3
            with self._one_at_a_time:
                self._tell(Path(name).stem, scrub(in_words(error)))
        except KeyboardInterrupt:
            self.codes[name] = 130

    def end(self, threads: Sequence[threading.Thread]) -> None:
        """Between two ticks; one that is in the midst of its own is cut off, and settled by the next tick."""
        self._over.set()
        until = time.monotonic() + LAST_WORDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _turn(self, run: Run, drift: str) -> Turn:
        with self._room:
            return take_turn(run, drift, self._looks, lambda: self._together.push(run.record))

    def _report(self, run: Run, turn: Turn) -> None:
        """One after another, so that the documents of two runs never mix."""
        with self._one_at_a_time:
            self._speak(run, turn)


@contextlib.contextmanager
def _asked_to_end() -> Iterator[None]:
    """SIGTERM reaches us as an interruption."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
