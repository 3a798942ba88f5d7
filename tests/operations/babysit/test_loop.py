"""The babysitter's own process: detached, alone, hard to kill by a bad tick, and gone when there is
nothing left.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import pytest

from commands.answers import ask
from herorun.core.evidence import Now
from herorun.core.ports import Place
from herorun.operations.babysit import loop
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.babysit.tick import run_tick
from herorun.operations.health.shared_polls import SharedPolls
from herorun.operations.launch import start_babysitter
from herorun.operations.record.heartbeat import beat, last_heartbeat
from herorun.operations.report import babysitter_state, judged_run, status
from herorun.runs import Run, watched_run
from herorun.sources.leases import read_heartbeat
from herorun.system.clock import now
from herorun.system.files import hold_lock, is_locked, take_lock
from stories import CRASH, SLUG, WAIT, Story, eventually, git
from wording import mentions

SOURCES = str(Path(__file__).parents[3] / "src")


@pytest.fixture(autouse=True)
def paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", SOURCES)


def lock(story: Story) -> Path:
    return story.work / ".git" / "herorun" / "tiny.babysitter.lock"


def log(story: Story) -> str:
    return (story.work / ".herorun" / SLUG / "babysit.log").read_text()


@pytest.mark.thorough
def test_a_launch_starts_one_that_relaunches_tells_and_ends_with_the_run(story: Story) -> None:
    story.sign(babysit={"cadence": "1s"})
    story.order("tiny-1", f"{WAIT}; {CRASH}")
    story.init()
    assert story.herorun("launch", SLUG) == 0
    assert is_locked(lock(story)) and last_heartbeat(story.run) is not None
    (story.data / "go").touch()
    eventually(lambda: not is_locked(lock(story)))
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2"]
    assert "post/submit/tiny-2" in story.comments and "tell/tiny-2/finished" in story.comments
    assert "tiny: finished" in log(story)
    assert story.herorun("logbook", "verify", SLUG) == 0


def test_there_is_one_at_a_time_and_a_signal_ends_it(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    run = story.run
    message = start_babysitter.start_babysitter(run)
    pid = json.loads((run.state / "heartbeat.json").read_text())["pid"]
    assert f"process {pid}" in message
    assert mentions(start_babysitter.start_babysitter(run), "already", "babysit.log")
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not is_locked(lock(story)))
    eventually(lambda: "herorun: interrupted." in log(story))
    assert len(story.starts) == 1


def test_a_signal_that_is_dropped_within_a_tick_ends_the_loop_after_it(story: Story) -> None:
    story.run_first_job(WAIT)
    ticks: list[TickOutcome] = []

    def tick(run: Run, drift: str) -> TickOutcome:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        ticks.append(run_tick(run, drift))
        return ticks[-1]

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.watch(SLUG, story.work, lambda *_: None, None, tick, open_monitored=watched_run)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert len(ticks) == 1


@pytest.mark.parametrize("leap", [timedelta(hours=3), timedelta(hours=-3)])
def test_a_clock_that_is_set_makes_no_babysitter_look_dead(story: Story, leap: timedelta) -> None:
    """Through the file: its age goes by the uptime, also where the clock was set since."""
    assert story.init() == 0
    run = story.run
    beat(run, pid=1)
    place = Place(SLUG, str(run.state), "", "")
    lock = take_lock(run.lock("babysitter"), 0.0, "the loop")
    try:
        heart = read_heartbeat(run.repository, run.contract, place, Now(now() + leap))
    finally:
        os.close(lock)
    assert heart.held and not heart.own and heart.at is not None
    assert timedelta() <= now() + leap - heart.at < timedelta(minutes=5)


@pytest.mark.parametrize("every", [(SLUG,), pytest.param(("--all",), marks=pytest.mark.thorough)])
def test_one_over_which_another_herorun_is_installed_starts_again_from_that(
    story: Story, tmp_path: Path, every: tuple[str, ...]
) -> None:
    """The modules of both would not fit, and it would meet that where a relaunch needs them."""
    story.sign(babysit={"cadence": "1s"})
    story.run_first_job(WAIT)
    package, new = tmp_path / "site" / "herorun", tmp_path / "new" / "herorun"
    ignored_signals = shutil.ignore_patterns("__pycache__")
    for copy in (package, new):
        shutil.copytree(Path(SOURCES) / "herorun", copy, ignore=ignored_signals)
    with (new / "__init__.py").open("a") as file:
        file.write("\nimport sys\nprint('the new one', file=sys.stderr)\n")
    argv = [sys.executable, "-P", "-m", "herorun", "babysit", *every]
    output = tmp_path / "output"
    with output.open("w") as stream, running(argv, story, package.parent, stream) as process:
        eventually(lambda: "tiny: " in output.read_text())
        (package / "cli.py").unlink()  # an installation that is not complete
        (package / "__init__.py").write_text((new / "__init__.py").read_text())
        time.sleep(3)
        assert "the new one" not in output.read_text().splitlines()
        shutil.copytree(new, package, dirs_exist_ok=True)
        (package / "__init__.py").touch()
        eventually(lambda: "tiny: " in output.read_text().partition("\nthe new one\n")[2])
        assert process.poll() is None
    assert mentions(output.read_text(), "another herorun", "starts again")


@contextlib.contextmanager
def running(
    argv: list[str], story: Story, site: Path, stream: IO[str]
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        argv,
        cwd=story.work,
        env={**os.environ, "PYTHONPATH": str(site)},
        stdout=stream,
        stderr=stream,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.thorough
def test_a_tick_that_fails_is_reported_and_the_next_one_is_due(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it was: a full disk, a locked file, a fault of ours."""
    story.run_first_job()
    failures = iter([OSError(28, "No space left on device", "/state"), RuntimeError("\x1b[31mx")])
    real = loop.run_tick

    def flaky(*args: object) -> object:
        for failure in failures:
            raise failure
        return real(*args)

    monkeypatch.setattr(loop, "run_tick", flaky)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert story.herorun("babysit", SLUG) == 0
    errors = capsys.readouterr().err
    assert mentions(errors, "/state", "space")
    assert mentions(errors, "tick", "RuntimeError", "�[31mx")
    assert "tell/tiny-1/finished" in story.comments


@pytest.mark.thorough
def test_a_status_says_when_nobody_watches(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    capsys.readouterr()
    story.herorun("status", SLUG, "--json")
    assert mentions(json.loads(capsys.readouterr().out)["babysitter"], "none", "seen")
    story.tick()
    heart = story.work / ".herorun" / SLUG / "heartbeat.json"
    document = json.loads(heart.read_text())
    heart.write_text(json.dumps({"at": "2026-01-01T00:00:00Z"}))
    answer = ask(story, capsys, "status", SLUG, "--json")
    assert mentions(answer.document["babysitter"], "another clone")
    monkeypatch.setattr(babysitter_state, "last_tick_elsewhere", lambda run: None)
    answer = ask(story, capsys, "status", SLUG, "--json")
    assert answer.document["babysitter"].startswith("overdue: ")
    assert (answer.code, answer.document["monitor"], answer.document["run"]) == (
        3,
        "stale",
        "healthy",
    )
    heart.write_text(
        json.dumps({**document, "next": document["at"]})
    )  # a loop was to look again, and none holds the lock
    answer = ask(story, capsys, "status", SLUG, "--json").document
    assert mentions(answer["babysitter"], "not running", "last heartbeat")
    assert answer["next"] == f"herorun babysit {SLUG}"
    assert answer["monitor"] == "stale"
    heart.write_text("{torn")
    assert last_heartbeat(story.run) is None


@pytest.mark.thorough
def test_a_babysitter_that_has_nothing_left_to_watch_is_not_stale(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_to_success()
    heart = story.work / ".herorun" / SLUG / "heartbeat.json"
    heart.write_text(json.dumps({"at": "2026-01-01T00:00:00Z"}))
    answer = ask(story, capsys, "status", SLUG, "--json")
    assert mentions(answer.document["babysitter"], "finished", "heartbeat", "ago")
    assert (answer.code, answer.document["monitor"]) == (0, "not-needed")
    with hold_lock(story.run.lock("babysitter")):  # one that runs monitors
        assert ask(story, capsys, "status", SLUG, "--json").document["monitor"] == "fresh"


@pytest.mark.thorough
def test_a_babysitter_of_a_run_that_stays_down_has_not_stopped_at_a_good_end(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    assert story.tick() == 1
    babysitter = ask(story, capsys, "status", SLUG, "--json").document["babysitter"]
    assert story.herorun("deny", SLUG) == 0
    denied_document = ask(story, capsys, "status", SLUG, "--json").document["babysitter"]
    assert not mentions(babysitter, "stopped")
    assert mentions(denied_document, "stopped", "down") and not mentions(denied_document, "over")
    answer = ask(story, capsys, "status", SLUG, "--json")
    assert (answer.code, answer.document["monitor"]) == (1, "not-needed")


@pytest.mark.thorough
def test_a_babysitter_that_ends_while_the_status_is_read_has_no_next_tick(
    story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As right after a stop, which wakes it for its last tick."""
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    assert story.tick() == 1
    assert story.herorun("deny", SLUG) == 0
    heart = story.work / ".herorun" / SLUG / "heartbeat.json"
    soon = (now() + timedelta(minutes=1)).isoformat()
    heart.write_text(json.dumps({"at": now().isoformat(), "next": soon}))
    with contextlib.ExitStack() as alive:
        alive.enter_context(hold_lock(story.run.lock("babysitter")))
        judge = status.judge

        def judge_to_the_end(run: Run, polls: SharedPolls | None) -> judged_run.JudgedRun:
            look = judge(run, polls)
            alive.close()
            return look

        monkeypatch.setattr(status, "judge", judge_to_the_end)
        document = ask(story, capsys, "status", SLUG, "--json").document
    assert mentions(document["babysitter"], "stopped")
    assert document["summary"]["next_tick"] is None


# --- when it looks --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_loop_that_is_started_again_continues_when_the_one_before_meant_to(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rest is cut short by nothing but an order."""
    story.run_to_success()
    rests: list[float] = []
    monkeypatch.setattr(time, "sleep", rests.append)
    heart = story.work / ".herorun" / SLUG / "heartbeat.json"
    due = datetime.now(UTC) + timedelta(seconds=100)
    heart.write_text(json.dumps({**json.loads(heart.read_text()), "next": due.isoformat()}))
    assert story.herorun("babysit", SLUG) == 0
    assert 90 < sum(rest for rest in rests if rest > 0.5) <= 100  # shorter ones are not ours

    rests.clear()
    assert "next" not in json.loads(heart.read_text())  # that one ended for good
    assert story.herorun("babysit", SLUG) == 0 and max(rests, default=0) < 0.5


@pytest.mark.thorough
def test_an_order_wakes_the_loop(story: Story) -> None:
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    story.tick()
    start_babysitter.start_babysitter(story.run)
    eventually(lambda: "next" in json.loads((story.state / "heartbeat.json").read_text()))
    assert story.herorun("approve", SLUG) == 0
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_a_watch_ends_where_it_is_told_to_with_a_summary(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0  # tells what it reached so far
    for until in ("step=2", "time=1s"):
        answer = ask(story, capsys, "babysit", SLUG, "--until", until)
        assert answer.code == 0
        assert mentions(answer.out, "tiny: monitored until") and "instance   tiny-1" in answer.out
    assert ask(story, capsys, "babysit", SLUG, "--until", "soon").code == 2
    (story.data / "go").touch()
    story.wait_for_end()


@pytest.mark.thorough
def test_a_run_that_is_down_is_watched_until_a_person_takes_note(story: Story) -> None:
    story.sign(babysit={"recovery": "observe", "cadence": "1s"})
    story.run_first_job(CRASH)
    start_babysitter.start_babysitter(story.run)
    eventually(lambda: "escalate/relaunch/tiny-1/recovery" in story.comments)
    assert is_locked(lock(story))
    assert story.herorun("ack", SLUG) == 0
    eventually(lambda: not is_locked(lock(story)))


@pytest.mark.thorough
def test_several_runs_are_watched_at_once_and_one_that_is_broken_ends_no_other(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_to_success()
    (story.work / "runs" / "other.toml").write_text("nonsense")
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "herorun",
            "-C",
            str(story.work),
            "babysit",
            "other",
            SLUG,
            "--json",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 2 and "other" in process.stderr
    rows = {row["slug"]: row for row in (json.loads(line) for line in process.stdout.splitlines())}
    assert rows[SLUG]["run"] == "finished" and mentions(rows["other"]["error"], "valid", "TOML")


@pytest.mark.thorough
def test_a_run_in_another_clone_is_watched_from_its_record(story: Story) -> None:
    """The record comes with the first look; whose job this machine cannot see is left alone."""
    story.run_first_job(CRASH)
    other = story.clone("elsewhere")
    assert other.tick() == 3
    assert len(story.starts) == 1
    assert git(other.work, "rev-parse", "refs/herorun/record/tiny")
