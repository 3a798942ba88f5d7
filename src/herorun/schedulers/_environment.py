"""The environment of a job on this machine: the plan's variables, the secrets that it names, and
what a program needs to run here. Nothing else of the submitting shell is passed on.

What a program needs here (`MACHINE`: PATH and the like) is recorded at each submission by a person,
in the private file `environment.json` next to the jobs. A relaunch by the babysitter, which cron
may have started with a minimal PATH and which sets `HERORUN_UNATTENDED=1`, gets the recorded
variables, and no others of that kind.
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
    """The job's environment: the machine's part, overridden by the submission's, and the secrets by
    name.
    """
    secrets = secret_values(submission)  # a missing one raises before anything starts
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
    """The machine's part as recorded at the last launch by a person; without a record, the present
    one.
    """
    recorded_env = (
        _read_recorded(jobs / _FILE) if os.environ.get("HERORUN_UNATTENDED") == "1" else None
    )
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
    """Record what a later relaunch also needs: always for a person, unattended only without an
    earlier record.
    """
    if os.environ.get("HERORUN_UNATTENDED") == "1" and (jobs / _FILE).exists():
        return
    variables = {n: v for n, v in machine_environment().items() if not looks_secret(n, v)}
    variables = {name: value for name, value in variables.items() if name not in submission.secrets}
    text = json.dumps(variables, sort_keys=True)  # ASCII: odd bytes of a path travel as surrogates
    write_atomic(jobs / _FILE, text.encode("ascii") + b"\n", 0o600)


def _read_recorded(path: Path) -> dict[str, str] | None:
    try:
        document = read_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CouldNotLook(
            f"The launch's environment, {path}, cannot be read: {describe_error(error)}. Delete "
            "it, then launch or relaunch yourself: that records it again."
        ) from None
    table = document if isinstance(document, dict) else {}
    # A file of an earlier version also has variables of trainers, which that version's plans
    # lacked.
    return {
        str(name): str(value)
        for name, value in table.items()
        if is_machines(str(name)) or admissible(str(name))
    }
