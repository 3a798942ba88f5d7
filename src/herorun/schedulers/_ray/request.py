"""What Ray is sent to start a job. Pure: the same submission gives the same request."""

import shlex
from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Any

from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Submission
from herorun.schedulers._cluster_secrets import require_variable

ADMISSION = ".herorun-admission.json"  # at the top of what is uploaded
RUN, INSTANCE, PLAN = "herorun_run", "herorun_instance", "herorun_plan"  # metadata
GRACE = "RAY_JOB_STOP_WAIT_TIME_S"  # read where the job runs; Ray's own default is 3 s
NOT_ENTERED = 126  # as a shell has it
_VARIABLE = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Needs:
    """The resources of the entrypoint itself, apart from what it starts."""

    cpus: float | None = None
    gpus: float | None = None
    memory: int | None = None  # bytes
    resources: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        fields = {
            "entrypoint_num_cpus": self.cpus,
            "entrypoint_num_gpus": self.gpus,
            "entrypoint_memory": self.memory,
            "entrypoint_resources": dict(self.resources) or None,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class UploadPaths:
    """How the job finds its code and its admission."""

    package: str | None  # the uploaded package's URI; None: the cluster sees `code`
    code: str
    admission: str


def request_of(
    submission: Submission, name: str, where: UploadPaths, needs: Needs, grace: timedelta, plan: str
) -> dict[str, Any]:
    """The body of `POST /api/jobs/`. It is kept by Ray and shown to every client: no secret may be
    in it.
    """
    env = {GRACE: str(max(1, round(grace.total_seconds()))), **_build_environment(submission)}
    runtime: dict[str, Any] = {
        "env_vars": {key: value for key, value in env.items() if "$" not in value}
    }
    if where.package:
        runtime["working_dir"] = where.package
    slug = submission.instance.rpartition("-")[0]
    return {
        "submission_id": name,
        "entrypoint": entrypoint(submission, where),
        "runtime_env": runtime,
        "metadata": {RUN: slug, INSTANCE: submission.instance, PLAN: plan},
        **needs.as_json(),
    }


def _build_environment(submission: Submission) -> dict[str, str]:
    env = {**submission.env, "HERORUN_INSTANCE": submission.instance, "HERORUN_ATTEMPT": "1"}
    odd = [name for name in (*env, *submission.secrets) if not _VARIABLE.fullmatch(name)]
    if odd:
        raise WrongUse(f"{odd[0]!r} is not a variable name of a shell: rename it in [command].")
    return env


def entrypoint(submission: Submission, where: UploadPaths) -> str:
    """For /bin/sh. It becomes the command, so that signals, exit codes and the process id are the
    command's own.

    What holds a dollar sign is set here: Ray expands such values in `env_vars`.
    """
    code = shlex.quote(where.code) if where.package is None else "."
    admission = shlex.quote(where.admission) if where.package is None else f'"$PWD/{ADMISSION}"'
    exact = {name: value for name, value in _build_environment(submission).items() if "$" in value}
    lines = [
        *(require_variable(name) for name in dict.fromkeys(submission.secrets)),
        f"cd {code} || exit {NOT_ENTERED}",
        f'export HERORUN_ADMISSION={admission} HERORUN_CODE="$PWD" HERORUN_MAIN_PID=$$',
        *(f"export {name}={shlex.quote(value)}" for name, value in exact.items()),
        *(
            [f"cd {_folder(submission.cwd)} || exit {NOT_ENTERED}"]
            if submission.cwd not in ("", ".")
            else []
        ),
        f"exec {shlex.join(submission.argv)}",
    ]
    return "; ".join(lines)


def _folder(path: str) -> str:
    """One that begins with a dash is no option of `cd`."""
    return shlex.quote(path if path.startswith("/") else f"./{path}")
