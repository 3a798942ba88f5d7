"""The real launcher about a job of its own list."""

import json
import os
import time
from pathlib import Path

import pytest

from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place
from herorun.schedulers.external import nel
from services.servers import REQUIRE

pytestmark = pytest.mark.back_end

PROGRAM = Path(__file__).parents[3] / ".venv-nel" / "bin"
RESULTS = (
    "results:\n  tasks:\n    ifeval:\n      metrics:\n        acc:\n          scores:\n           "
    " acc:\n              value: 0.423\n"
)


def test_an_invocation_is_looked_at_by_its_id_and_its_scores_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (PROGRAM / "nel").exists():
        (pytest.fail if os.environ.get(REQUIRE) == "1" else pytest.skip)(
            "make services-nel brings nel"
        )
    folder = tmp_path / "lm-evaluation-harness.ifeval.0"
    (folder / "logs").mkdir(parents=True)
    (folder / "artifacts").mkdir()
    (folder / "logs" / "stage.pre-start").write_text("2026-11-20T18:00:00Z\n")
    (folder / "logs" / "stage.running").write_text("2026-11-20T18:00:01Z\n")
    (folder / "logs" / "stage.exit").write_text("2026-11-20T18:28:43Z 0\n")
    (folder / "artifacts" / "results.yml").write_text(RESULTS)
    recording = Path(__file__).parents[2] / "recordings" / "nel" / "exec.v1.jsonl"
    row = json.loads(recording.read_text().splitlines()[0])
    row["data"]["output_dir"], row["timestamp"] = str(folder), time.time()
    path = tmp_path / "exec.v1.jsonl"
    path.write_text(json.dumps(row) + "\n")
    monkeypatch.setenv("NEMO_EVALUATOR_EXEC_DB_FILE", str(path))
    monkeypatch.setenv("PATH", f"{PROGRAM}:{os.environ['PATH']}")
    adapter = nel.connect(nel.Options(), Place("j", str(tmp_path), str(tmp_path), str(tmp_path)))
    answer = adapter.find_job("01047efef1aeb3cc")
    assert isinstance(answer, Found)
    assert (answer.job.state, answer.job.raw) == (JobState.SUCCEEDED, "success")
    assert adapter.results("01047efef1aeb3cc") == "ifeval: 42.3%"
    assert [job for job, _ in adapter.listed(5)] == ["01047efef1aeb3cc"]
    assert isinstance(adapter.find_job("deadbeef"), Absent)

    assert adapter.live_namesakes("01047efef1aeb3cc") == ()
    other = tmp_path / "again"
    (other / "logs").mkdir(parents=True)
    for stage in ("pre-start", "running"):
        (other / "logs" / f"stage.{stage}").write_text("2026-11-20T18:00:00Z\n")
    again = {**row, "invocation_id": "0badc0de0badc0de", "job_id": "0badc0de0badc0de.0"}
    different = {**again, "invocation_id": "0ddc0de00ddc0de0", "job_id": "0ddc0de00ddc0de0.0"}
    again["data"] = {**row["data"], "output_dir": str(other)}
    rows = [row, again, {**different, "data": again["data"], "config": {"other": 1}}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert adapter.live_namesakes("01047efef1aeb3cc") == ("0badc0de0badc0de",)
