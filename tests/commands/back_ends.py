"""Back ends by stand-ins, each with what can be wrong with it: programs, a dashboard on loopback, a
login node here.
"""

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from schedulers.test_ray_bad_answers import RECORDING, Stand
from schedulers.test_slurm_answers import AS_ASKED
from services.relay import free_port

Fault: TypeAlias = Callable[[], AbstractContextManager[None]]
Faults: TypeAlias = dict[
    str, tuple[Fault, str]
]  # by a word for each; with a part of the sentence that tells it

TOOLS = "cat date env git id mkdir mv python3 sed setsid sh sleep tail tar test timeout tr"
LOGIN_NODE = """\
for last; do :; done
cd '{home}' && exec env -i HOME='{home}' PATH=/usr/bin:/bin sh -c "$last"
"""
SBATCH = """\
for word; do case $word in --comment=*) comment=${word#*=} ;; --job-name=*) name=${word#*=} ;; esac; done
at=$(date +%s)
printf '%s\\037' 71 "$name" ada RUNNING 0 0 "$at" "$at" 0 1 n1 "$comment" None > "${0%/*}/queue"
echo >> "${0%/*}/queue"
echo 71"""  # noqa: E501  # a text that is read as it stands
SQUEUE = f'if [ -e "${{0%/*}}/queue" ]; then cat "${{0%/*}}/queue"; fi | {{\n{AS_ASKED}}}'
NEL = """\
job='"invocation_id": "0a1b", "invocation": "0a1b", "job_id": "0a1b.0"'
case "$1" in
  run)
    for word; do case $word in execution.output_dir=*) out=$(echo "${word#*=}" | tr -d "'") ;; esac; done
    echo "{$job, \\"timestamp\\": $(date +%s), \\"config\\": {\\"execution\\": {\\"output_dir\\": \\"$out\\"}}," \\
      '"executor": "EXECUTOR", "data": DATA}' >> "$NEMO_EVALUATOR_EXEC_DB_FILE"
    echo 'Invocation ID: 0a1b00' ;;
  status) echo "[{$job, \\"status\\": \\"running\\", \\"data\\": {}}]" ;;
  kill) echo "[{$job, \\"status\\": \\"error\\", \\"data\\": {\\"error\\": \\"permission denied\\"}}]" ;;
esac"""  # noqa: E501  # a text that is read as it stands


@dataclass
class World:
    """A contract's `[scheduler]`, and what can be wrong."""

    scheduler: dict[str, Any]
    faults: Faults
    refusals: Faults = field(default_factory=dict)  # of a stop
    # options, refused at once
    wrong: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    # options that lead nowhere
    blind: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    argv: list[str] = field(default_factory=list)  # of the command; none: the story's own
    end: Path | None = None  # what is there when a job that really ran has ended


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@contextmanager
def instead(path: Path, script: str) -> Iterator[None]:
    """Another program in the place of one; of an empty script there is none."""
    body = path.read_text().partition("\n")[2]
    path.unlink()
    if script:
        program(path, script)
    yield
    program(path, body)


def fails(path: Path, message: str, code: int = 1) -> Fault:
    return partial(instead, path, f"echo {shlex.quote(message)} >&2\nexit {code}")


def program_gone(path: Path) -> Fault:
    return partial(instead, path, "")


def tools(folder: Path) -> Path:
    """A PATH of few programs: no back end's own, no ssh, no tmux."""
    folder.mkdir()
    for name in TOOLS.split():
        (folder / name).symlink_to(shutil.which(name) or "/nowhere")
    return folder


def login_node(top: Path, path: Path) -> Faults:
    """A stand-in for ssh, and how it fails in ssh's own words."""
    ssh = path / "ssh"
    (top / "home").mkdir()
    program(ssh, LOGIN_NODE.format(home=top / "home"))
    refused_error = "ssh: connect to host alpha port 22: Connection refused"
    unknown = "ssh: Could not resolve hostname alpha: Name or service not known"
    return {
        "an unreachable host": (fails(ssh, refused_error, 255), "alpha refuses the connection"),
        "a host that nobody knows": (fails(ssh, unknown, 255), "alpha is not a host name"),
        "a rejected key": (
            fails(ssh, "Permission denied (publickey).", 255),
            "alpha rejects the key",
        ),
        "a strange host key": (
            fails(ssh, "Host key verification failed.", 255),
            "is not the known one",
        ),
        "no ssh here": (program_gone(ssh), "ssh was not found on this machine"),
    }


def some(faults: Faults) -> Faults:
    """The road is the same for every back end: what the box tells of it all need not be told
    again.
    """
    return {what: faults[what] for what in ("an unreachable host", "a rejected key")}


def a_box(top: Path, path: Path) -> World:
    jobs = top / "home" / "jobs"
    return World(
        {"kind": "ssh", "host": "alpha", "folder": str(jobs), "settle": "20s", "grace": "200ms"},
        login_node(top, path),
        wrong={
            "an unknown key": ({"hosts": "alpha"}, "unknown key `hosts`"),
            "a folder that is no path": ({"folder": "jobs"}, "`folder`: must be an absolute path"),
            "a host that is an option": (
                {"host": "-oProxyCommand=x"},
                "must be a name for ssh",
            ),
        },
        blind={"a box without this Python": ({"python": "python-of-nobody"}, "python-of-nobody")},
        end=jobs / "tiny-1" / "exit.json",
    )


def a_slurm(folder: Path) -> tuple[Faults, Faults]:
    """Slurm's programs in a folder, and how they fail."""
    program(folder / "sbatch", SBATCH)
    program(folder / "squeue", SQUEUE)
    for name in ("sacct", "scancel", "scontrol"):
        program(folder / name, "exit 0")
    down = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    munge = "slurm_load_jobs error: Protocol authentication error"
    denied_error = "scancel: error: Kill job error on job id 71: Access/permission denied"
    return {
        "a missing binary": (program_gone(folder / "squeue"), "squeue was not found on"),
        "an unreachable controller": (
            fails(folder / "squeue", down),
            "Unable to contact slurm controller",
        ),
        "a rejected credential": (fails(folder / "squeue", munge), "Protocol authentication error"),
    }, {
        "another user's job": (
            fails(folder / "scancel", denied_error, 210),
            "job 71 of another user",
        )
    }


def a_near_slurm(top: Path, path: Path) -> World:
    faults, refusals = a_slurm(path)
    return World(
        {"kind": "slurm", "settle": "1ms"},
        faults,
        refusals,
        {
            "an unknown key": ({"partitions": "x"}, "unknown key `partitions`"),
            "an argument of ours": ({"arguments": ["--array=1-3"]}, "--array is set by herorun"),
            "an argument with a key": ({"arguments": ["--time=5"]}, "[scheduler] time_limit"),
            "a time without a unit": ({"time_limit": 5}, "has no unit"),
        },
        {
            "programs that are not there": (
                {"slurm_bin": "/nowhere"},
                "squeue was not found on this machine",
            )
        },
    )


def a_far_slurm(top: Path, path: Path) -> World:
    faults, refusals = a_slurm(top / "slurm")
    scheduler = {"kind": "slurm", "settle": "1ms", "host": "alpha", "slurm_bin": str(top / "slurm")}
    faults = {**some(login_node(top, path)), "a missing binary": faults["a missing binary"]}
    return World(scheduler, faults, refusals)


def a_nel(top: Path, path: Path, executor: str = "local", **data: str) -> World:
    program(path / "nel", NEL.replace("EXECUTOR", executor).replace("DATA", json.dumps(data)))
    refused_error = "requests.exceptions.ConnectionError: HTTPConnectionPool: Connection refused"
    return World(
        {
            "kind": "nel",
            "settle": "1ms",
            "folder": str(top / "results"),
            "exec_db": str(top / "exec.jsonl"),
        },
        {"a missing binary": (program_gone(path / "nel"), "pip install nemo-evaluator-launcher")},
        {
            "another user's containers": (partial(instead, path / "nel", NEL), "permission denied"),
            "an unreachable host": (fails(path / "nel", refused_error), "Connection refused"),
        },
        {
            "an unknown key": ({"programm": "x"}, "unknown key `programm`"),
            "a folder that is no path": ({"folder": "x"}, "must be an absolute path"),
        },
        argv=["eval.yaml"],
    )


def a_far_nel(top: Path, path: Path) -> World:
    """Its jobs run by nel's Slurm executor, and Slurm's own word is asked for behind the login
    node.
    """
    roads, slurm_folder = some(login_node(top, path)), top / "slurm"
    nel_world = a_nel(
        top, path, "slurm", slurm_job_id="71", remote_rundir_path=str(top), hostname="alpha"
    )
    faults, _ = a_slurm(slurm_folder)
    row = "\\037".join(
        ("71", "j", "ada", "RUNNING", "0", "0", *["1795303317"] * 3, "1", "n1", "", "None")
    )
    program(slurm_folder / "squeue", f"printf '{row}\\037\\n' | {{\n{AS_ASKED}}}")
    return World(
        {**nel_world.scheduler, "slurm_bin": str(slurm_folder)},
        nel_world.faults,
        {**roads, **faults},
        argv=["eval.yaml"],
    )


def an_iris(top: Path, path: Path) -> World:
    stand_in = Path(__file__).parents[1] / "services" / "iris_stand_in.py"
    cluster = top / "cluster"
    cluster.mkdir()
    own = f'exec {shlex.join([sys.executable, "-I", "-S", str(stand_in), "C", str(cluster)])} "$@"'
    program(path / "iris", own)

    def refuses(command: str, message: str) -> Fault:
        """Its help needs no cluster."""
        one = (
            f'case "$*" in *--help*) ;; *"job {command}"*) echo {shlex.quote(message)} >&2; exit 1 '
            ";; esac"
        )
        return partial(instead, path / "iris", f"{one}\n{own}")

    error = "connectrpc.errors.ConnectError: "
    return World(
        {"kind": "iris", "cluster": "marin", "user": "ada", "code": "shared", "settle": "1ms"},
        {
            "a missing binary": (program_gone(path / "iris"), "iris was not found on this machine"),
            "an unreachable host": (
                refuses("", f"{error}unavailable: no route"),
                "unavailable: no route",
            ),
            "a rejected token": (
                refuses("", f"{error}unauthenticated: log in"),
                "unauthenticated: log in",
            ),
        },
        {
            "another user's job": (
                refuses("cancel", f"{error}permission_denied"),
                "is another user's",
            )
        },
        {
            "an unknown key": ({"clusters": "x"}, "unknown key `clusters`"),
            "two clusters": (
                {"config": "/x.yaml"},
                "iris: set exactly one of cluster, config and controller_url.",
            ),
            "a flag of ours": ({"arguments": ["--user=grace"]}, "--user is set by herorun"),
        },
        end=cluster / "jobs" / "ada%tiny-1" / "exit",
    )


@contextmanager
def answering(stand: Stand, answer: object, *paths: str) -> Iterator[None]:
    """At these paths, or at all, the same."""
    answers, other = dict(stand.answers), stand.other
    stand.answers.update(dict.fromkeys(paths or answers, answer))
    stand.other = other if paths else answer
    yield
    stand.answers, stand.other = answers, other


def a_ray(top: Path, stand: Stand) -> World:
    def jobs(body: bytes) -> object:
        known_answer = stand.answers["/api/jobs/tiny-1"]
        if not body:
            return [known_answer] if isinstance(known_answer, dict) else []
        metadata = json.loads(body)["metadata"]
        job = {"status": "RUNNING", "start_time": round(time.time() * 1000), "end_time": None}
        stand.answers["/api/jobs/tiny-1"] = {**RECORDING["pending"], **job, "metadata": metadata}
        return {"submission_id": "tiny-1"}

    node = {"node_id": "a", "node_ip": "192.0.2.2", "state": "ALIVE", "start_time_ms": 1}
    stand.answers.update(
        {"/api/jobs/": jobs, "/api/v0/nodes": {"data": {"result": {"result": [node]}}}}
    )
    foreign = {**RECORDING["pending"], "status": "RUNNING", "metadata": {}}
    return World(
        {"kind": "ray", "address": stand.url, "settle": "1ms", "code": "shared"},
        {
            "a rejected token": (partial(answering, stand, (401, "no")), "refuses us (HTTP 401)"),
            "a login page": (partial(answering, stand, (200, "<html>")), "JSON"),
            "a dashboard that is down": (partial(answering, stand, (503, "")), "HTTP 503"),
        },
        {
            "another user's job": (
                partial(answering, stand, foreign, "/api/jobs/tiny-1"),
                "a job called tiny-1 is there that herorun did not submit",
            )
        },
        {
            "an unknown key": ({"adress": "x"}, "unknown key `adress`"),
            "an address that is none": ({"address": "auto"}, "http://host:port"),
        },
        {
            "nobody listens": (
                {"address": f"http://127.0.0.1:{free_port()}"},
                "Connection refused",
            ),
            "a token that is not set": ({"token_env": "NO_TOKEN"}, "NO_TOKEN is not set"),
            "no certificates": (
                {"address": stand.url.replace("http:", "https:"), "ca_file": "/nope"},
                "ca_file /nope cannot be used: No such file or directory",
            ),
        },
    )
