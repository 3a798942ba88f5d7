"""A submission that is killed before or after each of its calls is one Job once it is repeated."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schedulers.kubernetes_rig import adapter, contract_table
from schedulers.test_kubernetes_traps import submit
from services.k8s import Space, kubectl

pytestmark = pytest.mark.back_end

KILLED_KUBECTL = """\
#!/bin/sh
echo call >> {folder}/calls
number=$(wc -l < {folder}/calls)
[ "$number" -eq {number} ] && [ {when} = before ] && kill -9 $PPID && exit 1
{kubectl} "$@"; code=$?
[ "$number" -eq {number} ] && [ {when} = after ] && kill -9 $PPID
exit $code
"""
SUBMIT = """\
import json, sys
from herorun.core.ports import Place, Submission
from herorun.schedulers import kubernetes
stated, folder = json.loads(sys.argv[1]), sys.argv[2]
place = Place("tiny", folder, "/out", "/repository")
scheduler = kubernetes.connect(kubernetes.Options.model_validate(stated), place)
env = {"HERORUN_INSTANCE": "tiny-1"}
submission = Submission("tiny-1", ("sh", "-c", "echo ran >> ran"), ".", env, ())
scheduler.submit(submission, folder, "/state/admission.json")
"""


@pytest.mark.parametrize(
    ("number", "when"), [(1, "before"), (1, "after"), (2, "before"), (2, "after")]
)
def test_a_killed_submission_is_one_job_once_it_is_repeated(
    number: int, when: str, space: Space, tmp_path: Path
) -> None:
    """The calls are the dry run and the creation."""
    program = tmp_path / "kubectl"
    fields = {"folder": tmp_path, "number": number, "when": when, "kubectl": kubectl()}
    program.write_text(KILLED_KUBECTL.format(**fields))
    program.chmod(0o755)
    table = contract_table(space, program=str(program))
    del table["kind"]
    words = [sys.executable, "-c", SUBMIT, json.dumps(table), str(tmp_path)]
    killed_process = subprocess.run(words, capture_output=True, timeout=120, check=False)
    assert killed_process.returncode == -9, killed_process.stderr
    there = [(number, when)] == [(2, "after")]
    assert len(space.jobs()) == there
    job = submit(adapter(space, tmp_path), tmp_path, "echo ran >> ran")
    (only,) = space.jobs()
    assert only["metadata"]["uid"] == job.id
