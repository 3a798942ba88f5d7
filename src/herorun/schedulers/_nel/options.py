"""A contract's options for NeMo Evaluator Launcher, and what its `[command]` means there."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, ClassVar

from herorun.core.contract import Duration, RenamedKeys
from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.trust import NeedsTrust
from herorun.schedulers._option_types import Absolute
from herorun.schedulers._transport import SshLogin
from herorun.schedulers._validate import settle_option

OUTPUT = "execution.output_dir"
_CONFIG = lazy_regex(r"[^\0\n=]+\.ya?ml")
_OVERRIDE = lazy_regex(r"(?:~[\w.@/-]+(?:=.*)?|(?:\+\+?)?[\w.@/-]+=.*)", re.DOTALL)
_PLAIN = lazy_regex(r"[\w./@-]+")


class Options(RenamedKeys, SshLogin):
    """How nel is called, where it writes, and through which login node Slurm is asked about its
    jobs.
    """

    RENAMED: ClassVar = {"programs": "slurm_bin", "submit_within": "submit_timeout"}

    program: Annotated[tuple[str, ...], NeedsTrust()] = Field(
        ("nel",),
        min_length=1,
        description="The command that starts the launcher; nel itself always runs on this machine.",
    )
    folder: Absolute | None = Field(
        None,
        description=(
            "An instance writes to `<folder>/<instance>`, on the machine where it runs; none: "
            "`nel` in the output root."
        ),
    )
    exec_db: Absolute | None = Field(
        None,
        description=(
            "The launcher's list of its jobs; none: as NEMO_EVALUATOR_EXEC_DB_FILE says, or in "
            "the home folder."
        ),
    )
    slurm_bin: Annotated[Absolute | None, NeedsTrust()] = Field(
        None,
        description=(
            "With nel's Slurm executor: folder of squeue and sacct, if it is not on the PATH there."
        ),
    )
    slurm_conf: Annotated[Absolute | None, NeedsTrust()] = Field(
        None,
        description="With nel's Slurm executor: the cluster's slurm.conf, if there are several.",
    )
    settle: Duration = settle_option(timedelta(minutes=2), "; long, because nel starts slowly.")
    timeout: Duration = Field(timedelta(seconds=90), description="Timeout of one query to nel.")
    submit_timeout: Duration = Field(timedelta(minutes=10), description="Timeout of a submission.")


def config_and_overrides(argv: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What `[command] argv` means to nel: the configuration file, then its overrides.

    >>> config_and_overrides(["eval.yaml", "target.api_endpoint.model_id=tiny"])
    ('eval.yaml', ('target.api_endpoint.model_id=tiny',))
    """
    config, *overrides = argv or ("",)
    if not _CONFIG.fullmatch(config) or config.startswith("-"):
        raise WrongUse(
            "nel runs evaluations, not commands: [command] argv must be its configuration file, "
            f"such as eval.yaml, then overrides as key=value. It begins with {config!r}."
        )
    wrong = [word for word in overrides if not _OVERRIDE.fullmatch(word)]
    if wrong:
        raise WrongUse(
            f"{wrong[0]!r} in [command] argv is not an override for nel: after the file, write "
            "key=value."
        )
    ours = [word for word in overrides if word.lstrip("+~").partition("=")[0] == OUTPUT]
    if ours:
        raise WrongUse(
            f"herorun sets {OUTPUT} itself, because it finds the instance by it: remove it from "
            "[command] argv, and set [scheduler] folder."
        )
    return config, tuple(overrides)


def quote_value(value: str) -> str:
    """For Hydra's grammar.

    >>> quote_value("/out/tiny-1"), quote_value("/my out")
    ('/out/tiny-1', "'/my out'")
    """
    if _PLAIN.fullmatch(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
