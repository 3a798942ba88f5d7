"""The admission: what check-in compares with, written before the job is submitted."""

from pathlib import Path

from herorun.core.canonical import canonical
from herorun.core.plan import Plan
from herorun.core.ports import Submission
from herorun.system.digests import file_digests
from herorun.system.files import write_whole
from herorun.system.resolved import in_repository
from herorun.workspace import Run


def write_admission(run: Run, plan: Plan, submission: Submission, code: str) -> Path:
    """The private file that check-in compares with: exactly what was admitted."""
    names = [path for _, _, path in run.repository.entries(plan.commit.value) if path != run.file.path]
    start = plan.start.value
    configs = [in_repository(plan.cwd.value, name) for name in run.contract.config.files]
    admission = {
        "schema": 1,
        "slug": run.slug,
        "instance": submission.instance,
        "plan": plan.digest,
        "record": run.record.tip,
        "commit": plan.commit.value,
        "tree": plan.code_tree.value,
        "code": code,
        "argv": submission.argv,
        "config": plan.config.value,
        "config_digests": file_digests(code, configs),
        "output_root": plan.output_root.value,
        "tracker_kind": plan.tracker.value.kind,
        "tracker_id": plan.tracker.value.id,
        "start": start.path if start else None,
        "files": file_digests(code, [name for name in names if not name.endswith(".md")]),
    }
    path = run.state / "admissions" / f"{submission.instance}.json"
    write_whole(path, (canonical(admission) + "\n").encode())
    return path
