"""The checkpoints that a launch chooses among, as preflight shows them, and what the record tells
of them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from builders import a_checkpoint, a_contract, a_plan, an_instance
from herorun.core.contract import Contract
from herorun.core.errors import Blocked
from herorun.core.evidence import Checkpoints, History, Nothing, SourceRun, Unavailable
from herorun.core.journal import Memory
from herorun.operations.launch.candidates import checkpoint_choice
from herorun.operations.launch.relaunch import plan_resume
from herorun.runs import open_run
from stories import CRASH, WAIT, Story, contract_of
from wording import mentions

NAN = '{"step": 3, "train/loss": NaN}\n'


def save(root: Path, step: int, metadata: bool = True, hour: int = 1) -> str:
    folder = root / f"step-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text("weights")
    if metadata:
        fields = {"step": step, "timestamp": f"2026-01-01T{hour:02}:00:00"}
        (folder / "metadata.json").write_text(json.dumps(fields))
    return str(folder)


def preflight(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is told of the checkpoints, and each check's outcome."""
    capsys.readouterr()
    story.herorun("preflight", "tiny", "--json")
    document = json.loads(capsys.readouterr().out)
    return document["checkpoints"], {f["check"]: f["outcome"] for f in document["findings"]}


def test_why_a_usable_one_was_not_chosen_without_a_plan_is_that_there_is_none() -> None:
    history = History(instances=(an_instance(1),))
    evidence: Any = {
        Contract: a_contract(),
        History: history,
        Checkpoints: Checkpoints((a_checkpoint(20),)),
    }
    (candidate,) = checkpoint_choice(None, evidence).candidates
    assert not candidate.is_start and mentions(candidate.refused, "no", "plan", "made")
    (candidate,) = checkpoint_choice(a_plan(), evidence).candidates
    assert mentions(candidate.refused, "from", "scratch")


def test_a_first_launch_has_nothing_to_choose(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    output, _ = preflight(story, capsys)
    assert (output["start"], output["candidates"], output["unread"]) == (None, [], [])
    assert output["discarded"]["steps"] == 0


def test_before_the_first_launch_what_lies_in_the_roots_is_nobodys(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    save(story.root, 20)
    (story.root / "metrics.jsonl").write_text('{"step": 30, "train/loss": 2.5}\n')
    story.init()
    output, _ = preflight(story, capsys)
    assert (output["candidates"], output["unexamined"], output["discarded"]["steps"]) == ([], 0, 0)


@pytest.mark.thorough
def test_what_was_refused_and_what_it_costs_is_reported(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """An hour for two steps on eight accelerators, and step 20 was reached."""
    story.sign(final_step=40, hardware={"count": 8})
    story.run_first_job(CRASH)
    temporary = story.data / "tiny-temporary"
    checkpoint = save(temporary, 4, hour=1)
    save(story.root, 20, metadata=False)
    output, outcomes = preflight(story, capsys)
    states = {
        Path(c["path"]).name: (c["state"], c["is_start"], c["refused"])
        for c in output["candidates"]
    }
    assert output["start"] == checkpoint
    assert states.pop("step-20") == ("incomplete", False, "no metadata.json")
    assert states.pop("step-4") == ("complete", True, "")
    state, is_chosen, refused_reason = states.pop("step-2")
    assert (state, is_chosen, states) == ("complete", False, {})
    assert mentions(refused_reason, "starts", "another")
    assert output["discarded"]["steps"] == 16
    assert output["discarded"]["accelerator_hours"] == pytest.approx(16 * 3598 / 2 * 8 / 3600)
    assert outcomes["start-checkpoint-not-newest"] == "pass"
    story.herorun("preflight", "tiny")
    page = capsys.readouterr().out
    assert f"→ {checkpoint}, step 4, complete" in page
    assert mentions(page, "step-20, step 20", "incomplete", "no metadata.json")
    assert "discarded: 16 steps, 64.0 accelerator-hours" in page


@pytest.mark.thorough
def test_one_that_was_written_after_an_unresolved_alert_is_passed_over(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(final_step=40)
    story.run_first_job(WAIT)
    assert story.tick() == 0
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write(NAN)
    tainted_checkpoint = save(story.root, 9)
    assert story.tick() == 1
    output, outcomes = preflight(story, capsys)
    (refused_reason,) = [
        c["refused"] for c in output["candidates"] if c["path"] == tainted_checkpoint
    ]
    assert mentions(refused_reason, "tainted", "not-finite[train/loss]", "4", "2")
    assert output["start"] == str(story.root / "step-2")
    assert output["discarded"]["steps"] == 7
    assert outcomes["tainted-start-checkpoint"] == "pass"


@pytest.mark.thorough
def test_a_relaunch_passes_it_over_too(story: Story) -> None:
    story.sign(final_step=40)
    story.run_first_job(WAIT)
    assert story.tick() == 0
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write(NAN)
    save(story.root, 9)
    assert story.tick() == 1
    run = story.run
    memory = run.record.memory()
    plan = plan_resume(run, memory, "tiny-1")
    assert plan.start.value and plan.start.value.step == 2


@pytest.mark.thorough
def test_where_all_are_tainted_a_relaunch_asks_a_person_and_says_why_once(story: Story) -> None:
    """A margin of 100 steps reaches back beyond the first checkpoint."""
    story.sign(final_step=40, babysit={"thresholds": {"not-finite": {"margin": 100}}})
    story.run_first_job(WAIT)
    save(story.root, 9)
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write(NAN)
    assert story.tick() == 1
    run = story.run
    memory = run.record.memory()
    with pytest.raises(Blocked, match=r"not-finite.* \(2 checkpoints, steps 2 to 9\)"):
        plan_resume(run, memory, "tiny-1")


@pytest.mark.thorough
def test_from_scratch_with_a_past_is_blocked(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(CRASH)
    (story.root / "step-2" / "metadata.json").unlink()
    output, outcomes = preflight(story, capsys)
    assert output["start"] is None
    assert (outcomes["scratch-with-history"], outcomes["no-complete-checkpoint"]) == (
        "fail",
        "fail",
    )


# --- the source run -------------------------------------------------------------------------------


def a_child(story: Story, source_run: str | None) -> SourceRun | Nothing | Unavailable:
    """What is known of the run that a second run of this repository starts from."""
    start: dict[str, str] = {"from": str(story.root / "step-4")}
    if source_run:
        start["source_run"] = source_run
    data = contract_of(story.data) | {"slug": "child", "start": start}
    (story.work / "runs" / "child.toml").write_text(tomli_w.dumps(data))
    evidence: SourceRun | Nothing | Unavailable = open_run("child", story.work).base_evidence(
        Memory()
    )[SourceRun]
    return evidence


@pytest.mark.thorough
def test_the_source_run_is_reported_by_its_own_record(story: Story) -> None:
    rejected_path = str(story.root / "step-3")
    story.sign(start={"rejected": [rejected_path]})
    story.run_first_job()
    assert a_child(story, "tiny") == SourceRun(
        "tiny", (str(story.root), str(story.data / "tiny-temporary")), (rejected_path,)
    )
    assert isinstance(a_child(story, None), Nothing)


def test_a_record_that_is_not_in_this_clone_says_how_to_get_it(story: Story) -> None:
    story.init()
    child = a_child(story, "elsewhere")
    assert isinstance(child, Unavailable)
    refspec = "herorun/elsewhere:refs/herorun/record/elsewhere"
    assert mentions(child.why, "git fetch", f"origin {refspec}")
    assert isinstance(a_child(story, "no slug at all"), Unavailable)
