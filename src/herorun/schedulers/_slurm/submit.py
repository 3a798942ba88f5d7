"""What sbatch gets: its arguments, the script of the job, and the shell words that hand both over.
Pure.

Plain variables are in the script. Secrets are passed by name: a shell gets their values by standard
input and puts them into the environment of sbatch, and `--export` names them. Neither an argument
nor a file contains one.
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence

from herorun.core.canonical_json import digest
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Submission
from herorun.schedulers._option_types import must_be_variables
from herorun.schedulers._slurm.options import Options, slurm_time
from herorun.schedulers._slurm.parse import Tag

NO_FOLDER, NO_PROGRAM = 76, 127  # exit codes of our own shell words
# Variables that sbatch takes for arguments, and what an outer job leaves behind.
_CLEAN = (
    "for name in $(env | sed -n 's/^\\(\\(SBATCH\\|SLURM\\)_[A-Za-z0-9_]*\\)=.*/\\1/p'); do\n"
    '  [ "$name" = SLURM_CONF ] || unset "$name"\n'
    "done"
)


@dataclass(frozen=True)
class RemotePaths:
    """Paths at the far end, as the nodes see them."""

    code: str
    admission: str
    log: str


def request_digest(submission: Submission) -> str:
    """What distinguishes two requests of one name."""
    facts = {
        "argv": submission.argv,
        "cwd": submission.cwd,
        "env": dict(submission.env),
        "secrets": submission.secrets,
    }
    return digest(facts).removeprefix("sha256:")[:12]


def must_be_sound(submission: Submission) -> None:
    """`WrongUse` for what cannot be passed to a shell."""
    must_be_variables((*submission.env, *submission.secrets), "a shell script")
    texts = [*submission.argv, submission.cwd, *submission.env.values()]
    if any("\0" in word or "\r\n" in word for word in texts):
        raise WrongUse(
            f"{submission.instance}: an argument, a variable or the cwd has a NUL character or a "
            "DOS line break, which sbatch refuses: remove it from [command]."
        )


def sbatch_argv(
    submission: Submission, options: Options, where: RemotePaths, tag: Tag
) -> list[str]:
    flags = {
        "partition": options.partition,
        "account": options.account,
        "qos": options.qos,
        "nodes": options.nodes,
        "gpus": options.gpus,
        "gres": options.gres,
        "time": slurm_time(options.time_limit) if options.time_limit else None,
    }
    return [
        "sbatch",
        "--parsable",
        f"--job-name={submission.instance}",
        f"--comment={tag.comment}",
        "--requeue" if options.restarts == "backend" else "--no-requeue",
        "--open-mode=append",
        f"--output={without_patterns(where.log)}",
        f"--chdir={where.code}",
        f"--export={','.join(submission.secrets) or 'NONE'}",
        *(f"--{name}={value}" for name, value in flags.items() if value is not None),
        *options.arguments,
    ]


def without_patterns(path: str) -> str:
    """As it stands: Slurm would put the job's id for %j.

    >>> without_patterns("/out/100%j.log")
    '/out/100%%j.log'
    """
    return path.replace("%", "%%")


def job_script(submission: Submission, where: RemotePaths) -> str:
    """The script execs the command, so that exit code and signal are the command's own."""
    variables = {
        # otherwise the tasks of `srun` get what `--export` names: nothing that is set below
        "SLURM_EXPORT_ENV": "ALL",
        "PYTHONUNBUFFERED": "1",
        **submission.env,
        "HERORUN_INSTANCE": submission.instance,
        "HERORUN_ADMISSION": where.admission,
    }
    folder = posixpath.normpath(posixpath.join(where.code, submission.cwd))
    no_folder = f"herorun: {folder} is not there. Every node must see the folder with the code."
    return "\n".join(
        [
            "#!/bin/sh",
            *(f"export {name}={shlex.quote(value)}" for name, value in variables.items()),
            "export HERORUN_ATTEMPT=$((${SLURM_RESTART_COUNT:-0} + 1))",
            "export HERORUN_MAIN_PID=$$",
            (
                f'cd {shlex.quote(folder)} || {{ echo {shlex.quote(no_folder)} "This is '
                f'$(hostname)." >&2; exit {NO_FOLDER}; }}'
            ),
            f"exec {shlex.join(submission.argv)}",
            "",
        ]
    )


def show_request(argv: Sequence[str], script: str, secrets: Sequence[str], where: str) -> str:
    """The request for people."""
    by_name = f"# with the values of {', '.join(secrets)} in its environment\n" if secrets else ""
    return f"# on {where}\n{by_name}{shlex.join(argv)} <<'SCRIPT'\n{script}SCRIPT\n"


def submit_stdin(
    program: Sequence[str],
    argv: Sequence[str],
    script: str,
    where: RemotePaths,
    cwd: str,
    secrets: Mapping[str, str],
) -> bytes:
    """Shell words for the standard input of `sh` on the cluster."""
    end = f"END_{digest(script).removeprefix('sha256:')[:16]}"  # no line of the script
    folders = [where.code, posixpath.join(where.code, cwd), posixpath.dirname(where.log)]
    lines = [
        "umask 077",
        _CLEAN,
        *(f"cd {shlex.quote(each)} || exit {NO_FOLDER}" for each in folders),
        *(f"export {name}={shlex.quote(value)}" for name, value in secrets.items()),
        f"exec {shlex.join([*program, *argv[1:]])} <<'{end}'",
    ]
    return ("\n".join([*lines, f"{script}{end}", ""])).encode("utf-8", "surrogateescape")


def job_id(answer: str) -> str | None:
    """`71`, or `71;cluster` where there are several; whatever else it says came from a plug-in of
    the site.

    >>> job_id("sbatch says hello\\n71;alpha\\n")
    '71'
    """
    ids = [
        m[1]
        for line in answer.splitlines()
        if (m := re.fullmatch(r"([0-9]+)(;[^;]*)?", line.strip()))
    ]
    return ids[-1] if ids else None
