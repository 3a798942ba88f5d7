"""A whole run that reports to MLflow by REST, told by the real commands: a crash leaves its run
RUNNING there, the relaunch continues in the same one, and the seal waits for its end.
"""

import json
import sys
from typing import Any

import pytest

from operations.babysit.test_health_stories import firing, look
from operations.seal.sealed_story import seal_json
from services.mlflow_service import MlflowExperiment
from stories import CRASH, JOB, SLUG, TAG, Story
from wording import mentions

pytestmark = pytest.mark.thorough

CAPTURE = pytest.CaptureFixture[str]
# What the job's program does: find its run by the tag, or begin it, and log under its id.
REPORT = """\
import json, os, sys, time
from pathlib import Path
from urllib.request import Request, urlopen

word, root, *values = sys.argv[1:]
known = Path(root) / "mlflow-run"

def call(name, body):
    url = f"{os.environ['MLFLOW_TRACKING_URI']}/api/2.0/mlflow/{name}"
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return json.load(answer)

now = int(time.time() * 1000)
if word == "begin":
    tag = {"key": "herorun.run", "value": "tiny"}
    experiment = os.environ["MLFLOW_EXPERIMENT_ID"]
    wanted = {"experiment_ids": [experiment], "filter": "tags.`herorun.run` = 'tiny'"}
    runs = call("runs/search", wanted).get("runs", [])
    begin = {"experiment_id": experiment, "run_name": "tiny", "start_time": now, "tags": [tag]}
    run = runs[0] if runs else call("runs/create", begin)["run"]
    call("runs/update", {"run_id": run["info"]["run_id"], "status": "RUNNING"})
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(run["info"]["run_id"])
else:
    point = {"key": "train/loss", "value": 2.5, "timestamp": now, "step": int(values[0])}
    call("runs/log-metric", {"run_id": known.read_text(), **point})
"""
LOGGED_LINES = [line for line in JOB.splitlines() if "metrics.jsonl" in line]


def reporting(story: Story, mlflow: MlflowExperiment) -> None:
    """Let the story's job report to MLflow, and nowhere else."""
    (line,) = LOGGED_LINES
    report = f"{sys.executable} report.py"
    job = JOB.replace(line, f'  {report} log "$root" "$step"')
    job = job.replace("save() {", f'{report} begin "$root"\nsave() {{', 1)
    (story.work / "train.sh").write_text(job)
    (story.work / "report.py").write_text(REPORT)
    mlflow.id = mlflow.service.call("experiments/create", {"name": mlflow.name})["experiment_id"]
    uri = mlflow.service.url
    story.sign(
        command={"env": {"MLFLOW_TRACKING_URI": uri, "MLFLOW_EXPERIMENT_ID": mlflow.id}},
        tracker={"kind": "mlflow", "project": mlflow.name, "uri": uri, "path": None},
    )


def runs(mlflow: MlflowExperiment) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = mlflow.service.call(
        "runs/search", {"experiment_ids": [mlflow.id]}
    ).get("runs", [])
    return [run["info"] for run in value]


def test_a_crash_is_seen_and_the_relaunch_continues_in_the_same_run(
    story: Story, mlflow: MlflowExperiment, capsys: CAPTURE
) -> None:
    reporting(story, mlflow)
    story.run_first_job(CRASH)
    (mlflow_run,) = runs(mlflow)
    assert mlflow_run["status"] == "RUNNING"  # MLflow notices no crash

    snapshot = look(story, capsys)
    assert snapshot["run"] != "healthy" and firing(snapshot) == ["crashed"]
    story.wait_for_end("tiny-2")
    assert story.starts == ["tiny-1 scratch", f"tiny-2 {story.root}/step-2"]
    (there,) = runs(mlflow)
    assert (there["run_id"], there["status"]) == (mlflow_run["run_id"], "RUNNING")
    rows = story.run.tracker.read("").rows
    assert [row.step for row in rows] == [0, 1, 2, 2, 3]

    assert [story.tick(), story.tick()] == [0, 0], capsys.readouterr()
    capsys.readouterr()
    assert story.herorun("status", SLUG, "--json") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["step"] == 4
    _, open_checks = seal_json(story, capsys, 1)
    assert open_checks == {"unfinished-tracker-run"}
    mlflow.end(there["run_id"])
    assert story.seal() == 0, capsys.readouterr()
    assert story.tags() and story.statement_facts["tracker"]["kind"] == "mlflow"
    assert story.statement_facts["final_metrics"]["train/loss"] == 2.5
    assert story.herorun("verify", TAG) == 0, capsys.readouterr()


def test_a_strangers_run_is_not_appended_to(
    story: Story, mlflow: MlflowExperiment, capsys: CAPTURE
) -> None:
    reporting(story, mlflow)
    mlflow.begin(status="FINISHED")
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    outcomes = {f["check"]: (f["outcome"], f["message"]) for f in document["findings"]}
    outcome, message = outcomes["tracker-identity"]
    assert outcome == "fail" and mentions(message, "MLflow", "append")
    assert outcomes["hidden-replay"][0] == "n/a"
    assert mentions(outcomes["tracker-environment"][1], "MLFLOW_TRACKING_URI")


def test_the_doctor_says_that_the_server_did_not_answer(
    story: Story, mlflow: MlflowExperiment, capsys: CAPTURE
) -> None:
    reporting(story, mlflow)
    mlflow.service.fault(url=mlflow.name, status=403)
    capsys.readouterr()
    assert story.herorun("doctor", SLUG, "--json") == 3
    document = json.loads(capsys.readouterr().out)
    (part,) = [each for each in document["parts"] if each["group"] == "tracker"]
    assert "unknown" in part.values() and mentions(part["message"], "forbids", "403")
