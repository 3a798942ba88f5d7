"""The environment that a job of this machine gets: what the plan holds, the secrets that it names,
and what a program needs to run here at all. Nothing else of the submitting shell is passed on.

What a program needs here (`MACHINE`: PATH and the like) is written down at each submission by a
person, in the private file `environment.json` next to the jobs. A relaunch by the babysitter, which
cron may have started with a bare PATH and which says `HERORUN_UNATTENDED=1`, gets those variables
as they were written down, and no others of their kind.
"""

import json
import os
from pathlib import Path

from herorun.core.environment import admissible, is_machines, looks_secret
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.ports import Submission
from herorun.core.untrusted_json import read_json
from herorun.schedulers._validate import secret_values
from herorun.system.files import write_atomic

_FILE = "environment.json"


def environment(submission: Submission, admission: str, jobs: Path) -> dict[str, str]:
    """What the job gets: the machine's part, the submission's on top, and the secrets by name."""
    secrets = secret_values(submission)  # a missing one is said before anything starts
    return {
        **_of_machine(jobs),
        "PYTHONUNBUFFERED": "1",
        **submission.env,
        **secrets,
        "HERORUN_INSTANCE": submission.instance,
        "HERORUN_ADMISSION": admission,
        "HERORUN_ATTEMPT": "1",
    }


def _of_machine(jobs: Path) -> dict[str, str]:
    """As a person had it at the last launch by hand; where nothing is written down, as it is
    here.
    """
    recorded_env = _recorded(jobs / _FILE) if os.environ.get("HERORUN_UNATTENDED") == "1" else None
    current = machine_environment()
    if recorded_env is None:
        return current
    return {
        **{name: value for name, value in current.items() if looks_secret(name, value)},
        **recorded_env,
    }


def machine_environment() -> dict[str, str]:
    """What a program needs to run on this machine; a proxy's address may hold a password."""
    return {name: value for name, value in os.environ.items() if is_machines(name)}


def keep_environment(submission: Submission, jobs: Path) -> None:
    """Write down what a later relaunch must have too; by a person always, unattended only where
    nothing is yet.
    """
    if os.environ.get("HERORUN_UNATTENDED") == "1" and (jobs / _FILE).exists():
        return
    variables = {n: v for n, v in machine_environment().items() if not looks_secret(n, v)}
    variables = {name: value for name, value in variables.items() if name not in submission.secrets}
    text = json.dumps(variables, sort_keys=True)  # ASCII: odd bytes of a path travel as surrogates
    write_atomic(jobs / _FILE, text.encode("ascii") + b"\n", 0o600)


def _recorded(path: Path) -> dict[str, str] | None:
    try:
        document = read_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CouldNotLook(
            f"{path}, the environment of the launch, cannot be read: {describe_error(error)}. "
            "Delete it, and launch by hand."
        ) from None
    table = document if isinstance(document, dict) else {}
    # A file of an earlier version holds variables of trainers too, which the plans of its time did
    # not.
    return {
        str(name): str(value)
        for name, value in table.items()
        if is_machines(str(name)) or admissible(str(name))
    }
