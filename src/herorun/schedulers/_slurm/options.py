"""A contract's options for Slurm, and those it must not use: some arguments of sbatch would break
the bookkeeping.
"""

from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from herorun.core.contract import Duration, RenamedKeys
from herorun.core.lazy_pydantic import AfterValidator, Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.trust import NeedsTrust
from herorun.schedulers._option_types import Absolute, long_argument, safe_word
from herorun.schedulers._transport import SshLogin
from herorun.schedulers._validate import settle_option

# Of sbatch's long options, those that decide what is ours: name, log, environment, restarts, how it
# answers.
OURS = {
    "array": "one instance is one job",
    "chdir": "the job runs in the admitted code",
    "clean-env": "the environment is set by [command] env and secrets",
    "clusters": "the job would be looked for on this cluster",
    "comment": "the comment names the run",
    "error": "both outputs go to the instance's log",
    "export": "secrets go by [command] secrets",
    "export-file": "secrets go by [command] secrets",
    "get-user-env": "the environment is set by [command] env and secrets",
    "gid": "the job runs as the user who submits it",
    "help": "it submits nothing",
    "input": "the job reads no input",
    "job-name": "the job's name is the instance's",
    "no-requeue": 'say [scheduler] restarts = "herorun"',
    "open-mode": "a restart must not empty the log",
    "output": "both outputs go to the instance's log",
    "parsable": "it is asked for already",
    "quiet": "the job's id would be lost",
    "requeue": 'say [scheduler] restarts = "backend"',
    "test-only": "it submits nothing",
    "uid": "the job runs as the user who submits it",
    "usage": "it submits nothing",
    "verbose": "its words would stand among the answer",
    "version": "it submits nothing",
    "wait": "herorun waits by itself",
    "wrap": "the command is [command] argv",
}
TYPED_FLAGS = {
    **{name: name for name in ("partition", "account", "qos", "nodes", "gpus", "gres")},
    "time": "time_limit",
}
_WORD = lazy_regex(r"[A-Za-z0-9_.,:=*/@+-]+")
# The forms of --time: minutes, minutes:seconds, hours:minutes:seconds, and the same after days.
_TIME = lazy_regex(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")
_IDS = lazy_regex(r":([0-9]+)")


def check_argument(argument: str) -> str:
    """One argument of sbatch, if it overrides nothing that herorun sets.

    >>> check_argument("--exclusive")
    '--exclusive'
    """
    return long_argument(argument, TYPED_FLAGS, OURS, abbreviates=True)


Word = Annotated[str, AfterValidator(lambda value: safe_word(value, _WORD, "Slurm"))]
Argument = Annotated[str, AfterValidator(check_argument)]


class Options(RenamedKeys, SshLogin):
    """Where the job runs, for how long, and through which login node."""

    RENAMED: ClassVar = {"programs": "slurm_bin"}

    partition: Word | None = Field(None, description="Partition; none: the cluster's default.")
    account: Word | None = Field(None, description="Account that is charged.")
    qos: Word | None = Field(None, description="Quality of service.")
    nodes: int | None = Field(None, ge=1, description="How many nodes.")
    gpus: Word | None = Field(
        None, description='GPUs in all, as sbatch takes them: "8" or "h100:8".'
    )
    gres: Word | None = Field(None, description='Generic resources of each node: "gpu:8".')
    time_limit: Duration | None = Field(
        None, description="Slurm ends the job after this time; none: the partition's limit."
    )
    arguments: tuple[Argument, ...] = Field(
        (),
        description=(
            "Further arguments of sbatch, each as --name=value. Those that herorun sets are "
            "refused."
        ),
    )
    restarts: Literal["herorun", "backend"] = Field(
        "herorun",
        description=(
            "backend: Slurm itself may restart the job after a preemption or a lost node "
            "(`--requeue`; otherwise `--no-requeue`)."
        ),
    )
    settle: Duration = settle_option(timedelta(seconds=10))
    timeout: Duration = Field(
        timedelta(seconds=40),
        description="Timeout of one query to Slurm; a slow controller takes 20 s.",
    )
    folder: Absolute | None = Field(
        None,
        description="With `host`, and unused without it: the folder for code and logs, which the "
        "login node and every node see; "
        "none: `.herorun` in the home there.",
    )
    slurm_bin: Annotated[Absolute | None, NeedsTrust()] = Field(
        None, description="Folder of sbatch, squeue and the others, if it is not on the PATH."
    )
    slurm_conf: Annotated[Absolute | None, NeedsTrust()] = Field(
        None,
        description="The cluster's slurm.conf, if there are several; none: as SLURM_CONF says.",
    )

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The ids of the jobs that this one waits for."""
        waits = [argument for argument in self.arguments if argument.startswith("--dep")]
        return tuple(
            dict.fromkeys(number for argument in waits for number in _IDS.findall(argument))
        )


def slurm_time(limit: timedelta) -> str:
    """
    >>> slurm_time(timedelta(hours=49, seconds=5))
    '2-01:00:05'
    """
    seconds = round(limit.total_seconds())
    days, remaining = divmod(seconds, 86400)
    return f"{days}-{remaining // 3600:02}:{remaining // 60 % 60:02}:{remaining % 60:02}"


def parse_time(text: str) -> timedelta:
    """A time as `--time` takes it; `ValueError` for `UNLIMITED` and what is no time.

    >>> [str(parse_time(text)) for text in ("90", "90:30", "2:00:00", "1-12", "1-12:30")]
    ['1:30:00', '1:30:30', '2:00:00', '1 day, 12:00:00', '1 day, 12:30:00']
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    parts = [int(part) for part in match["parts"].split(":")]
    if match["days"] is not None:  # hours come first
        hours, minutes, seconds = [*parts, 0, 0][:3]
    elif len(parts) == 3:
        hours, minutes, seconds = parts
    else:
        hours, (minutes, seconds) = 0, [*parts, 0][:2]
    days = int(match["days"] or 0)
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
