"""The NeMo evaluator launcher: real invocations, whose `docker` is a stand-in that waits to be told
how to end.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import an_instance
from herorun.core.errors import WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Place, Search, Submission
from herorun.operations.report.logs import read_log
from herorun.schedulers import nel
from ports.scheduler_suite import SECRET, Rig, SchedulerSuite, UnusedSchedulerSuite, long_ago
from services.nel import EVALUATION_CONFIG

pytestmark = pytest.mark.back_end

PATIENCE = 120.0
EVALUATION = """\
defaults:
  - execution: local
  - deployment: none
  - _self_
env_vars:
  TRAINING_TOKEN: host:TRAINING_TOKEN
"""
DOCKER = """\
#!/bin/sh
case "$1" in
  stop|kill) echo 143 > "$0.told" ;;
  run)
    echo "evaluating $HERORUN_INSTANCE $HERORUN_ATTEMPT"
    case "$*" in *"/tiny-2/"*) exit 5 ;; esac
    echo > "$0.$HERORUN_INSTANCE"
    until [ -s "$0.told" ]; do sleep 0.1; done
    exit "$(cat "$0.told")" ;;
esac
"""


@dataclass
class Story:
    """What was seen of three instances: the first is stopped, the second fails, the third
    succeeds.
    """

    folder: Path
    adapter: nel.Nel
    searches: dict[str, Any]

    def submission(self, instance: str, *overrides: str) -> Submission:
        argv = ("eval.yaml", *overrides)
        return Submission(instance, argv, ".", {"HERORUN_INSTANCE": instance}, ("TRAINING_TOKEN",))

    def submit(self, instance: str, *overrides: str) -> Job:
        code, admission = self.folder / "code", self.folder / "admission.json"
        return self.adapter.submit(self.submission(instance, *overrides), str(code), str(admission))

    def sign_path(self, word: str) -> Path:
        return self.folder / "bin" / f"docker.{word}"

    def wait_for_end(self, *instances: str) -> dict[str, Search]:
        """What one question to nel tells of all of them, once they have ended."""
        until = time.monotonic() + PATIENCE
        while True:
            answers = self.adapter.find_all(dict.fromkeys(instances, long_ago()))
            if all(
                isinstance(each, Absent) or (isinstance(each, Found) and each.job.state.is_final)
                for each in answers.values()
            ):
                return dict(answers)
            assert time.monotonic() < until, answers


@pytest.fixture(scope="module")
def story(
    nel_program: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("nel")
    (folder / "bin").mkdir()
    (folder / "code").mkdir()
    (folder / "code" / "eval.yaml").write_text(EVALUATION + EVALUATION_CONFIG)
    (folder / "bin" / "docker").write_text(DOCKER)
    (folder / "bin" / "docker").chmod(0o755)
    options = nel.Options(
        program=nel_program,
        exec_db=str(folder / "db" / "exec.v1.jsonl"),
        settle="100ms",
        timeout="2m",
    )
    adapter = nel.connect(
        options, Place("tiny", str(folder / "state"), str(folder / "out"), "/repository")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("TRAINING_TOKEN", SECRET)
        (folder / "home").mkdir()
        nel_story = Story(folder, adapter, {})
        try:
            _tell(nel_story)
            yield nel_story
        finally:
            nel_story.sign_path("told").write_text("1\n")  # whatever still waits


def _tell(story: Story) -> None:
    observations = story.searches
    observations["absent"] = story.adapter.find("tiny-1", long_ago())
    observations["begun"] = story.submit("tiny-1")
    until = time.monotonic() + PATIENCE
    while not story.sign_path("tiny-1").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    observations["again"] = story.submit("tiny-1")
    observations["live"] = story.adapter.live_jobs("tiny")
    observations["live_elsewhere"] = [
        story.adapter.live_jobs(slug) for slug in ("tin", "tiny-1", "iny")
    ]
    story.adapter.stop("tiny-1", "ada@box")
    story.submit("tiny-2")
    story.sign_path("told").write_text("0\n")
    story.submit("tiny-3")
    observations["many"] = story.wait_for_end("tiny-1", "tiny-2", "tiny-3", "tiny-4")
    observations["stopped"], observations["failed"], observations["succeeded"] = (
        value.job for value in observations["many"].values() if isinstance(value, Found)
    )


# A submission of nel is a configuration and no command, so `SchedulerSuite`, whose jobs are shell
# scripts, cannot run here. Each of its tests has one below that asks the same of an evaluation, or
# a reason why nothing can ask it.
ASKED_BELOW = {
    "a_job_that_exits_with_zero_has_succeeded": "a_success_has_its_times_in_order",
    "another_exit_code_is_kept": "a_failure_keeps_its_exit_code",
    "times_have_a_zone_and_are_in_order": "a_success_has_its_times_in_order",
    "submitting_twice_is_one_job": "submitting_twice_is_one_invocation",
    "an_unknown_instance_is_absent_once_the_intent_has_settled": "one_answer_reports_many",
    "names_are_matched_whole": "names_are_matched_whole_and_an_ended_invocation_is_not_live",
    "an_ended_job_is_not_live": "names_are_matched_whole_and_an_ended_invocation_is_not_live",
    "stop_ends_it_and_says_who_asked": "a_kill_is_by_whoever_asked",
    "stopping_an_ended_job_does_nothing": "stopping_an_ended_invocation_does_nothing",
    "each_instance_has_its_own_log": "the_log_is_the_containers",
    "the_job_is_told_what_it_is": "the_log_is_the_containers",
    "a_secret_reaches_the_job_and_nothing_else": (
        "a_secret_is_in_no_trace_but_in_nels_own_private_file"
    ),
    "a_missing_secret_is_named_before_anything_starts": (
        "a_missing_secret_is_named_before_anything_starts"
    ),
}
NOT_ASKED = {
    "nothing_is_split_quoted_or_expanded_on_the_way": "its argv are overrides of a configuration",
    "the_log_holds_both_outputs_and_tail_its_end": "nel chooses what of its container it logs",
}


def test_each_question_of_the_suite_is_asked_or_it_is_said_why_not() -> None:
    suite = {name for name in vars(SchedulerSuite) if name.startswith("test_")}
    assert suite == {f"test_{name}" for name in {*ASKED_BELOW, *NOT_ASKED}}
    assert [name for name in ASKED_BELOW.values() if f"test_{name}" not in globals()] == []


class TestNel(UnusedSchedulerSuite):
    """What holds before the first launch; the rest of the contract is below."""

    @pytest.fixture
    def rig(self, nel_program: tuple[str, ...], tmp_path: Path) -> Rig:
        (tmp_path / "folder").mkdir()

        def connect(exec_db: Path) -> nel.Nel:
            options = nel.Options(program=nel_program, exec_db=str(exec_db), settle="2s")
            place = Place("tiny", str(tmp_path / "state"), str(tmp_path / "out"), "/repository")
            return nel.connect(options, place)

        return Rig(
            connect=lambda: connect(tmp_path / "exec.v1.jsonl"),
            blind=lambda: connect(tmp_path / "folder"),
            traces=lambda: (),
            code=tmp_path,
            patience=PATIENCE,
        )


def test_an_invocation_runs_under_its_own_output_directory(story: Story) -> None:
    assert story.searches["absent"] == Absent()
    assert story.searches["begun"].state.live
    assert [job.instance for job in story.searches["live"]] == ["tiny-1"]
    assert (story.searches["live"][0].state, story.searches["live"][0].running_tasks) == (
        JobState.RUNNING,
        1,
    )


def test_submitting_twice_is_one_invocation(story: Story) -> None:
    assert story.searches["begun"].id == story.searches["again"].id
    assert len(list((story.folder / "out" / "nel" / "tiny-1").iterdir())) == 1


def test_a_kill_is_by_whoever_asked(story: Story) -> None:
    stopped_search = story.searches["stopped"]
    assert (
        stopped_search.state,
        stopped_search.raw,
        stopped_search.stopped_by,
        stopped_search.has_crashed,
    ) == (
        JobState.CANCELLED,
        "killed",
        "ada@box",
        False,
    )


def test_a_failure_keeps_its_exit_code(story: Story) -> None:
    failed_search = story.searches["failed"]
    assert (failed_search.state, failed_search.exit_code, failed_search.raw) == (
        JobState.FAILED,
        5,
        "failed",
    )


def test_a_success_has_its_times_in_order(story: Story) -> None:
    answer = story.searches["succeeded"]
    assert (answer.state, answer.exit_code) == (JobState.SUCCEEDED, 0)
    assert (
        answer.submitted.replace(microsecond=0)
        <= answer.started
        <= answer.ended
        <= datetime.now(UTC)
    )


def test_one_answer_reports_many(story: Story) -> None:
    states = [
        answer.job.state if isinstance(answer, Found) else answer
        for answer in story.searches["many"].values()
    ]
    assert states == [JobState.CANCELLED, JobState.FAILED, JobState.SUCCEEDED, Absent()]


def test_the_log_is_the_containers(story: Story) -> None:
    assert story.adapter.tail("tiny-2", 5).startswith("evaluating tiny-2 1")
    assert "".join(read_log(story.adapter, an_instance(2), 5)).startswith("evaluating tiny-2 1")
    logs = [path.read_text() for path in Path(story.adapter.log_place("tiny-2")).rglob("*.log")]
    assert any(text.startswith("evaluating tiny-2 1") for text in logs)
    assert story.adapter.tail("tiny-3", 5).startswith("evaluating tiny-3 1")
    with pytest.raises(FileNotFoundError):
        story.adapter.tail("tiny-4", 5)


def test_names_are_matched_whole_and_an_ended_invocation_is_not_live(story: Story) -> None:
    assert [story.adapter.live_jobs(slug) for slug in ("tiny", "tin", "tiny-1", "iny")] == [()] * 4
    assert story.searches["live_elsewhere"] == [()] * 3
    assert story.adapter.find("tiny-11", long_ago()) == Absent()


def test_stopping_an_ended_invocation_does_nothing(story: Story) -> None:
    before = story.adapter.find("tiny-3", long_ago())
    story.adapter.stop("tiny-3", "ada@box")
    assert story.adapter.find("tiny-3", long_ago()) == before


def test_a_missing_secret_is_named_before_anything_starts(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAINING_TOKEN")
    with pytest.raises(WrongUse, match="TRAINING_TOKEN"):
        story.submit("tiny-6")
    assert story.adapter.find("tiny-6", long_ago()) == Absent()


def test_a_secret_is_in_no_trace_but_in_nels_own_private_file(story: Story) -> None:
    texts = [
        path
        for path in story.folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert {path.name for path in texts} == {".secrets.env"}
    assert {path.stat().st_mode & 0o077 for path in texts} == {0}


def test_what_nel_refuses_is_wrong_use_in_one_sentence(story: Story) -> None:
    with pytest.raises(WrongUse, match=r"nel refuses tiny-5: .*no_such_key") as error:
        story.submit("tiny-5", "execution.no_such_key=1")
    assert "\n" not in str(error.value)
    assert story.adapter.find("tiny-5", long_ago()) == Absent()
