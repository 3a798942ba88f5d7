"""`herorun replay` of a run that was recorded for real, by the real commands."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from commands.answers import Answer, ask
from herorun.core.canonical_json import canonical
from herorun.core.replay import past_ticks
from herorun.operations.babysit import tick
from herorun.operations.health import evaluate
from herorun.operations.health.rules import evidence_file
from herorun.system.clock import now
from memory_folder import in_memory
from stories import CRASH, SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
NAN = '{"step": 4, "train/loss": NaN}\n{"step": 5, "train/loss": 2.5}\n'


@pytest.fixture(scope="module")
def run_story() -> Iterator[Story]:
    """A run that crashed, was relaunched, logged what is no number, and ended; an hour lies between
    two ticks.
    """
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        crashed_story = Story(Path(folder).resolve())
        crashed_story.begin(final_step=20)
        crashed_story.run_first_job(CRASH)
        crashed_story.tick()
        crashed_story.wait_for_end("tiny-2")
        with (crashed_story.root / "metrics.jsonl").open("a") as file:
            file.write(NAN)
        with pytest.MonkeyPatch.context() as patch:
            for hours in (1, 2, 6):
                for module in (tick, evaluate):
                    patch.setattr(module, "now", lambda hours=hours: now() + timedelta(hours=hours))
                crashed_story.tick()
        yield crashed_story
        crashed_story.end()


@pytest.fixture
def story(run_story: Story) -> Iterator[Story]:
    """The same, put back afterwards: a test may change its contract, its evidence and its
    record.
    """
    remainder = {path: path.read_bytes() for path in (run_story.state / "evidence").iterdir()}
    code, record = git(run_story.work, "rev-parse", "HEAD", "refs/herorun/record/tiny").split()
    yield run_story
    git(run_story.work, "reset", "-q", "--hard", code)
    git(run_story.work, "update-ref", "refs/herorun/record/tiny", record)
    git(run_story.origin, "update-ref", "refs/heads/main", code)
    git(run_story.origin, "update-ref", "refs/heads/herorun/tiny", record)
    for path, data in remainder.items():
        path.write_bytes(data)


def replay(story: Story, capsys: CAPTURE, *words: str) -> Answer:
    return ask(story, capsys, "replay", SLUG, "--json", *words)


def results(answer: Answer) -> list[str]:
    return [tick["result"] for tick in answer.document["ticks"]]


def evidence(story: Story) -> Path:
    """The file of the first tick's day."""
    return evidence_file(story.run, story.events("Observed")[0].at)


@pytest.mark.thorough
def test_under_the_same_rules_everything_is_the_same(run_story: Story, capsys: CAPTURE) -> None:
    answer = replay(run_story, capsys)
    assert (answer.code, results(answer)) == (0, ["same"] * 4)
    assert all(tick["same_rules"] for tick in answer.document["ticks"])
    decided_events = run_story.events("Decided")
    # there was something to compare
    assert any("relaunch/tiny-1" in each.actions for each in decided_events)
    assert any(alert.check == "not-finite" for each in decided_events for alert in each.alerts)


def test_nothing_is_written(run_story: Story, capsys: CAPTURE) -> None:
    before = run_story.run.record.tip, evidence(run_story).read_bytes()
    assert ask(run_story, capsys, "replay", SLUG).code == 0
    assert (run_story.run.record.tip, evidence(run_story).read_bytes()) == before


@pytest.mark.thorough
def test_another_process_under_another_hash_seed_and_another_clock_says_the_same_bytes(
    run_story: Story,
) -> None:
    def start(seed: str, days: int) -> subprocess.Popen[str]:
        script = (
            "import sys, datetime, herorun.system.clock as clock\n"
            "real = clock.now\n"
            f"clock.now = lambda: real() + datetime.timedelta(days={days})\n"
            "from herorun import cli\n"
            f"sys.exit(cli.run(['-C', {str(run_story.work)!r}, 'replay', {SLUG!r}, '--json']))\n"
        )
        env = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.Popen(
            [sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, text=True
        )

    both = [start("0", 0), start("4711", 400)]
    outputs = [process.communicate(timeout=180)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0] == outputs[1] and '"same": 4' in outputs[0]


def test_another_threshold_prints_what_differs_tick_by_tick(story: Story, capsys: CAPTURE) -> None:
    story.sign(final_step=20, babysit={"thresholds": {"not-finite": {"loss_rows": 9}}})
    answer = replay(story, capsys)
    assert answer.code == 1 and "differs" in results(answer) and "same" in results(answer)
    (first, *_) = [tick for tick in answer.document["ticks"] if tick["result"] == "differs"]
    assert not first["same_rules"]
    assert any("not-finite" in words for words in first["differences"])
    people = ask(story, capsys, "replay", SLUG)
    assert (
        people.code == 1
        and "not-finite" in people.out
        and mentions(people.out, "4 ticks", "threshold")
    )


def test_a_contract_that_is_not_followed_is_reported(story: Story, capsys: CAPTURE) -> None:
    story.sign(final_step=20, babysit={"thresholds": {"not-finite": {"rows": 9}}})
    answer = ask(story, capsys, "replay", SLUG)
    assert answer.code == 0 and mentions(answer.err, "judged", "admitted")


def test_a_waiver_that_was_granted_since_differs_too(story: Story, capsys: CAPTURE) -> None:
    later = now() + timedelta(days=9)
    waiver = {"check": "crashed", "reason": "r", "approved_by": "@dri", "expires": later}
    story.sign(final_step=20, waiver=[waiver])
    answer = replay(story, capsys)
    assert answer.code == 1
    assert "relaunch/tiny-1: only then" in answer.document["ticks"][0]["interventions"]


@pytest.mark.parametrize("kind", ["gone", "torn", "changed"])
def test_evidence_that_is_not_what_was_seen_is_unknown(
    story: Story, capsys: CAPTURE, kind: str
) -> None:
    path = evidence(story)
    lines = path.read_text().splitlines(keepends=True)
    if kind == "gone":
        path.unlink()
    elif kind == "torn":
        path.write_text("".join([lines[0][: len(lines[0]) // 2] + "\n", *lines[1:]]))
    else:
        path.write_text("".join([lines[0].replace("SIGKILL", "SIGSEGV"), *lines[1:]]))
        assert path.read_text() != "".join(lines)
    answer = replay(story, capsys)
    first = answer.document["ticks"][0]
    assert (answer.code, first["result"]) == (3, "unknown") and first["why"]
    assert "differs" not in results(answer)


def test_only_the_ticks_since_then(run_story: Story, capsys: CAPTURE) -> None:
    after = run_story.events("Observed")[0].at + timedelta(milliseconds=1)
    assert results(replay(run_story, capsys, "--since", after.isoformat())) == ["same"] * 3
    assert len(results(replay(run_story, capsys, "--since", "2h"))) == 4


def test_a_time_without_ticks_is_no_answer(story: Story, capsys: CAPTURE) -> None:
    git(story.work, "update-ref", "-d", "refs/herorun/record/tiny")
    git(story.origin, "update-ref", "-d", "refs/heads/herorun/tiny")
    answer = ask(story, capsys, "replay", SLUG)
    assert answer.code == 3 and mentions(answer.out, "tick", "recorded")


@pytest.mark.parametrize(
    "since", ["yesterday", "2026-01-01T00:00:00", "-3h", "2999-01-01T00:00:00Z"]
)
def test_a_time_that_is_none_is_wrong_use(run_story: Story, capsys: CAPTURE, since: str) -> None:
    assert ask(run_story, capsys, "replay", SLUG, f"--since={since}").code == 2


def test_a_tick_whose_memory_was_written_over_is_unknown(run_story: Story) -> None:
    """Another clone's lines were put before those that it knew: nobody can say what it went by."""
    lines = run_story.lines
    assert [each.memory is None for each in past_ticks(lines)] == [False] * 4
    assert [each.memory is None for each in past_ticks([lines[0], *lines])] == [True] * 4


def test_the_record_names_the_evidence_as_it_is_kept(run_story: Story) -> None:
    """Also where a secret was masked in it: the digest is that of the masked words."""
    (line, *_) = evidence(run_story).read_text().splitlines()
    document = json.loads(line)
    assert canonical(document) == line
    assert {
        "Job",
        "Metrics",
        "Checkpoints",
        "History",
        "Now",
        "Gaps",
        "Unfinished",
        "Contract",
        "Waivers",
        "ActionBlock",
    } <= set(document["evidence"])
