"""The process ends around each page, or the channel misbehaves: none is lost, and none comes twice
unasked.

A channel cannot be asked what it has said. Where the process ended after a page was begun and
before its outcome was written down, the page comes once more and says so; where a channel gave no
answer, the next one is tried. No other page comes twice. HERORUN_CRASH_ALL=1 goes through all of
it; else a sample of the day.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.faults import Dead, Fault, deadly, is_read, raise_dead
from crash.outages import Outage, Trouble, impatient
from crash.stages import EVERY, STAGES, TODAY, must_hold
from crash.test_sigkill import kill
from services.channel_servers import WebService, web_service
from stories import CRASH, Story, copy

NOTIFY_TABLES: dict[str, Any] = {"notify": {"targets": ["FIRST", "SECOND"]}}
TOGETHER = (  # they wait at the same time, so they are one message
    "crashed [tiny-1] (critical)",
    "Relaunch requested: tiny-2",
)
PAGES = {*TOGETHER, "tiny-2 finished"}
SENDING = "AppriseChannel.post"
(TICK,) = (stage for stage in STAGES if stage.name == "tick")


@pytest.fixture
def service() -> Iterator[WebService]:
    with web_service() as server:
        yield server


@pytest.fixture
def paged_story(
    story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Story]:
    """A run that crashed, whose DRI has two channels and knows nothing of it yet."""
    impatient(monkeypatch)
    for name in NOTIFY_TABLES["notify"]["targets"]:
        monkeypatch.setenv(name, f"json://{service.place}/{name}")
    story.sign(**NOTIFY_TABLES)
    story.run_first_job(CRASH)
    with deadly():
        yield story


def _under(trouble: Fault | Outage, story: Story) -> None:
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Dead):
        trouble.install(patch)
        TICK.act(story)


def _after(story: Story, service: WebService) -> list[tuple[str, str]]:
    """All goes on to its end; every page that came, by title and words."""
    TICK.again(story)
    TICK.rest(story)
    must_hold(story)
    story.end()
    return [(body["title"], body["message"]) for _, body in service.deliveries]


@pytest.mark.thorough
def test_a_process_that_ends_around_a_page_loses_none_and_repeats_only_what_it_must(
    paged_story: Story, service: WebService, tmp_path: Path
) -> None:
    pair = _kept_and_seen(paged_story, tmp_path / "kept")
    for at, after in _around(pair) if EVERY else _around(pair)[TODAY % 6 :: 6]:
        _begins_again(paged_story, service, tmp_path / "kept")
        fault = Fault(at, after, raise_dead)
        _under(fault, paged_story)
        calls = _counted_calls(pair, after)
        # the line of each of its pages is written before and after the sending
        in_doubt = SENDING in fault.calls_seen[-3:] or SENDING in calls[at : at + 2]
        where = f"it ended {'after' if after else 'before'} call {at} of {calls}"
        _must_have_come(_after(paged_story, service), in_doubt, where)


@pytest.mark.thorough
def test_a_process_that_is_killed_around_a_page_loses_none_and_repeats_only_what_it_must(
    paged_story: Story, service: WebService, tmp_path: Path
) -> None:
    """With a real SIGKILL; what the killed process sent is on its way for good."""
    pair = _kept_and_seen(paged_story, tmp_path / "kept")
    for at, after in _around(pair) if EVERY else _around(pair)[TODAY % 4 :: 4]:
        _begins_again(paged_story, service, tmp_path / "kept")
        kill(TICK, paged_story, at, "after" if after else "before")
        calls = _counted_calls(pair, after)
        where = f"killed {'after' if after else 'before'} call {at} of {calls}"
        _must_have_come(
            _after(paged_story, service), SENDING in calls[max(0, at - 3) : at + 2], where
        )


def _kept_and_seen(paged_story: Story, path: Path) -> list[str]:
    """The calls of an undisturbed tick; the world before it is kept."""
    copy(paged_story.home, path)
    counting = Fault(0, False, lambda: None)
    _under(counting, paged_story)
    paged_story.end()
    return counting.calls_seen


def _begins_again(paged_story: Story, service: WebService, path: Path) -> None:
    copy(path, paged_story.home)
    service.deliveries.clear()


def _counted_calls(lines: list[str], after: bool) -> list[str]:
    """The calls among which a fault finds its own: after a read it never strikes."""
    return [call for call in lines if not (after and is_read(call))]


def _around(lines: list[str]) -> list[tuple[int, bool]]:
    """From the append of the first page's intent on: it is the call before, and calls are counted
    from 1.
    """
    points = [
        (at, after)
        for after in (False, True)
        for calls in [_counted_calls(lines, after)]
        for at in range(calls.index(SENDING), len(calls) + 1)
    ]
    return sorted(points)


def _titles(came: list[tuple[str, str]]) -> Counter[str]:
    """How often each page came, by itself or in the message of another."""
    lines = [
        {*title.removeprefix("tiny: ").split("; "), *text.splitlines()} for title, text in came
    ]
    return Counter(page for each in lines for page in PAGES if page in each)


def _must_have_come(came: list[tuple[str, str]], may_repeat: bool, where: str) -> None:
    titles = _titles(came)
    in_doubt = [words for _, words in came if "may be a repeat" in words]
    assert set(titles) == PAGES, where
    assert max(titles.values()) <= 1 + len(in_doubt) <= 2, where
    assert not in_doubt or may_repeat, where


@pytest.mark.thorough
@pytest.mark.parametrize(
    "trouble", list(Trouble) if EVERY else [list(Trouble)[TODAY % len(Trouble)]]
)
def test_a_channel_that_misbehaves_loses_no_page(
    paged_story: Story, service: WebService, trouble: Trouble
) -> None:
    outage = Outage(SENDING, 1, trouble)
    _under(outage, paged_story)
    outage.deliver()
    came = _titles(_after(paged_story, service))
    assert outage.has_struck and set(came) == PAGES
    forced_repeats = len(TOGETHER) if trouble in (Trouble.LOST, Trouble.LATE) else 0
    assert sum(came.values()) == len(PAGES) + forced_repeats
