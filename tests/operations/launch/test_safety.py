"""What must never happen, each once seen to happen: other code, a foreign checkpoint, an unsigned
waiver.
"""

import json
from pathlib import Path

import pytest

from stories import CRASH, SLUG, WAIT, Story, eventually, git
from wording import mentions

NAN_BEFORE_THE_CRASH = (
    'for s in 3 4 5 6; do echo "{\\"step\\": $s, \\"train/loss\\": NaN}" >> '
    '"$root/metrics.jsonl"; done; kill -9 $$'
)
WAIVER = """
[[waiver]]
check = "dirty-tree"
reason = "a hurry"
approved_by = "@dri"
expires = 2999-01-01T00:00:00Z
"""


def save(root: Path, step: int) -> Path:
    folder = root / f"step-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text("weights")
    fields = {"step": step, "timestamp": "2026-01-01T00:00:00", "is_temporary": False}
    (folder / "metadata.json").write_text(json.dumps(fields))
    return folder


def keys(story: Story, prefix: str) -> list[str]:
    return [key for key in story.comments if key.startswith(prefix)]


# --- the code that runs ---------------------------------------------------------------------------


@pytest.mark.thorough
def test_an_edited_copy_is_not_run_again(story: Story) -> None:
    story.run_first_job(CRASH)
    copy = story.state / "code" / "tiny-1" / "train.sh"
    copy.write_text('echo edited >> "$1/started"\n' + copy.read_text())
    story.tick()
    story.wait_for_end("tiny-2")
    assert [line.partition(" ")[0] for line in story.starts] == ["tiny-1", "tiny-2"]


@pytest.mark.thorough
def test_a_run_in_place_is_not_relaunched_from_a_checkout_that_moved(story: Story) -> None:
    story.sign(code={"in_place": True})
    story.run_first_job(CRASH)
    (story.work / "train.sh").write_text("exit 0\n")
    assert story.tick() == 1
    assert len(story.starts) == 1
    assert keys(story, "escalate/relaunch") == ["escalate/relaunch/tiny-1/gate"]


# --- the checkpoint that it starts from -----------------------------------------------------------


@pytest.mark.thorough
def test_a_checkpoint_that_lay_there_before_is_never_the_runs_own(story: Story) -> None:
    waiver = {
        "check": "output-root-in-use",
        "reason": "r",
        "approved_by": "@dri",
        "expires": "2999-01-01T00:00:00Z",
    }
    story.sign(final_step=20, waiver=[waiver])
    save(story.root, 15)
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    assert story.starts[1] == f"tiny-2 {story.root / 'step-2'}"


# --- what people signed ---------------------------------------------------------------------------


def test_a_waiver_in_an_uncommitted_contract_waives_nothing(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    contract = story.work / "runs" / "tiny.toml"
    contract.write_text(contract.read_text() + WAIVER)
    (story.work / "left_over.py").write_text("")
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--json") == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    waivers_by_check = {f["check"]: f["waiver"] for f in findings if f["outcome"] == "fail"}
    assert waivers_by_check == {"dirty-tree": None, "uncommitted-contract": None}


def test_an_ignored_contract_is_not_launched(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    git(story.work, "rm", "-q", "--cached", "runs/tiny.toml")
    (story.work / ".gitignore").write_text("runs/\n")
    story.publish()
    assert story.launch() == 1
    assert mentions(capsys.readouterr().out, "runs/tiny.toml", "commit")
    assert story.starts == []


def test_a_contract_names_its_file(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    (story.work / "runs" / "other.toml").write_text((story.work / "runs" / "tiny.toml").read_text())
    assert story.herorun("preflight", "other") == 2
    assert mentions(capsys.readouterr().err, "slug", "file's name")


@pytest.mark.thorough
def test_a_plan_kept_in_the_state_folder_dirties_nothing(story: Story) -> None:
    story.init()
    plan = str(story.work / ".herorun" / "plan.json")
    assert story.herorun("preflight", SLUG, "--out", plan) == 0
    assert story.launch("--plan", plan) == 0


# --- what is decided ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_numeric_veto_outlives_its_alert(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(final_step=20)
    story.run_first_job(NAN_BEFORE_THE_CRASH)
    assert story.tick() == 1
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 7, "train/loss": 2.5}\n')
    for _ in range(3):
        story.tick()
    assert len(story.starts) == 1
    assert "escalate/relaunch/tiny-1/veto" in story.comments
    capsys.readouterr()
    story.herorun("status", SLUG)
    output = capsys.readouterr().out
    back = story.shown_commands("herorun rollback tiny --to 2")
    assert mentions(output, "question  ", story.shown_commands("`herorun deny tiny`"))
    assert mentions(output, "  roll back", f" {back}\n") and "approve" not in output


@pytest.mark.thorough
def test_what_was_not_finite_and_is_again_is_never_relaunched_from_what_it_saved_since(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody was asked about a relaunch while it was not finite: the data alone holds it back."""
    story.sign(final_step=20)
    story.order("tiny-1", f"{WAIT}; {CRASH}")
    assert story.init() == 0 and story.launch() == 0
    story.reaches(2)
    assert story.tick() == 0
    for rows in ({6: "NaN"}, dict.fromkeys(range(7, 17), "2.5")):
        with (story.root / "metrics.jsonl").open("a") as file:
            file.writelines(
                f'{{"step": {step}, "train/loss": {loss}}}\n' for step, loss in rows.items()
            )
        story.tick()
    save(story.root, 17)
    story.tick()
    assert "not-finite" not in {
        alert.check for alert in story.events("Decided")[-1].alerts if alert.firing
    }
    (story.data / "go").touch()
    story.wait_for_end()
    story.tick()
    assert story.starts == ["tiny-1 scratch"]
    assert "escalate/relaunch/tiny-1/veto" in story.comments
    capsys.readouterr()
    assert story.herorun("checkpoints", "list", SLUG) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [(mentions(line, "tainted", "not-finite[train/loss]", "7")) for line in lines] == [
        False,
        True,
    ]


@pytest.mark.thorough
def test_success_before_the_final_step_is_not_finished(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job("exit 0")
    capsys.readouterr()
    assert story.tick("--json") == 1
    assert json.loads(capsys.readouterr().out)["run"] == "down"
    assert len(keys(story, "escalate/ended-short")) == 1
    assert keys(story, "tell/tiny-1/finished") == []


@pytest.mark.thorough
def test_the_lost_lease_is_reported_and_so_is_the_crash(story: Story) -> None:
    story.run_first_job(CRASH)
    (story.root / "_herorun" / "lease.json").write_text(
        '{"beat":0,"fence":2,"owner":"bob@mars","slug":"tiny"}'
    )
    for _ in range(2):
        assert story.tick() == 1
    assert len(story.starts) == 1
    assert len(keys(story, "tell/crashed")) == 1
    assert len(keys(story, "escalate/lease")) == 1


@pytest.mark.thorough
def test_only_where_it_was_submitted_can_a_launch_be_called_off(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed between the submission and its entry: another clone's scheduler knows of no job, and
    may not guess.
    """
    from herorun.record import Record

    append = Record.append

    def kill_at_event(self: Record, *events: object, **files: object) -> str:
        if any(type(event).__name__ == "Launched" for event in events):
            raise KeyboardInterrupt
        return append(self, *events, **files)  # passed on as it came

    story.order("tiny-1", WAIT)
    story.init()
    with monkeypatch.context() as patch:
        patch.setattr(Record, "append", kill_at_event)
        assert story.launch() == 130
    eventually(lambda: story.starts)
    other = story.clone("second")
    assert other.herorun("launch", SLUG, "--no-babysit") == 3
    assert mentions(capsys.readouterr().err, "only there")
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_a_machine_that_takes_over_tells_no_old_news(story: Story) -> None:
    """It has none of the state that the one before it kept, and reads all rows again."""
    story.run_first_job(WAIT)

    def log(first: int, loss: str, count: int) -> None:
        with (story.root / "metrics.jsonl").open("a") as file:
            for step in range(first, first + count):
                file.write(f'{{"step": {step}, "train/loss": {loss}}}\n')

    log(10, "2.5", 60)
    story.tick()
    log(70, "NaN", 4)
    story.tick()
    log(74, "2.5", 60)
    story.tick()
    story.tick()
    comments = story.comments
    assert [key for key in comments if "not-finite" in key and key.endswith("/resolved")]
    (story.state / "metrics.json").unlink()
    story.tick()
    assert story.comments == comments
    (story.data / "go").touch()
    story.wait_for_end()
