"""What the remote machine is sent for a submission: pure builders, and the code as one archive."""

import hashlib
import json
import os
import shlex
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from herorun.core.environment import MACHINE
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.ports import Submission
from herorun.core.untrusted_json import read_json
from herorun.schedulers import _job_records, _processes, _supervisor
from herorun.schedulers._ssh import probe, remote_start, remote_write
from herorun.system import _regular_file, _remote_agent
from herorun.system.remote_python import RemoteProgram, own_file, source

PROBE_PROGRAM = RemoteProgram(
    tuple(own_file(module) for module in (_remote_agent, _regular_file, _processes, probe))
)
ACTING = RemoteProgram(
    (
        *PROBE_PROGRAM.files,
        *(own_file(module) for module in (_job_records, _supervisor, remote_write, remote_start)),
    )
)


def request_of(
    submission: Submission, code: str, admission: str, folder: str, ship: bool
) -> dict[str, Any]:
    """The remote machine's record of the request: names of secrets, never values, and paths on that
    machine.
    """
    name = submission.instance
    return {
        "instance": name,
        "argv": list(submission.argv),
        "cwd": submission.cwd,
        "env": dict(submission.env),
        "secrets": list(submission.secrets),
        "code": f"{folder}/code/{name}" if ship else os.path.abspath(code),
        "admission": f"{folder}/admissions/{name}.json" if ship else admission,
    }


def order_of(
    request: Mapping[str, Any], folder: str, tmux: str, grace: float, within: float
) -> dict[str, Any]:
    """The whole order but for what is private, and the code's digest."""
    variables = {
        "HERORUN_INSTANCE": request["instance"],
        "HERORUN_ADMISSION": request["admission"],
        "HERORUN_ATTEMPT": "1",
    }
    return {
        "request": request,
        "environment": {**request["env"], **variables},
        "machine": list(MACHINE),
        "folder": folder,
        "tmux": tmux,
        "grace": grace,
        "within": within,
        "programs": [[name, source(path)] for name, path in ACTING.files],
    }


def format_request(ssh: list[str], order: Mapping[str, Any], ship: str) -> str:
    """The request for people: everything but the values of secrets."""
    request, folder = order["request"], order["folder"]
    name = request["instance"]
    names = ", ".join(request["secrets"]) or "none"
    tmux = (
        f"tmux -L {order['tmux']} new-session -d -s {name}"
        if order["tmux"]
        else "a session of its own"
    )
    where = f"{ship} is sent to {request['code']}" if ship else request["code"]
    lines = [
        f"by:      {shlex.join(ssh)} (a Python program, by standard input)",
        f"claim:   mkdir {folder}/{name}",
        f"code:    {where}",
        f"runs in: {tmux}",
        f"cwd:     {os.path.normpath(os.path.join(request['code'], request['cwd']))}",
        f"argv:    {shlex.join(request['argv'])}",
        *(
            f"env:     {key}={shlex.quote(value)}"
            for key, value in sorted(order["environment"].items())
        ),
        f"secrets: {names} (by standard input)",
        f"further: of the box's own environment {' '.join(order['machine'])}",
    ]
    return "\n".join(lines) + "\n"


def remote_admission(path: str, code: str) -> str:
    """The admission as the job will read it: the code lies elsewhere on the box."""
    try:
        document = dict(read_json(Path(path).read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise CouldNotLook(
            f"The admission {path} cannot be read: {describe_error(error)}"
        ) from None
    return json.dumps({**document, "code": code}, sort_keys=True) + "\n"


def pack_code(code: str) -> bytes:
    """The code folder as one archive, in order and without its owner."""
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
            tar.add(code, arcname=".", filter=_nobodys)
        file.seek(0)
        return file.read()


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def digest_of(archive: bytes) -> dict[str, Any]:
    return {"size": len(archive), "sha256": hashlib.sha256(archive).hexdigest()}
