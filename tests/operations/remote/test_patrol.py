"""`herorun box patrol` on a run of this machine, by the real command."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer, ask
from herorun.core.errors import CouldNotLook
from herorun.operations.remote import probe
from herorun.system._host_files import newest_change
from stories import CRASH, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
BUSY = ("neighbour", "threads", "unmonitored")
QUICK = {"gpu_sample_seconds": 0, "memory_fraction": 1.0}  # others may use this machine's memory


def patrol_story(story: Story, **patrol: Any) -> Story:
    story.sign(patrol={**QUICK, **patrol})
    return story


def advice_of(answer: Answer) -> list[dict[str, Any]]:
    """Without what other processes of this machine give rise to, and the missing babysitter."""
    return [each for each in answer.document["advice"] if each["row"] not in BUSY]


def states(answer: Answer) -> tuple[int, str, list[str]]:
    return answer.code, answer.document["state"], [each["row"] for each in advice_of(answer)]


@pytest.mark.thorough
def test_a_run_from_its_launch_to_its_results(story: Story, capsys: CAPTURE) -> None:
    """Alive; then gone without its marker; then done, with its numbers word for word."""
    marker, results_file = story.data / "EVAL_DONE", story.data / "results.csv"
    outcome = patrol_story(story, markers=[str(marker)], results=[str(results_file)]).run_first_job(
        WAIT
    )
    lines = len(outcome.lines)
    code, state, rows = states(ask(outcome, capsys, "patrol", SLUG, "--json"))
    assert (code, state, rows) == (0, "running", [])
    line, *advice = ask(outcome, capsys, "patrol", SLUG).out.splitlines()
    assert mentions(line, "changed", "since")
    # only of this machine, where it is busy, and of the babysitter that is not there
    assert all("CPUs" in each or "babysit" in each for each in advice)
    (outcome.data / "go").touch()
    outcome.wait_for_end()

    answer = ask(outcome, capsys, "patrol", SLUG)
    assert answer.code == 1 and "not done (tiny-1 ended as succeeded" in answer.out
    assert mentions(answer.out, f"{marker}", "Create", "missing")

    marker.touch()
    results_file.write_text("task,accuracy\nmmlu,0.6125\n")
    answer_after = ask(outcome, capsys, "patrol", SLUG)
    assert (answer_after.code, "done (" in answer_after.out) == (0, True), answer_after.out
    assert "task,accuracy\n  mmlu,0.6125\n" in answer_after.out and mentions(
        answer_after.out, "remove", "patrol"
    )
    assert len(outcome.lines) == lines  # it reads, and journals nothing
    assert outcome.starts == ["tiny-1 scratch"]


@pytest.mark.thorough
def test_a_crash_in_the_jobs_own_log_is_reported_with_the_resume_command(
    story: Story, capsys: CAPTURE
) -> None:
    words = (
        "echo 'step 3 loss 2.5'; echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to "
        f"allocate 2.00 GiB'; {CRASH}"
    )
    patrolled_story = patrol_story(
        story, resume_command="sh resume.sh --from latest"
    ).run_first_job(words)
    answer = ask(patrolled_story, capsys, "patrol", SLUG, "--json")
    assert states(answer) == (1, "down", ["gone"])
    (advice,) = advice_of(answer)
    assert (
        "oom-accelerator" in advice["message"] and advice["command"] == "sh resume.sh --from latest"
    )
    assert "step 3 loss 2.5" in answer.document["line"]


@pytest.mark.thorough
def test_another_runs_crash_in_a_shared_log_is_not_this_ones(story: Story, capsys: CAPTURE) -> None:
    shared_path = story.data / "master.log"
    shared_path.write_text(
        "[run-c] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    )
    patrolled_story = patrol_story(story)
    patrolled_story.order("tiny-1", f"echo 'step 3 loss 2.5' | tee -a {shared_path}; {WAIT}")
    assert (patrolled_story.init(), patrolled_story.launch()) == (0, 0)
    patrolled_story.reaches(2)
    assert states(ask(patrolled_story, capsys, "patrol", SLUG, "--json")) == (0, "running", [])


@pytest.mark.thorough
def test_a_copy_is_whole_by_its_count_and_never_by_its_folder(
    story: Story, capsys: CAPTURE
) -> None:
    source, copy = story.data / "set", story.data / "copied set"
    for folder in (source, copy):
        (folder / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (source / name).write_text("12")
    patrolled_story = patrol_story(story, copies={str(copy): str(source)}).run_first_job(WAIT)
    (copy / "a").write_text("12")
    answer = ask(patrolled_story, capsys, "patrol", SLUG, "--json")
    assert states(answer) == (1, "running", ["copy"])
    (advice,) = advice_of(answer)
    assert advice["command"] == f"rsync -a --partial {source}/ '{copy}/'"
    (copy / "deep" / "b").write_text("1")  # cut off
    assert states(ask(patrolled_story, capsys, "patrol", SLUG, "--json"))[2] == ["copy"]
    (copy / "deep" / "b").write_text("12")
    assert states(ask(patrolled_story, capsys, "patrol", SLUG, "--json")) == (0, "running", [])


@pytest.mark.thorough
def test_a_damaged_memory_of_the_tick_before_is_none(story: Story, capsys: CAPTURE) -> None:
    patrolled_story = patrol_story(story).run_first_job(WAIT)
    for text in ("", "{", '{"at": "noon"}', "[1]"):
        (patrolled_story.state / "patrol.json").write_text(text)
        answer = ask(patrolled_story, capsys, "patrol", SLUG)
        assert answer.code == 0 and "changed" not in answer.out


def test_nothing_to_look_at_is_wrong_use(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "patrol", SLUG)
    assert answer.code == 2 and mentions(answer.err, "session", "process")


@pytest.mark.parametrize(
    "patrol",
    [
        {"markers": ["DONE"]},
        {"markers": ["/data/"]},
        {"process": "("},
        {"session": "a b"},
        {"copies": {"set": "/home/set"}},
        {"memory_fraction": 0},
        {"gpu_sample_seconds": 60},
        {"slurm_job": "4711; rm"},
        {"markesr": []},
    ],
)
def test_a_wrong_table_is_one_sentence(
    story: Story, capsys: CAPTURE, patrol: dict[str, Any]
) -> None:
    story.sign(patrol=patrol)
    answer = ask(story, capsys, "patrol", SLUG)
    assert answer.code == 2 and "patrol" in answer.err


@pytest.mark.thorough
def test_the_state_is_written_for_this_user_alone(story: Story, capsys: CAPTURE) -> None:
    patrolled_story = patrol_story(story).run_first_job(WAIT)
    ask(patrolled_story, capsys, "patrol", SLUG)
    path = Path(patrolled_story.state / "patrol.json")
    assert path.stat().st_mode & 0o077 == 0 and json.loads(path.read_text())["step"] is None


def test_a_trainer_that_ends_well_before_its_final_step_is_down(
    story: Story, capsys: CAPTURE
) -> None:
    short = patrol_story(story).run_first_job("exit 0")
    for _ in range(2):
        answer = ask(short, capsys, "patrol", SLUG, "--json")
        assert states(answer) == (1, "down", ["gone"])
        (advice,) = advice_of(answer)
        following = ask(short, capsys, "status", SLUG, "--json").document["next"]
        assert advice["command"].endswith(following.removeprefix("herorun"))
        short.tick()


def test_a_trainer_that_reached_its_final_step_is_done_by_evidence_that_is_read_now(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_unread(run: Any, memory: Any) -> Any:
        raise CouldNotLook("nothing answers")

    whole = patrol_story(story).run_first_job("true")
    assert states(ask(whole, capsys, "patrol", SLUG, "--json")) == (0, "done", ["done"])
    monkeypatch.setattr(probe, "evaluate", raise_unread)
    assert states(ask(whole, capsys, "patrol", SLUG, "--json"))[:2] == (3, "unknown")


def test_what_the_babysitter_writes_into_the_output_root_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "step-1").mkdir()
    for path in (tmp_path / "step-1", tmp_path):
        os.utime(path, (1000, 1000))
    assert newest_change(str(tmp_path)) == 1000
    (tmp_path / "_herorun").mkdir()
    os.utime(tmp_path, (1000, 1000))
    assert newest_change(str(tmp_path)) == 1000
    os.utime(tmp_path / "step-1", (2000, 2000))
    assert newest_change(str(tmp_path)) == 2000


@pytest.mark.thorough
def test_a_success_without_its_final_checkpoint_is_not_done(story: Story, capsys: CAPTURE) -> None:
    patrol_story(story).run_first_job("save() { :; }")
    story.wait_for_end()
    answer = ask(story, capsys, "patrol", SLUG, "--json")
    assert states(answer) == (1, "down", ["unsaved"])
    assert mentions(answer.document["line"], "not done", "final step")


@pytest.mark.thorough
@pytest.mark.parametrize("recovery", ["ask", "relaunch"])
def test_what_a_patrol_leaves_to_the_dri_is_what_a_tick_does(
    story: Story, capsys: CAPTURE, recovery: str
) -> None:
    story.sign(babysit={"recovery": recovery}, patrol=QUICK)
    story.run_first_job(CRASH)
    (advice,) = advice_of(ask(story, capsys, "patrol", SLUG, "--json"))
    assert (advice["row"], "DRI" in advice["message"]) == ("gone", recovery == "ask")
