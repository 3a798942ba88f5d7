"""The health checks that are not about curves, on real jobs: what is told, and what is left
alone.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from herorun.core.evidence import JobState
from stories import CRASH, WAIT, Story, eventually


def look(story: Story, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """One turn, as `babysit --once --json` tells it."""
    capsys.readouterr()
    story.tick("--json")
    fields: dict[str, Any] = json.loads(
        capsys.readouterr().out.rpartition('{\n  "schema"')[2].join(('{"schema"', ""))
    )
    return fields


def firing(fields: dict[str, Any]) -> list[str]:
    return [alert["check"] for alert in fields["alerts"] if alert["state"] == "firing"]


def checks_by_outcome(values: dict[str, Any]) -> dict[str, set[str]]:
    """The checks by outcome."""
    fields: dict[str, set[str]] = {}
    for finding in values["findings"]:
        fields.setdefault(finding["outcome"], set()).add(finding["check"])
    return fields


@pytest.mark.thorough
def test_nothing_is_wrong_with_a_healthy_run(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    snapshot = look(story, capsys)
    assert (snapshot["run"], snapshot["monitor"], firing(snapshot)) == ("healthy", "fresh", [])
    assert snapshot["missing_evidence"] == []
    assert checks_by_outcome(snapshot).keys() <= {"pass", "n/a"}
    assert {
        "late-checkpoints",
        "stalled-steps",
        "full-disk",
        "late-tick",
        "wrong-resume",
    } <= checks_by_outcome(snapshot)["pass"]
    (story.data / "go").touch()
    story.wait_for_end()
    snapshot = look(story, capsys)
    assert (snapshot["run"], snapshot["monitor"], snapshot["alerts"]) == ("finished", "fresh", [])
    assert checks_by_outcome(snapshot).keys() <= {"pass", "n/a"}
    assert "missing-artefacts" in checks_by_outcome(snapshot)["pass"]


@pytest.mark.thorough
def test_a_success_without_its_final_checkpoint_is_no_end(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job("save() { :; }")
    snapshot = look(story, capsys)

    assert (snapshot["run"], firing(snapshot)) == ("degraded", ["missing-artefacts"])
    assert look(story, capsys)["actions"] == []


ONE_STEP_MORE = f'echo "{{\\"step\\": 3, \\"train/loss\\": 2.5}}" >> "$root/metrics.jsonl"; {CRASH}'


@pytest.mark.thorough
def test_nearly_the_same_step_twice_is_not_relaunched_a_third_time(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.order("tiny-2", ONE_STEP_MORE)
    story.run_first_job(CRASH)
    assert firing(look(story, capsys)) == ["crashed"]
    story.wait_for_end("tiny-2")
    snapshot = look(story, capsys)

    assert firing(snapshot) == ["crashed", "repeated-crash"]
    assert {action["action"] for action in snapshot["actions"]} == {"tell", "escalate"}
    look(story, capsys)
    assert len(story.starts) == 2
    ends = story.run.record.memory().history.ends
    assert [(end.instance, end.state, end.step, end.checkpoint) for end in ends] == [
        ("tiny-1", JobState.FAILED, 3, 2),
        ("tiny-2", JobState.FAILED, 4, 2),
    ]


@pytest.mark.thorough
def test_a_receipt_of_another_checkpoint_stops_a_relaunch(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job(WAIT)
    items: list[Any] = []
    fields = {
        "instance": "tiny-1",
        "attempt": 1,
        "rank": 0,
        "outcome": "pass",
        "items": items,
        "loaded": "/data/old/step-9",
    }
    receipts = story.root / "_herorun" / "receipts"
    receipts.mkdir(parents=True, exist_ok=True)
    (receipts / "tiny-1.1.json").write_text(json.dumps(fields))
    snapshot = look(story, capsys)
    (story.data / "go").touch()

    assert firing(snapshot) == ["wrong-resume"]
    assert snapshot["run"] == "degraded"


HBM = "XlaRuntimeError: RESOURCE_EXHAUSTED: Program hbm requirement 16.30G"
CAUGHT_ERROR_JOB = f"""echo '{HBM}'
until [ -e "$data/caught" ]; do sleep 0.02; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "step $n"; done
{WAIT}"""


@pytest.mark.thorough
def test_a_running_job_whose_log_fails_is_reported_and_never_relaunched_and_steps_end_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = Story(home).begin(babysit={"thresholds": {"failing-log": {"still": "1ms"}}})
    try:
        story.order("tiny-1", CAUGHT_ERROR_JOB)
        assert (story.init(), story.launch()) == (0, 0)
        log = story.jobs / "tiny-1" / "job.log"
        eventually(lambda: log.exists() and HBM in log.read_text())
        snapshot = look(story, capsys)

        assert (snapshot["run"], firing(snapshot)) == ("degraded", ["error-in-log", "failing-log"])
        assert {action["action"] for action in snapshot["actions"]} == {"tell", "escalate"}
        (story.data / "caught").touch()
        eventually(lambda: "step 20" in log.read_text())
        assert firing(look(story, capsys)) == []
        assert len(story.starts) == 1
    finally:
        story.end()
