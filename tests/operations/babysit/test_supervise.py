"""A fleet never loses a run: whatever ends a loop, the run is taken up again, and a silence is an
alert.
"""

import os
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from commands.answers import ask
from herorun.core.babysit.shard import Shard
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.errors import CouldNotLook
from herorun.operations.babysit import supervise, watchdog
from herorun.operations.babysit.supervise import Fleet
from herorun.operations.report import judged_run
from herorun.system import clock
from herorun.system.files import take_lock
from stories import SLUG, WAIT, Story, eventually
from wording import mentions

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_PAUSE", "MAX_PAUSE", "REFRESH_INTERVAL"):
        monkeypatch.setattr(supervise, name, 0.05)


ALL = Shard()


class Watched:
    """A fleet of one story's runs, in a thread of its own."""

    def __init__(self, story: Story, names: list[str], shard: Shard | None = ALL) -> None:
        self.messages: list[str] = []
        self.ticks: list[str] = []
        self.fleet = Fleet(
            story.work,
            lambda run, turn: self.ticks.append(run.slug),
            lambda slug, words: self.messages.append(f"{slug}: {words}"),
            StopCondition(),
            names,
            shard,
        )
        for name in names:
            self.fleet.start(name)
        self._thread = threading.Thread(target=self._go)
        self._thread.start()

    def _go(self) -> None:
        while self.fleet.lives(0.02):
            self.fleet.take_stock()

    def end(self) -> None:
        self.fleet.end()
        self._thread.join(30)


@pytest.fixture
def begin_fleet() -> Any:
    all_of_them: list[Watched] = []

    def start(*args: Any, **keywords: Any) -> Watched:
        all_of_them.append(Watched(*args, **keywords))
        return all_of_them[-1]

    yield start
    for each in all_of_them:
        each.end()


Begin = Callable[..., Watched]


def test_a_run_whose_own_babysitter_is_killed_is_taken_up(story: Story, begin_fleet: Begin) -> None:
    story.sign(babysit={"cadence": "1s"})
    story.run_first_job(WAIT)
    run = story.run
    own = threading.Event()
    lock = take_lock(run.lock("babysitter"), 0.0, "its own babysitter")
    fleet = begin_fleet(story, [SLUG])
    eventually(lambda: fleet.messages)
    assert mentions(fleet.messages[0], "tiny", "work")
    own.wait(0.3)
    assert len(fleet.messages) == 1 and not fleet.ticks

    os.close(lock)  # as the kernel does when it is killed
    eventually(lambda: fleet.ticks)


def test_a_state_folder_that_cannot_be_written_for_a_while_costs_no_run(
    story: Story, begin_fleet: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    mended_folder = threading.Event()
    real = type(story.run).prepare

    def refuse(run: Any) -> None:
        if not mended_folder.is_set():
            raise PermissionError(13, "Permission denied", str(run.state))
        real(run)

    monkeypatch.setattr(type(story.run), "prepare", refuse)
    fleet = begin_fleet(story, [SLUG])
    eventually(lambda: fleet.messages)
    mended_folder.set()
    eventually(lambda: fleet.ticks)


def test_a_run_that_is_relaunched_after_its_watch_ended_is_taken_up_again(
    story: Story, begin_fleet: Begin
) -> None:
    """Its loop ended with a person's word; the fleet lives on for another run."""
    story.sign(babysit={"cadence": "1s"})
    story.run_first_job(WAIT)
    assert story.herorun("stop", SLUG, "--reason", "it stays down", "--wait", "20s") == 0
    fleet = begin_fleet(story, [SLUG])
    idle = threading.Event()
    other = threading.Thread(target=idle.wait)
    other.start()
    fleet.fleet._tasks["other"] = supervise._Task(
        name="other", thread=other
    )  # a run that is watched on and on
    eventually(lambda: fleet.ticks and not fleet.fleet._tasks[SLUG].lives, 30)
    before = len(fleet.ticks)
    story.order("tiny-2", WAIT)
    assert story.herorun("relaunch", SLUG, "--reason", "mended", "--no-babysit") == 0
    eventually(lambda: len(fleet.ticks) > before, 30)
    idle.set()
    (story.data / "go").touch()
    story.wait_for_end("tiny-2")


@pytest.mark.parametrize(("shard", "is_taken_up"), [(Shard(2, 2), True), (Shard(1, 2), False)])
def test_a_run_that_is_launched_meanwhile_is_taken_up_by_its_shard(
    story: Story, begin_fleet: Begin, shard: Shard, is_taken_up: bool
) -> None:
    idle = threading.Event()
    other = threading.Thread(target=idle.wait)
    other.start()
    fleet = begin_fleet(story, [], shard=shard)
    fleet.fleet._tasks["other"] = supervise._Task(
        name="other", thread=other
    )  # a run that is watched on and on
    runner = threading.Thread(target=fleet._go)
    runner.start()
    story.run_first_job(WAIT)
    if is_taken_up:
        eventually(lambda: fleet.ticks)
    else:
        assert not idle.wait(1.0)
        assert not fleet.ticks and SLUG not in fleet.fleet._tasks
    idle.set()
    (story.data / "go").touch()
    story.wait_for_end("tiny-1")
    fleet.fleet.end()
    runner.join(30)


def test_a_name_that_is_no_run_is_told_of_and_left(story: Story, begin_fleet: Begin) -> None:
    fleet = begin_fleet(story, ["nowhere"], shard=None)
    eventually(lambda: not fleet.fleet.lives(0.01))
    assert mentions(fleet.messages[0], "contract") and fleet.fleet.codes == [2]


def test_a_run_that_nobody_looks_at_is_reported_once_and_paged(
    story: Story, begin_fleet: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own issue, by its own record: whoever is responsible for it reads that."""
    story.run_first_job(WAIT)
    story.tick()

    def fails(*_: Any) -> None:
        raise CouldNotLook("this tick cannot be taken")

    monkeypatch.setattr(supervise, "watch", fails)
    monkeypatch.setattr(watchdog, "now", lambda: clock.now() + timedelta(hours=2))
    fleet = begin_fleet(story, [SLUG])
    fleet.fleet._tasks[SLUG].silence = 0.0
    fleet.fleet._tasks[SLUG].alarmed = -1000.0
    eventually(lambda: [key for key in story.comments if key.startswith("watchdog/tiny-1/")])
    (values,) = {
        event.key: event for event in story.events("Intended") if event.key.startswith("watchdog/")
    }.values()
    assert values.page == "must" and "babysitter of tiny" in values.what
    eventually(lambda: any("babysitter of tiny" in words for words in fleet.messages))


def test_a_status_of_a_run_that_is_not_ticking_is_unknown_and_its_alert_critical(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    story.tick()
    assert story.herorun("status", "--all") == 0
    monkeypatch.setattr(judged_run, "now", lambda: clock.now() + timedelta(hours=2))
    answer = ask(story, capsys, "status", "--all", "--json")
    (row,) = answer.document["runs"]
    (alert,) = [each for each in row["alerts"] if each["subject"] == "no babysitter"]
    assert (alert["check"], alert["severity"], alert["state"]) == (
        "stale-monitor",
        "critical",
        "firing",
    )
    assert "`herorun babysit tiny`" in alert["message"]
    assert story.herorun("status", "--all") == story.herorun("status", SLUG) == 3
    elsewhere = story.clone("elsewhere")  # whose record is older: it cannot tell
    answer = ask(elsewhere, capsys, "status", SLUG, "--json")
    assert not [each for each in answer.document["alerts"] if each["subject"] == "no babysitter"]
    (story.data / "go").touch()
    story.wait_for_end()
    row = ask(story, capsys, "status", SLUG, "--json").document
    assert (row["run"], row["alerts"], row["next"]) == ("finished", [], "herorun seal tiny")
