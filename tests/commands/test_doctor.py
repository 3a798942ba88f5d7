"""`herorun doctor`: what works, what does not, and what nobody could see, with exit codes to
match.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer, ask
from herorun.core.doctor_report import DoctorPart, Fit, verdict
from herorun.core.errors import CouldNotLook
from herorun.operations.doctor import machine
from herorun.operations.doctor.backends import describe_missing_program
from stories import SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def a_clock_that_tells(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timedatectl of our own: whether this machine has one is not what is asked."""
    program(home / "bin", "timedatectl", "echo yes")
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(machine, "MIN_FREE_BYTES", 1)


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def parts(answer: Answer, fit: str = "") -> dict[str, Any]:
    parts_by_name = {f"{part['group']}: {part['name']}": part for part in answer.document["parts"]}
    return {name: part for name, part in parts_by_name.items() if fit in ("", part["status"])}


def ask_doctor(story: Story, capsys: CAPTURE, *words: str) -> Answer:
    return ask(story, capsys, "doctor", *words, "--json")


def test_where_all_works_it_is_said_of_each_part(story: Story, capsys: CAPTURE) -> None:
    answer = ask_doctor(story, capsys, SLUG)
    assert (answer.code, answer.document["verdict"]) == (0, "ok"), parts(answer, "failed") | parts(
        answer, "unknown"
    )
    texts = {
        "git: program",
        "git: remote origin",
        "git: remote origin, push",
        "scheduler: local, tiny",
    }
    assert (
        texts | {"tracker: jsonl, tiny", "patterns: shipped", "clock: this machine"}
        <= parts(answer).keys()
    )


def test_it_changes_nothing_here_or_there(story: Story, capsys: CAPTURE) -> None:
    def world() -> list[str]:
        refs = [git(where, "for-each-ref") for where in (story.work, story.origin)]
        texts = [str(path) for path in (*story.work.glob("*"), *story.data.rglob("*"))]
        return [*refs, *sorted(texts), git(story.work, "status", "--porcelain")]

    before = world()
    ask_doctor(story, capsys)
    assert world() == before


def test_a_remote_that_is_gone_and_a_push_that_is_refused_are_distinguished(
    story: Story, capsys: CAPTURE
) -> None:
    story.origin.rename(story.home / "away")
    answer = ask_doctor(story, capsys, SLUG)
    assert answer.code != 0 and "git: remote origin" in (
        parts(answer, "failed") | parts(answer, "unknown")
    )
    assert "git: remote origin, push" not in parts(answer)


def test_a_secret_that_is_not_set_is_broken_and_its_fix_stands_there(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(command={"argv": ["sh", "train.sh", str(story.data)], "secrets": ["HERO_TEST_KEY"]})
    answer = ask_doctor(story, capsys, SLUG)
    assert (
        answer.code == 1
        and "HERO_TEST_KEY" in parts(answer, "failed")["secret: HERO_TEST_KEY"]["fix"]
    )
    people = ask(story, capsys, "-q", "doctor", SLUG).out
    assert (
        people.startswith("✗ fail    secret: HERO_TEST_KEY")
        and "fix: Export HERO_TEST_KEY" in people
    )


def test_a_scheduler_whose_programs_are_missing_is_broken(story: Story, capsys: CAPTURE) -> None:
    story.sign(scheduler={"kind": "iris", "cluster": "c"})
    path = story.work / "runs" / "tiny.toml"
    text = path.read_text()
    for line in ('settle = "1ms"\n', 'grace = "200ms"\n', 'cluster = "c"\n'):
        text = text.replace(line, "")
    path.write_text(text)
    answer = ask_doctor(story, capsys, SLUG)
    part = parts(answer, "failed")["scheduler: iris, iris"]
    assert mentions(part["message"], "iris", "PATH") and "host" not in part["fix"]


@pytest.mark.parametrize(
    ("kind", "program", "may_be_elsewhere"),
    [("slurm", "sbatch", True), ("ssh", "ssh", False), ("kubernetes", "kubectl", False)],
)
def test_a_program_that_a_login_node_can_run_is_not_needed_here(
    kind: str, program: str, may_be_elsewhere: bool
) -> None:
    part = describe_missing_program(kind, program)
    assert part.status is Fit.FAILED and mentions(part.message, program, "PATH")
    assert mentions(part.fix, program, "[scheduler] host") is may_be_elsewhere


def test_a_clock_behind_the_newest_commit_is_broken(story: Story, capsys: CAPTURE) -> None:
    ahead = {"GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
    git(story.work, "commit", "-q", "--allow-empty", "-m", "later", env=ahead)
    assert "clock: this machine" in parts(ask_doctor(story, capsys), "failed")


def test_a_clock_that_only_the_commits_speak_for_is_not_checked_and_fails_nothing(
    story: Story, home: Path, capsys: CAPTURE
) -> None:
    program(home / "bin", "timedatectl", "exit 1")  # as in a container
    answer = ask_doctor(story, capsys)
    assert (answer.code, answer.document["verdict"], parts(answer, "unknown")) == (0, "ok", {})
    clock = parts(answer, "skipped")["clock: this machine"]
    assert mentions(clock["message"], "behind", "newest") and "timedatectl" in clock["message"]
    skipped_count = len(parts(answer, "skipped"))
    assert ask(story, capsys, "doctor").out.endswith(f"0 unknown, {skipped_count} skipped\n")


def test_a_clock_that_nothing_speaks_for_is_neither_well_nor_ill(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CouldNotLook, match=r"timedatectl.*machine"):
        list(machine._clock(None))


def test_a_contract_that_cannot_be_read_does_not_hide_the_others(
    story: Story, capsys: CAPTURE
) -> None:
    (story.work / "runs" / "broken.toml").write_text("[[[")
    (story.work / "runs" / "config.toml").write_text("[trainer]\n")
    answer = ask_doctor(story, capsys)
    assert answer.code == 1 and list(parts(answer, "failed")) == ["contract: broken"]
    assert "contract: tiny" in parts(answer, "ok")


def test_outside_a_repository_the_machine_is_looked_at_anyway(home: Path, capsys: CAPTURE) -> None:
    answer = ask(Story(home), capsys, "-C", str(home), "doctor", "--json")
    assert answer.code == 1
    assert list(parts(answer, "failed")) == ["git: repository"] and "git: program" in parts(
        answer, "ok"
    )


def test_no_program_gets_a_secrets_value(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERO_TEST_KEY", "hf_abcdefghijklmnopqrstuvwxyz0123456789")
    story.sign(command={"argv": ["sh", "train.sh", str(story.data)], "secrets": ["HERO_TEST_KEY"]})
    answer = ask_doctor(story, capsys, SLUG)
    assert parts(answer)["secret: HERO_TEST_KEY"]["status"] == "ok"
    assert "abcdefghij" not in answer.out + answer.err


def test_what_is_broken_counts_before_what_was_not_seen() -> None:
    def part(fit: Fit) -> DoctorPart:
        return DoctorPart("x", "y", fit, "")

    assert verdict([part(Fit.UNKNOWN), part(Fit.FAILED), part(Fit.OK)]) is Fit.FAILED
    assert verdict([part(Fit.UNKNOWN), part(Fit.OK)]) is Fit.UNKNOWN
    assert verdict([part(Fit.OK), part(Fit.SKIPPED)]) is Fit.OK


def test_a_state_folder_that_cannot_be_written_is_broken(story: Story, capsys: CAPTURE) -> None:
    folder = story.work / ".git" / "herorun"
    shutil.rmtree(folder, ignore_errors=True)
    folder.symlink_to("/proc/self")  # where not even root can
    part = parts(ask_doctor(story, capsys), "failed")["disk: state folder"]
    assert str(folder) in part["message"]
