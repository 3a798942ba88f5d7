"""The environment that a job of this machine gets: that of the launch, and of later launches by hand.

What decides which programs and libraries run (PATH and the like) is written down at each submission by a person, in the
private file `environment.json` beside the jobs. A relaunch by the babysitter, which cron may have started with a bare
PATH and which says `HERORUN_UNATTENDED=1`, gets those variables as they were written down, and no others of their kind.
Everything else, secrets above all, is inherited from the process that submits and is never written down.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from herorun.core.errors import CouldNotLook, in_words
from herorun.core.outside import read_json
from herorun.core.ports import Submission
from herorun.schedulers._asked import secret_values
from herorun.system.files import write_whole

_FILE = "environment.json"
_KEPT = re.compile(
    r"PATH|VIRTUAL_ENV|LD_LIBRARY_PATH|PYTHONPATH|HOME|USER|LANG|TMPDIR"
    r"|(?:CONDA|LC|CUDA|XLA|NCCL|OMP)_\w+|\w+_NUM_THREADS"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASS|CREDENTIAL|AUTH|KEY", re.IGNORECASE)
# What an outer job, a git hook or the babysitter leaves in the environment would mislead this job.
_OWN = (
    "HERORUN_START",
    "HERORUN_INSTANCE",
    "HERORUN_ADMISSION",
    "HERORUN_ATTEMPT",
    "HERORUN_CODE",
    "HERORUN_MAIN_PID",
    "HERORUN_UNATTENDED",
)


def environment(submission: Submission, admission: str, jobs: Path) -> dict[str, str]:
    """What the job gets: the launch's environment without what would mislead it, and the submission's on top."""
    secret_values(submission)  # a missing one is said before anything starts
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in submission.secrets or not (name.startswith("GIT_") or name in _OWN)
    }
    return {
        **_as_launched(inherited, submission.secrets, jobs),
        "PYTHONUNBUFFERED": "1",
        **submission.env,
        "HERORUN_INSTANCE": submission.instance,
        "HERORUN_ADMISSION": admission,
        "HERORUN_ATTEMPT": "1",
    }


def _as_launched(inherited: Mapping[str, str], secrets: tuple[str, ...], jobs: Path) -> dict[str, str]:
    """The inherited variables, those that matter as a person had them; where nothing is written down, as they are."""
    recorded = _recorded(jobs / _FILE) if os.environ.get("HERORUN_UNATTENDED") == "1" else None
    if recorded is None:
        return dict(inherited)
    others = {name: value for name, value in inherited.items() if name in secrets or not _is_kept(name)}
    return {**recorded, **others}


def keep_environment(submission: Submission, jobs: Path) -> None:
    """Write down what a later relaunch must have too; by a person always, unattended only where nothing is yet."""
    if os.environ.get("HERORUN_UNATTENDED") == "1" and (jobs / _FILE).exists():
        return
    kept = {n: v for n, v in os.environ.items() if _is_kept(n) and n not in submission.secrets}
    text = json.dumps(kept, sort_keys=True)  # ASCII: odd bytes of a path travel as surrogates
    write_whole(jobs / _FILE, text.encode("ascii") + b"\n", 0o600)


def _is_kept(name: str) -> bool:
    return bool(_KEPT.fullmatch(name)) and not _SECRET.search(name)


def _recorded(path: Path) -> dict[str, str] | None:
    try:
        told = read_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CouldNotLook(
            f"{path}, the environment of the launch, cannot be read: {in_words(error)}. Delete it, and launch by hand."
        ) from None
    table = told if isinstance(told, dict) else {}
    return {str(name): str(value) for name, value in table.items() if _is_kept(name)}
