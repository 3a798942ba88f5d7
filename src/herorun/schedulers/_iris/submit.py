"""The arguments of `iris job run`. Pure, except for the folder in which it is started.

Iris packs the folder in which it is started, at most 100 MB, and unpacks it where the job runs. So
that only the admitted code is sent, it is started in a copy of the code folder, with the admission
next to the code. Plain variables are passed by `-e`; secrets are not, because Iris stores and shows
how a job was submitted.
"""

import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from herorun.core.errors import WrongUse, describe_error
from herorun.core.ports import Submission
from herorun.schedulers._cluster_secrets import require_variable
from herorun.schedulers._iris.options import Options
from herorun.schedulers._option_types import must_be_variables

ADMISSION = "herorun-admission.json"
# iris would pass them on by itself, even against the contract
FORWARDED_VARIABLES = ("HF_TOKEN", "WANDB_API_KEY")
NO_FOLDER = 76


def must_be_sound(submission: Submission) -> None:
    must_be_variables((*submission.env, *submission.secrets), "a shell")
    if any("\0" in word for word in (*submission.argv, submission.cwd, *submission.env.values())):
        raise WrongUse(
            f"{submission.instance}: an argument, a variable or the cwd has a NUL character, "
            "which Iris cannot take: remove it from [command]."
        )


def selector(options: Options) -> list[str]:
    """The arguments that select the cluster."""
    flags = {
        "cluster": options.cluster,
        "config": options.config,
        "controller-url": options.controller_url,
    }
    return [f"--{name}={value}" for name, value in flags.items() if value is not None]


def run_argv(submission: Submission, options: Options, code: str, admission: str) -> list[str]:
    """The arguments after the program's name and the cluster."""
    one = {
        "tpu": options.tpu,
        "gpu": options.gpu,
        "cpu": f"{options.cpu:g}" if options.cpu else None,
        "memory": options.memory,
        "disk": options.disk,
        "replicas": options.replicas,
        "zone": options.zone,
        "priority": options.priority,
        "timeout": round(options.time_limit.total_seconds()) if options.time_limit else None,
    }
    many = {"region": options.region, "extra": options.extra, "reserve": options.reserve}
    variables = {"PYTHONUNBUFFERED": "1", **submission.env, "HERORUN_INSTANCE": submission.instance}
    return [
        "job",
        "run",
        "--no-wait",
        "--no-terminate-on-exit",
        f"--job-name={submission.instance}",
        f"--user={options.user}",
        f"--max-retries={options.retries if options.restarts == 'backend' else 0}",
        *(f"--{name}={value}" for name, value in one.items() if value is not None),
        *(f"--{name}={value}" for name, values in many.items() for value in values),
        *(["--enable-extra-resources"] if options.extra_resources else []),
        *options.arguments,
        *(word for name, value in variables.items() for word in ("-e", name, value)),
        "--",
        *("sh", "-c", _script(submission, options, code, admission), "sh"),
        *submission.argv,
    ]


def _script(submission: Submission, options: Options, code: str, admission: str) -> str:
    """The shell script of the job, which is replaced by the command (exec), so that exit code and
    signal are the command's.
    """
    is_shared = options.code == "shared"
    admission_word = shlex.quote(admission) if is_shared else f'"$PWD/{ADMISSION}"'
    lines = [
        *(require_variable(name) for name in dict.fromkeys(submission.secrets)),
        *([f"cd {shlex.quote(code)} || exit {NO_FOLDER}"] if is_shared else []),
        (
            'export HERORUN_CODE="$PWD" HERORUN_MAIN_PID=$$ '
            "HERORUN_ATTEMPT=$((${IRIS_ATTEMPT_ID:-0} + 1))"
        ),
        f"export HERORUN_ADMISSION={admission_word}",
        f"cd {shlex.quote(f'./{submission.cwd}')} || exit {NO_FOLDER}",
        'exec "$@"',
    ]
    return "; ".join(lines)


def unknown_flags(argv: Sequence[str], help_text: str) -> list[str]:
    """Flags that this iris lacks: it would take them for the first words of the command."""
    supported_flags = set(re.findall(r"--[a-z][a-z0-9-]*", help_text))
    ours = (word.partition("=")[0] for word in argv[2 : argv.index("--")] if word.startswith("--"))
    return [flag for flag in ours if flag not in supported_flags]


def show_request(
    program: Sequence[str], argv: Sequence[str], secrets: Sequence[str], bundle: bool
) -> str:
    """The request for people."""
    where = f"# in a copy of the code, next to {ADMISSION}\n" if bundle else ""
    by_name = f"# {', '.join(secrets)} must be set on the cluster\n" if secrets else ""
    return f"{where}{by_name}{shlex.join([*program, *argv])}\n"


@contextmanager
def copy_bundle(folder: Path, code: str, admission: str) -> Iterator[Path]:
    """A copy of the code with the admission next to it, for as long as the submission takes."""
    with tempfile.TemporaryDirectory(prefix="bundle-", dir=folder) as top:
        copy = Path(top) / "code"
        try:
            shutil.copytree(code, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            shutil.copyfile(admission, copy / ADMISSION)
        except OSError as error:
            raise WrongUse(
                f"The code cannot be packed for Iris: {describe_error(error)}."
            ) from None
        yield copy
