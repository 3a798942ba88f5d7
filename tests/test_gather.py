"""What is read counts as seen or as missing; what is only given next to it does not."""

from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event, current_thread, enumerate as enumerate_threads

import pytest

from builders import a_job
from core.story import Story, firing
from herorun.core.babysit.actions import Escalate
from herorun.core.babysit.tick import MonitorHealth
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Gaps, Job, JobState, Unavailable
from herorun.core.ports import Place
from herorun.gather import begin, gather
from wording import mentions


@dataclass(frozen=True)
class Asked:
    pass


@dataclass(frozen=True)
class Beside:
    pass


def test_what_nobody_asks_for_is_no_gap() -> None:
    evidence = {Asked: Asked(), Beside: Unavailable("out of reach")}
    assert gather([Asked], {}, evidence)[Gaps].gaps == ()


def test_what_is_asked_for_and_given_as_unreadable_is_one() -> None:
    gaps = gather([Asked], {}, {Asked: Unavailable("out of reach")})[Gaps]
    assert (gaps.gaps, gaps.asked) == (("Asked: out of reach",), 1)


@pytest.mark.parametrize("state", [JobState.UNKNOWN, JobState.GONE])
def test_a_scheduler_that_answers_without_the_jobs_state_is_a_gap(state: JobState) -> None:
    evidence = {Job: replace(a_job(state), raw="REVOKED?", reason="")}
    (gap,) = gather([Job], {}, evidence)[Gaps].gaps
    assert mentions(gap, "Job:", "REVOKED?", "tiny-1")


@pytest.mark.parametrize("state", sorted({*JobState} - {JobState.UNKNOWN, JobState.GONE}))
def test_a_state_is_no_gap(state: JobState) -> None:
    assert gather([Job], {}, {Job: a_job(state)})[Gaps].gaps == ()


@pytest.mark.parametrize("takes_turns", [False, True])
def test_an_unknown_job_escalates_after_half_an_hour_and_until_an_answer(takes_turns: bool) -> None:
    silence: list[Job | Unavailable] = [replace(a_job(JobState.UNKNOWN), raw="REVOKED?")]
    silence += [Unavailable("squeue: time-out")] * takes_turns
    answers = [*(silence * 4)[:4], a_job()]
    rounds = [{Job: each, **gather([Job], {}, {Job: each})} for each in answers]
    turns = list(Story().ticks(rounds))

    assert [firing(turn) for turn in turns] == [[], [], ["monitor-blind"], ["monitor-blind"], []]
    assert all(turn.monitor is MonitorHealth.PARTIAL for turn in turns[:4])
    escalations = [any(isinstance(a, Escalate) for a in turn.actions) for turn in turns]
    assert escalations == [False, False, True, False, False]


def test_a_read_that_hangs_for_one_run_is_no_hanging_read_of_another() -> None:
    """Runs that are watched together read the same sources at the same moment."""
    over = Event()

    def read_asked(place: Place) -> Asked:
        if place.slug == "slow":
            over.wait(30)
        return Asked()

    def gather_of(slug: str, deadline: float) -> object:
        place = Place(slug, f"/state/{slug}", "/out", "/repository")
        return gather([Asked], {Asked: read_asked}, {Place: place}, deadline)[Asked]

    try:
        first = gather_of("slow", 0.05)
        assert isinstance(first, Unavailable) and mentions(first.why, "0.05s")
        assert gather_of("quick", 10) == Asked()
        third = gather_of("slow", 10)
        assert isinstance(third, Unavailable) and mentions(third.why, "read")
    finally:
        over.set()


def test_one_thread_reads_for_one_run_after_another() -> None:
    # A read that another test let hang may come back now: its thread is idle then, and is used too.
    before, threads = set(enumerate_threads()), set()

    def read_asked() -> Asked:
        threads.add(current_thread())
        return Asked()

    for _ in range(20):
        assert gather([Asked], {Asked: read_asked}, {})[Asked] == Asked()
    assert len(threads - before) <= 1 and all(thread.daemon for thread in threads)


@dataclass(frozen=True)
class Other:
    pass


def test_a_slow_source_keeps_no_other_waiting() -> None:
    is_other_read = Event()

    def read_beside(question: Asked) -> Beside:
        assert is_other_read.wait(30)
        return Beside()

    def read_other(question: Asked) -> Other:
        is_other_read.set()
        return Other()

    sources = {Asked: Asked, Beside: read_beside, Other: read_other}
    for kinds in ([Beside, Other], [Other, Beside]):
        is_other_read.clear()
        assert gather(kinds, sources, {Asked: Asked()})[Beside] == Beside()


def test_a_source_that_raises_is_read_again_by_the_next() -> None:
    def read_asked() -> Asked:
        raise OSError("no answer")

    for _ in range(2):
        answer = gather([Asked], {Asked: read_asked}, {})[Asked]
        assert isinstance(answer, Unavailable) and mentions(answer.why, "no answer")


def test_what_a_late_read_makes_ready_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if nothing waited while that one was read, so that nobody looks for a while."""
    monkeypatch.setattr("herorun.gather.PROGRESS_INTERVAL", 600)
    start, is_other_read = Event(), Event()

    def read_asked() -> Asked:
        start.wait(0.2)  # nobody sets it
        return Asked()

    def read_beside(question: Asked) -> Beside:
        assert is_other_read.wait(30)
        return Beside()

    def read_other(question: Asked) -> Other:
        is_other_read.set()
        return Other()

    sources = {Asked: read_asked, Beside: read_beside, Other: read_other}
    for kinds in ([Beside, Other], [Other, Beside]):
        is_other_read.clear()
        assert gather(kinds, sources, {})[Beside] == Beside()


def test_nothing_is_begun_after_the_deadline() -> None:
    over, reads = Event(), SimpleQueue[str]()

    def read_asked() -> Asked:
        over.wait(30)
        return Asked()

    def read_beside(question: Asked) -> Beside:
        reads.put("beside")
        return Beside()

    sources = {Asked: read_asked, Beside: read_beside}
    try:
        assert isinstance(gather([Beside], sources, {}, 0.05)[Beside], Unavailable)
    finally:
        over.set()
    while not isinstance(gather([Asked], {Asked: lambda: Asked()}, {})[Asked], Asked):
        pass  # the late read has not come back yet
    with pytest.raises(Empty):
        reads.get(timeout=0.2)


def test_an_interrupted_look_begins_no_further_read(monkeypatch: pytest.MonkeyPatch) -> None:
    over, start, reads = Event(), Event(), SimpleQueue[str]()

    def read_asked() -> Asked:
        start.set()
        over.wait(30)
        return Asked()

    def read_beside(question: Asked) -> Beside:
        reads.put("beside")
        return Beside()

    def interrupt(what: str, amount: int, total: int | None) -> None:
        assert start.wait(30)
        raise KeyboardInterrupt

    monkeypatch.setattr("herorun.system.progress.progress", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            gather([Beside], {Asked: read_asked, Beside: read_beside}, {})
    finally:
        over.set()
    with pytest.raises(Empty):
        reads.get(timeout=0.5)


def test_a_source_that_ends_its_thread_is_an_answer_at_once() -> None:
    def read_asked() -> Asked:
        raise SystemExit(3)

    answer = gather([Asked], {Asked: read_asked}, {}, deadline=600)[Asked]
    assert isinstance(answer, Unavailable) and mentions(answer.why, "SystemExit")


def test_a_closed_standard_error_loses_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(message: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("herorun.system.progress.verbose", True)
    monkeypatch.setattr("herorun.system.progress.log", refuse)
    assert gather([Asked], {Asked: lambda: Asked()}, {}, deadline=600)[Asked] == Asked()


def test_a_read_that_began_early_is_waited_for_and_not_repeated() -> None:
    start, over, reads = Event(), Event(), []

    def read_asked() -> Asked:
        reads.append(current_thread())
        start.set()
        assert over.wait(30)
        return Asked()

    source = begin(read_asked)
    assert start.wait(30)
    over.set()
    assert gather([Asked], {Asked: source}, {})[Asked] == Asked()
    assert len(reads) == 1 and reads != [current_thread()]


def test_a_read_that_began_early_and_failed_is_no_answer() -> None:
    def read_asked() -> Asked:
        raise CouldNotLook("out of reach")

    answer = gather([Asked], {Asked: begin(read_asked)}, {})[Asked]
    assert isinstance(answer, Unavailable) and mentions(answer.why, "out of reach")
