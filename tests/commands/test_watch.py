"""`herorun watch` and `status --all`: what the babysitter keeps, in a real terminal and without
one.
"""

import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from commands.answers import ask
from herorun.commands._run_table import (
    format_checkpoint,
    format_pace,
    format_progress,
    format_tick,
    plain_lines,
    table_of,
)
from herorun.commands.watch import _exit_code_of
from herorun.core.evidence import Candidate, Checkpoints, GivenUp, Job, JobState, Unavailable
from herorun.core.health.training_proof import AwaitedEvidence
from herorun.core.journal import Memory
from herorun.core.run_summary import Pace, RunSummary
from herorun.operations.report import overview
from herorun.trackers.jsonl import JsonLines
from memory_folder import in_memory
from stories import SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
SOURCES = str(Path(__file__).parents[2] / "src")


@pytest.fixture(scope="module")
def world() -> Iterator[Story]:
    """A run in the middle of its steps, which a babysitter looked at once."""
    with tempfile.TemporaryDirectory(
        prefix="herorun-", dir=in_memory(), ignore_cleanup_errors=True
    ) as home:
        story = Story(Path(home).resolve()).begin().run_first_job(WAIT)
        assert story.tick() == 0
        yield story
        story.end()


@pytest.fixture
def watched_story(world: Story) -> Iterator[Story]:
    """The same for every test: what one of them spoils is fixed after it."""
    (evidence,) = (world.state / "evidence").glob("*.jsonl")
    record = evidence.read_bytes()
    yield world
    evidence.write_bytes(record)
    for path in (world.work / "runs").glob("*.toml"):
        if path.stem != SLUG:
            path.unlink()


@pytest.mark.thorough
def test_it_shows_what_the_last_tick_kept_and_asks_no_tracker(
    watched_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_query(*_: object) -> None:
        raise AssertionError("the tracker was asked")

    monkeypatch.setattr(JsonLines, "read", refuse_query)
    before = watched_story.run.record.tip
    (shown_run,) = ask(watched_story, capsys, "watch", SLUG, "--json").document["runs"]
    assert (shown_run["slug"], shown_run["run"], shown_run["monitor"]) == (SLUG, "healthy", "fresh")
    assert [(alert["check"], alert["state"]) for alert in shown_run["alerts"]] == []
    glance = shown_run["summary"]
    assert (glance["step"], glance["final_step"], glance["loss"]) == (3, 4, 2.5)
    assert glance["checkpoint"]["step"] == 2 and 0 <= glance["checkpoint"]["age_seconds"] < 3600
    assert watched_story.run.record.tip == before


def test_without_a_terminal_it_prints_once(watched_story: Story, capsys: CAPTURE) -> None:
    answer = ask(watched_story, capsys, "watch")
    (line,) = [line for line in answer.out.splitlines() if line.startswith(f"{SLUG} ")]
    assert answer.code == 0 and "healthy" in line and "3/4" in line and " ago" in line


def test_a_babysitter_that_stopped_looking_is_a_stale_monitor(
    watched_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = datetime.now(UTC) + timedelta(hours=2)
    monkeypatch.setattr(overview, "now", lambda: later)
    (shown_run,) = ask(watched_story, capsys, "watch", "--json").document["runs"]
    assert (shown_run["run"], shown_run["monitor"]) == ("healthy", "stale")


def test_what_cannot_be_read_is_reported_next_to_the_others(
    watched_story: Story, capsys: CAPTURE
) -> None:
    (watched_story.work / "runs" / "broken.toml").write_text("[[[")
    answer = ask(watched_story, capsys, "watch", "--all")
    assert (
        answer.code == 3
        and mentions(answer.out, "cannot", "read")
        and mentions(answer.out, "valid", "TOML")
    )
    assert [line.split()[0] for line in answer.out.splitlines()[1:3]] == ["broken", SLUG]


def test_a_torn_or_foreign_evidence_file_only_leaves_gaps(
    watched_story: Story, capsys: CAPTURE
) -> None:
    (path,) = (watched_story.state / "evidence").glob("*.jsonl")
    path.write_text("nonsense\n")
    (shown_run,) = ask(watched_story, capsys, "watch", "--json").document["runs"]
    assert shown_run["run"] == "healthy" and shown_run["summary"]["step"] is None


def test_the_last_line_is_found_behind_long_ones(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    path.write_bytes(b"a" * 300_000 + b"\n" + b"b" * 200_000 + b"\n" + b"torn")
    assert overview._last_line(path) == b"b" * 200_000


def test_status_of_all_is_a_table_and_a_fresh_look(watched_story: Story, capsys: CAPTURE) -> None:
    (watched_story.work / "runs" / "another.toml").write_text(
        (watched_story.work / "runs" / "tiny.toml")
        .read_text()
        .replace('slug = "tiny"', 'slug = "another"')
    )
    one = ask(watched_story, capsys, "status", SLUG).out
    assert "  loss       ▁▁▁ 2.5\n" in one and "  checkpoint step 2, " in one
    answer = ask(watched_story, capsys, "status", "--all")
    head, *rows = answer.out.splitlines()
    assert [row.split()[0] for row in rows[:2]] == [SLUG, "another"]
    assert "last tick" not in head  # it has read the evidence itself
    runs = ask(watched_story, capsys, "status", "--all", "--json").document["runs"]
    assert [(run["slug"], run["stage"], run["summary"]["step"]) for run in runs] == [
        (SLUG, "launched", 3),
        ("another", "not initialised", None),
    ]


# --- in a terminal --------------------------------------------------------------------------------


class Terminal:
    """`herorun watch` in a real pseudo-terminal."""

    def __init__(self, story: Story, kind: str = "xterm") -> None:
        self._end, other = pty.openpty()
        argv = [sys.executable, "-m", "herorun", "-C", str(story.work), "watch", "--every", "0.2"]
        env = {
            **os.environ,
            "PYTHONPATH": SOURCES,
            "TERM": kind,
            "COLUMNS": "120",
            "LINES": "20",
        }
        self.process = subprocess.Popen(
            argv, stdin=other, stdout=other, stderr=other, env=env, start_new_session=True
        )
        os.close(other)

    def shows(self, words: str, within: float = 30.0) -> None:
        text, until = b"", time.monotonic() + within
        while words.encode() not in text:
            assert select.select([self._end], [], [], max(0.0, until - time.monotonic()))[0], text
            more = self._read()
            assert more, f"it ended: {text.decode()}"
            text += more

    def _read(self) -> bytes:
        """Nothing once the process is gone, which Linux calls an error."""
        try:
            return os.read(self._end, 65536)
        except OSError:
            return b""

    def type(self, key: str) -> None:
        os.write(self._end, key.encode())

    def wait_for_end(self, within: float = 30.0) -> int:
        until = time.monotonic() + within
        while self.process.poll() is None:  # what it still writes must be read
            assert time.monotonic() < until, "it goes on"
            if select.select([self._end], [], [], 0.1)[0]:
                self._read()
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.fixture
def terminal(watched_story: Story) -> Iterator[Terminal]:
    screen = Terminal(watched_story)
    yield screen
    screen.close()


def test_in_a_terminal_it_continues_until_q(terminal: Terminal) -> None:
    terminal.shows("3/4")
    terminal.type("xq")
    assert terminal.wait_for_end() == 0


@pytest.mark.thorough
def test_an_interruption_ends_it_with_130(terminal: Terminal) -> None:
    terminal.shows("3/4")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.wait_for_end() == 130


def test_a_dumb_terminal_gets_the_table_once(watched_story: Story) -> None:
    terminal = Terminal(watched_story, "dumb")
    terminal.shows("3/4")
    assert terminal.wait_for_end() == 0
    terminal.close()


# --- the words ------------------------------------------------------------------------------------


def test_the_words_of_a_row() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    glance = RunSummary(
        slug="x",
        stage="launched",
        run="healthy",
        step=4600,
        final_step=9200,
        pace=Pace("throughput/tokens_per_second", 48_200.0, 50_000.0, 2.0),
        checkpoint_step=4500,
        checkpoint_age=754.0,
        next_tick=at + timedelta(seconds=42),
    )
    assert format_progress(glance) == "██████       4600/9200 2h33m left"
    assert format_pace(glance) == "48.2k tokens/s 96%"
    assert format_checkpoint(glance) == "step 4500, 12m ago"
    assert (
        format_tick(glance, at) == "in 42s"
        and format_tick(glance, at + timedelta(minutes=2)) == "1m18s late"
    )


@pytest.mark.thorough
def test_a_job_that_was_killed_since_the_last_tick_is_down(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    assert ask(story, capsys, "watch", SLUG, "--json").document["runs"][0]["run"] == "healthy"
    story.end()  # by SIGKILL
    answer = ask(story, capsys, "watch", SLUG, "--json")
    assert (answer.document["runs"][0]["run"], answer.code) == ("down", 1)
    assert " ago" in ask(story, capsys, "watch", SLUG).out


@pytest.mark.thorough
def test_what_the_last_tick_awaited_is_shown_until_the_job_ends(
    story: Story, capsys: CAPTURE
) -> None:
    (story.data / "no-receipt").touch()
    story.run_first_job(WAIT)
    assert story.tick() == 3
    answer = ask(story, capsys, "watch", SLUG, "--json")
    (shown_run,) = answer.document["runs"]
    assert [missing["evidence"] for missing in shown_run["missing_evidence"]] == [
        "receipt"
    ] and answer.code == 3
    assert mentions(" ".join(ask(story, capsys, "watch", SLUG).out.split()), "missing", "tiny-1")
    story.end()
    assert ask(story, capsys, "watch", SLUG, "--json").document["runs"][0]["missing_evidence"] == []


JOBS: tuple[tuple[Job | Unavailable, tuple[str, str], tuple[str, str]], ...] = (
    (
        Job(id="1", instance="tiny-1", state=JobState.RUNNING),
        ("healthy", "fresh"),
        ("healthy", "fresh"),
    ),
    (
        Job(id="1", instance="tiny-1", state=JobState.FAILED),
        ("healthy", "fresh"),
        ("down", "fresh"),
    ),
    (
        Job(id="1", instance="tiny-1", state=JobState.CANCELLED),
        ("degraded", "stale"),
        ("down", "stale"),
    ),
    (
        Job(id="1", instance="tiny-1", state=JobState.GONE),
        ("healthy", "fresh"),
        ("unknown", "fresh"),
    ),
    # not judged yet
    (
        Job(id="1", instance="tiny-1", state=JobState.SUCCEEDED),
        ("healthy", "fresh"),
        ("unknown", "fresh"),
    ),
    (
        Job(id="1", instance="tiny-1", state=JobState.SUCCEEDED),
        ("finished", "fresh"),
        ("finished", "fresh"),
    ),
    (
        Job(id="1", instance="tiny-1", state=JobState.SUCCEEDED),
        ("down", "fresh"),
        ("down", "fresh"),
    ),
    (
        Job(id="1", instance="tiny-2", state=JobState.RUNNING),
        ("down", "fresh"),
        ("starting", "fresh"),
    ),
    (Unavailable("squeue: no answer"), ("healthy", "fresh"), ("unknown", "partial")),
    (Unavailable("squeue: no answer"), ("healthy", "stale"), ("unknown", "stale")),
)


@pytest.mark.parametrize(("job", "record", "words"), JOBS)
def test_what_the_scheduler_says_now_beats_what_was_seen_last(
    job: Job | Unavailable, record: tuple[str, str], words: tuple[str, str]
) -> None:
    assert overview._state_of_job(job, record) == words


def test_the_newest_checkpoint_is_one_of_the_present_lineage() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    saved_paths = [
        Candidate(path=f"/r/step-{n}", step=n, root="/r", modified=at + timedelta(hours=n))
        for n in (100, 600)
    ]
    fields = {Checkpoints: Checkpoints(tuple(saved_paths))}
    assert overview._newest_step(fields, Memory())[1] == 600
    back = replace(Memory().history, given_up=(GivenUp(100, at + timedelta(days=40)),))
    assert overview._newest_step(fields, SimpleNamespace(history=back))[1] == 100


LAST = {200: "in 42s", 100: "48.2k 96%", 80: "left", 60: "4m10s ago", 40: "stale"}


@pytest.mark.parametrize("width", LAST)
def test_a_table_fits_its_terminal_and_cuts_neither_state_nor_number(width: int) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    run = RunSummary(
        slug="grug-moe-1e23",
        stage="launched",
        run="healthy",
        monitor="stale",
        step=4600,
        final_step=9200,
        loss=2.345,
        curve="█▇▆▅▄▃▂▁" * 3,
        pace=Pace("throughput/tokens_per_second", 48_200.0, 50_000.0, 2.0),
        checkpoint_step=4500,
        checkpoint_age=754.0,
        next_tick=at + timedelta(seconds=42),
        seen_at=at - timedelta(seconds=250),
    )
    out = Console(file=StringIO(), width=width)
    summaries = [run, RunSummary(slug="x", stage="initialised")]
    out.print(table_of(summaries, at, width))
    lines = [line.rstrip() for line in out.file.getvalue().splitlines()]
    assert plain_lines(summaries, at, width) == lines  # as a pipe gets them
    assert len(lines) == 3 and max(map(len, lines)) <= width
    assert mentions(lines[1], "healthy", "monitor stale")
    assert lines[1].startswith("grug-moe-1e23 ") and "…" not in lines[1]
    assert lines[1].endswith(LAST[width])


AWAITED_EVIDENCE = (AwaitedEvidence("receipt", "tiny-1 has not checked in"),)


@pytest.mark.parametrize(
    ("glance", "code"),
    [
        (RunSummary(slug="a", stage="launched", run="healthy"), 0),
        (RunSummary(slug="a", stage="launched", run="down"), 1),
        (RunSummary(slug="a", stage="launched", run="finished", awaited=AWAITED_EVIDENCE), 3),
        (RunSummary(slug="a", stage="launched", error="no contract"), 3),
    ],
)
def test_its_exit_code_is_the_worst_of_the_runs(glance: RunSummary, code: int) -> None:
    assert _exit_code_of([RunSummary(slug="calm", stage="launched", run="healthy"), glance]) == code
