"""Sentinels on a run of this machine: real processes, which always end; and the list of them."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import stories
from commands.answers import ask
from herorun.system import process_registry
from stories import CRASH, SLUG, WAIT, Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "herorun" / "watchers"


@contextlib.contextmanager
def begin(story: Story, *words: str) -> "Iterator[subprocess.Popen[str]]":
    """A sentinel of its own process, as people start it."""
    argv = [
        sys.executable,
        "-m",
        "herorun",
        "-C",
        str(story.work),
        "await",
        SLUG,
        "--every",
        "1s",
        *words,
    ]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as sentinel:
        try:
            yield sentinel
        finally:
            sentinel.kill()


def quiet(story: Story, **patrol: Any) -> Story:
    story.sign(patrol={"gpu_sample_seconds": 0, **patrol})
    return story


@pytest.fixture
def waiting(story: Story) -> Story:
    """A run whose job waits at step 3."""
    return quiet(story).run_first_job(WAIT)


@pytest.mark.thorough
def test_each_thing_ends_its_sentinel(waiting: Story, capsys: CAPTURE) -> None:
    marker = waiting.data / "EVAL_DONE"
    marker.touch()
    for words in (
        ["--marker", str(marker)],
        ["--state", "running"],
        ["--state", "healthy"],
        ["--step", "3"],
    ):
        answer = ask(
            waiting, capsys, "await", SLUG, *words, "--every", "1s", "--max", "1", "--json"
        )
        assert (answer.code, answer.document["reached"], answer.document["polls"]) == (
            0,
            True,
            1,
        ), words


@pytest.mark.thorough
def test_it_gives_up_at_its_bound(waiting: Story, capsys: CAPTURE) -> None:
    answer = ask(waiting, capsys, "await", SLUG, "--step", "4", "--every", "1s", "--max", "1")
    assert answer.code == 1 and mentions(answer.out, "waiting", "1 query")


def test_it_waits_for_the_end_and_ends_with_it(waiting: Story) -> None:
    with begin(waiting) as sentinel:
        assert sentinel.poll() is None
        (waiting.data / "go").touch()
        out, err = sentinel.communicate(timeout=180)
    assert sentinel.returncode == 0 and mentions(out, "end", "reached"), err


@pytest.mark.thorough
def test_a_crash_ends_it_at_once_with_what_is_to_be_done(story: Story, capsys: CAPTURE) -> None:
    quiet(story).run_first_job(CRASH)
    answer = ask(story, capsys, "await", SLUG, "--step", "4", "--every", "90s")
    assert answer.code == 1 and mentions(answer.out, "down", "4") and "relaunch tiny" in answer.out


@pytest.mark.thorough
def test_a_new_sentinel_retires_the_one_before_it_and_no_other(waiting: Story, state: Path) -> None:
    with begin(waiting) as first:
        eventually(lambda: len(list(state.glob("*.json"))) == 1)
        with begin(waiting, "--max", "1") as second:
            out, err = second.communicate(timeout=180)
        assert first.wait(30) == 130
        assert mentions(err, "process", f"{first.pid}", "ended")
        assert second.returncode == 1 and mentions(out, "waiting")
    assert list(state.glob("*.json")) == []


@pytest.mark.thorough
def test_the_list_forgets_the_dead_retires_the_stale_and_leaves_the_rest(
    waiting: Story, state: Path, capsys: CAPTURE
) -> None:
    """A file may name a process that was never ours, by a number that was given again."""
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        with begin(waiting) as late:
            eventually(lambda: len(list(state.glob("*.json"))) == 1)
            (path,) = state.glob("*.json")
            own = json.loads(path.read_text())
            path.write_text(json.dumps({**own, "until": time.time() - 3600}))
            (state / "1-await-x.json").write_text(
                json.dumps({**own, "run": "x", "pid": stranger.pid, "born": "boot 1"})
            )
            (state / "2-await-y.json").write_text("{")
            rows_by_name = ask(waiting, capsys, "watchers", "--dry-run", "--json").document[
                "watchers"
            ]
            assert sorted(each["state"] for each in rows_by_name) == ["damaged", "over", "stale"]
            assert len(list(state.glob("*.json"))) == 3 and late.poll() is None
            watchers = ask(waiting, capsys, "watchers", "--json").document["watchers"]
            assert {each["state"]: each["action"] for each in watchers} == {
                "stale": "retired",
                "over": "forgotten",
                "damaged": "forgotten",
            }
            assert late.wait(30) == 130
        assert stranger.poll() is None
        assert list(state.glob("*.json")) == []
    finally:
        stranger.kill()
        stranger.wait()


def test_a_process_is_never_taken_for_a_later_one_with_its_number() -> None:
    child = subprocess.Popen(["sleep", "60"])
    own = process_registry.RegisteredWatcher(
        kind="wait",
        run="tiny",
        top="",
        what="the end",
        pid=child.pid,
        process_start=process_registry.boot_and_tick(child.pid),
        started=0.0,
    )
    try:
        later = process_registry.RegisteredWatcher(
            **{**vars(own), "process_start": own.process_start.rpartition(" ")[0] + " 1"}
        )
        assert own.lives and not later.lives
        assert not process_registry.retire(later) and child.poll() is None
        assert process_registry.retire(own)
        assert child.wait(50) == -signal.SIGTERM
        assert not own.lives and not process_registry.retire(own)
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(
    "words",
    [
        ["--step", "3", "--state", "running"],
        ["--state", "runing"],
        ["--marker", "DONE"],
        ["--step", "-1"],
        ["--every", "90"],
        ["--every", "0.5s"],
        ["--max", "0"],
        ["--every", "2d"],
    ],
)
def test_a_wish_that_nobody_could_fulfil_is_wrong_use(
    story: Story, capsys: CAPTURE, words: list[str]
) -> None:
    assert ask(story, capsys, "await", SLUG, *words).code == 2


def test_watchers_of_nobody(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "watchers")
    assert answer.code == 0 and mentions(answer.out, "box", "wait")
    assert str(os.getpid()) not in answer.out


@pytest.mark.thorough
def test_a_babysitter_is_named_as_one_next_to_the_words_that_no_sentinel_runs(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-c", "import sys; sys.stdin.read()", "herorun", "babysit", "tiny"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as process:
        argv = [sys.executable, "-m", "herorun", "watchers"]
        env = {
            **os.environ,
            "XDG_STATE_HOME": str(tmp_path),
            "PYTHONPATH": str(Path(process_registry.__file__).parents[2]),
        }
        result = subprocess.run(
            argv, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        process.communicate("")
    lines = result.stdout.splitlines()
    assert any(f"(process {process.pid}, babysitter)" in line for line in lines), result
    assert mentions(lines[-1], "box", "wait")


def test_the_handbook_names_every_command_and_needs_no_box(story: Story, capsys: CAPTURE) -> None:
    chain = {"folder": "/data/chain", "stage": [{"name": "eval", "run": "python -m eval"}]}
    scheduler = {"kind": "ssh", "host": "box1.invalid", "folder": "/data/jobs"}
    story.sign(
        chain=chain,
        patrol={
            "markers": ["/data/DONE"],
            "copies": {"/data/set": "set"},
            "resume_command": "sh go.sh",
        },
    )
    path = story.work / "runs" / "tiny.toml"
    path.write_text(tomli_w.dumps({**tomllib.loads(path.read_text()), "scheduler": scheduler}))
    page = ask(story, capsys, "handbook", SLUG, "--out", "-").out
    for words in (
        f"herorun -C {story.work} box patrol tiny",
        "sh go.sh",
        "1. `eval`: `python -m eval",
        "/data/chain/eval.DONE",
        "box1.invalid:/data/set/",
        "chain tiny | ssh",
        "systemctl --user disable --now herorun-patrol-tiny.timer",
    ):
        assert words in page
    answer = ask(story, capsys, "handbook", SLUG)
    assert (story.work / ".herorun" / "tiny" / "runbook.md").exists() and answer.code == 0


@pytest.mark.thorough
def test_every_command_of_the_handbook_works_when_it_is_typed(
    story: Story, capsys: CAPTURE
) -> None:
    """By somebody with no memory, while the run lives, on its machine and in a fresh clone."""
    quiet(story).run_first_job(WAIT)
    page = ask(story, capsys, "handbook", SLUG, "--out", "-").out
    blocks = page.split("```sh\n")[1:]
    lines = [line for block in blocks for line in block.partition("\n```")[0].splitlines()]
    herorun_lines = [line for line in lines if not line.startswith("systemctl")]  # no real timers
    commands = [command for line in herorun_lines for command in line.split(" && ")]
    cut_short = {"babysit": ["--once"], "wait": ["--every", "1s", "--max", "1"]}
    verbs = []
    for program, *words in map(shlex.split, commands):
        if program == "git":
            stories.git(story.clone("fresh").work, *words)
            continue
        assert (program, words[:2]) == ("herorun", ["-C", str(story.work)])
        verb = words[3] if words[2] == "box" else words[2]
        answer = ask(story, capsys, *words[2:], *cut_short.get(verb, []))
        # a wait that is cut short says that what it waited for has not come
        assert answer.code in ((1,) if verb == "wait" else (0, 3)), (words, answer)
        verbs.append(verb)
    assert verbs == ["patrol", "status", "handoff", "babysit", "wait"]


@pytest.mark.parametrize(
    "words",
    [["--for", "actions", "--command", "patrol"], ["--every", "10s"], ["--command", "watchdog"]],
)
def test_a_timer_that_could_not_work_is_wrong_use(
    story: Story, capsys: CAPTURE, words: list[str]
) -> None:
    assert ask(story, capsys, "timer", SLUG, *words).code == 2


def test_timers_name_this_machines_own_paths(story: Story, capsys: CAPTURE) -> None:
    assert str(story.work) in ask(story, capsys, "timer", SLUG).out
    assert " patrol tiny " in ask(story, capsys, "timer", SLUG, "--for", "cron").out
    assert "watchdog tiny --comment" in ask(story, capsys, "timer", SLUG, "--for", "actions").out
