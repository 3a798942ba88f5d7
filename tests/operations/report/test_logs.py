"""`herorun logs`: any scheduler's log, in whole lines, harmless, while it grows or is replaced."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commands.answers import ask
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.evidence import Instance, Job, JobState
from herorun.core.ports import Found, LogPart, Search, Unknown
from herorun.operations.report import logs
from herorun.schedulers._logs import read_local_part
from stories import SLUG, WAIT, Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
AT = datetime(2026, 1, 1, tzinfo=UTC)
TINY = Instance(
    name="tiny-1",
    number=1,
    job="7",
    plan_digest="",
    output_root="/data",
    started=AT,
    commit="",
)


class OneLog:
    """A scheduler with one job, whose log is a file; it runs until `ended`."""

    def __init__(self, path: Path) -> None:
        self.path, self.state, self.cut = path, JobState.RUNNING, 0

    def find(self, instance: str, intended_at: datetime) -> Search:
        return Found(Job(id="7", instance=instance, state=self.state))

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        if self.cut:
            self.cut -= 1
            raise CouldNotLook("the link is cut")
        return read_local_part(str(self.path), offset, limit, mark)


class TailAlone:
    """A scheduler that cannot read from an offset."""

    def __init__(self, path: Path) -> None:
        self.path, self.state = path, JobState.RUNNING

    find = OneLog.find

    def tail(self, instance: str, lines: int) -> str:
        return "".join(self.path.read_text().splitlines(keepends=True)[-lines:])


@pytest.fixture(params=[OneLog, TailAlone])
def scheduler(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    (tmp_path / "log").write_text("")
    return request.param(tmp_path / "log")


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What happens between two reads: taken from this list, one each time; then the job ends."""
    queue: list[Any] = []
    monkeypatch.setattr(logs, "IDLE", -1.0)
    monkeypatch.setattr(logs.time, "sleep", lambda _: queue.pop(0)())
    yield queue
    assert queue == []


def followed_lines(scheduler: Any, lines: int | None = None) -> tuple[str, list[str]]:
    text: list[str] = []
    return "".join(logs.follow_log(scheduler, TINY, lines, text.append)), text


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_what_is_new_comes_as_whole_lines_until_the_job_has_ended(
    scheduler: Any, steps: list[Any]
) -> None:
    scheduler.path.write_text("one\ntwo\n")

    def end() -> None:
        scheduler.state = JobState.FAILED
        append(scheduler.path, "ee\nfour")

    steps += [lambda: append(scheduler.path, "thr"), end]
    assert followed_lines(scheduler) == ("one\ntwo\nthree\nfour\n", ["tiny-1 has ended (failed)"])


def test_a_job_that_is_silent_ends_it_after_a_while(
    scheduler: Any, steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(logs, "IDLE", 10.0)
    monkeypatch.setattr(logs.time, "monotonic", lambda: clock[0])

    def grow_and_end() -> None:
        append(scheduler.path, "one\n")
        scheduler.state = JobState.SUCCEEDED

    def wait() -> None:
        clock[0] += 5

    steps += [grow_and_end, wait, wait]
    log, messages = followed_lines(scheduler)
    assert log == "one\n"
    assert len(messages) == 2 and mentions(messages[0], "log", "tiny-1", "empty")
    assert messages[1] == "tiny-1 has ended (succeeded)"


def test_a_job_that_has_ended_is_not_waited_for(scheduler: Any, steps: list[Any]) -> None:
    append(scheduler.path, "one\n")
    scheduler.state = JobState.SUCCEEDED
    assert followed_lines(scheduler) == ("one\n", ["tiny-1 has ended (succeeded)"])


def test_a_progress_bar_is_shown_before_its_newline() -> None:
    text = logs.LogText()
    assert text.add(b" 10%\r 20%\r") == " 10%\n"
    assert text.add(b" 30%\r\nnext\r") == " 20%\n 30%\n"
    assert text.add(b"\n") == "next\n"


def test_a_log_that_is_replaced_is_read_from_its_start(scheduler: Any, steps: list[Any]) -> None:
    scheduler.path.write_text("before the rotation\n")

    def end() -> None:
        scheduler.state = JobState.SUCCEEDED

    steps += [lambda: scheduler.path.write_text("behind it\n"), end]
    text, output = followed_lines(scheduler)
    assert text == "before the rotation\nbehind it\n"
    assert mentions(output[0], "tiny-1", "replaced")


def test_a_cut_link_is_reported_once_and_does_not_end_it(tmp_path: Path, steps: list[Any]) -> None:
    one = OneLog(tmp_path / "log")

    def end() -> None:
        one.state = JobState.SUCCEEDED

    one.cut = 2
    steps += [lambda: None, lambda: one.path.write_text("there\n"), end]
    text, output = followed_lines(one)
    assert text == "there\n"
    assert len([message for message in output if "cut" in message]) == 1


@pytest.mark.parametrize("lines", [0, 1, 2, 3, 9])
def test_the_newest_lines_alone(scheduler: Any, lines: int) -> None:
    scheduler.path.write_text("one\ntwo\nthree\n")
    expected_lines = ["one\n", "two\n", "three\n"][max(0, 3 - lines) :]
    assert "".join(logs.read_log(scheduler, TINY, lines)) == "".join(expected_lines)


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_log_that_the_back_end_has_forgotten_is_lost_and_not_to_come(
    scheduler: Any, is_forgotten: bool
) -> None:
    """As after a restart of Ray's head."""
    scheduler.path.unlink()
    answer = Unknown("the head was restarted", forgotten=is_forgotten)
    scheduler.find = lambda instance, intended_at: answer
    with pytest.raises(Blocked) as error:
        list(logs.read_log(scheduler, TINY, None))
    assert mentions(str(error.value), "tiny-1", "restarted") is is_forgotten
    messages: list[str] = []
    reader = logs._LogReader(scheduler, TINY, None)
    assert [*reader.attempt(messages.append), *reader.attempt(messages.append)] == []
    (message,) = messages
    assert f"{message}." == str(error.value)


def test_secrets_and_control_characters_do_not_reach_the_terminal() -> None:
    text = logs.LogText()
    key = "sk-ant-api03-" + "a" * 80
    output = text.add(f"\x1b]0;owned\x07\x1b[31mkey {key[:20]}".encode())
    output += text.add(f"{key[20:]}\x1b[0m\rstep 1\a\n".encode()) + text.end()
    assert key not in output and "a" * 30 not in output
    assert "\x1b" not in output and "\r" not in output and "step 1\ufffd\n" in output


def test_the_command_prints_the_log_of_a_real_job(story: Story, capsys: CAPTURE) -> None:
    missing = ask(story, capsys, "logs")
    assert missing.code == 1 and mentions(missing.err, "tiny", "launched")
    story.run_first_job("echo one; echo two; echo three")
    whole = ask(story, capsys, "logs")
    assert whole.code == 0 and len(whole.out.splitlines()) > 2
    assert ask(story, capsys, "logs", SLUG, "-n", "1").out == whole.out.splitlines(True)[-1]
    assert ask(story, capsys, "logs", "--instance", "1", "--json").document["text"] == whole.out
    wrong = ask(story, capsys, "logs", "--instance", "9")
    assert wrong.code == 2 and "there are tiny-1." in wrong.err


def test_the_list_asks_the_record_alone(story: Story, capsys: CAPTURE) -> None:
    assert ask(story, capsys, "list").out.split()[-4:] == ["never", "no", "record", "here"]
    story.run_first_job()
    story.tick()
    (entry,) = ask(story, capsys, "list", "--json").document["runs"]
    assert (entry["stage"], entry["instance"], entry["error"]) == ("launched", "tiny-1", "")
    assert entry["progress"] in ask(story, capsys, "list").out


SOON = """\
from herorun import cli
from herorun.operations.report import logs

logs.IDLE = 0.5  # instead of ten seconds
cli.main()
"""


@contextlib.contextmanager
def following(story: Story, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`herorun logs -f` as a person starts it; nothing of it is left behind."""
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", SOON, "-C", str(story.work), "logs", SLUG, "-f"],
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.thorough
def test_a_live_job_is_followed_until_ctrl_c_or_its_end(story: Story, tmp_path: Path) -> None:
    story.order("tiny-1", f"echo begins; {WAIT}; echo goes on")
    assert story.init() == 0 and story.launch() == 0
    first, second = tmp_path / "first", tmp_path / "second"
    with following(story, first) as interruption, following(story, second) as whole:
        eventually(lambda: "begins\n" in first.read_text() and "begins\n" in second.read_text())
        assert "goes on" not in second.read_text()
        interruption.send_signal(signal.SIGINT)
        assert interruption.wait(60) == 130
        (story.data / "go").touch()
        eventually(lambda: "goes on\n" in second.read_text())
        assert whole.wait(60) == 0
    assert "Traceback" not in first.read_text()
    assert mentions(second.read_text().splitlines()[-1], "herorun: tiny: tiny-1", "(succeeded)")
