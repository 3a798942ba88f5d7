"""Secrets of a cluster that stores and shows how a job was submitted: herorun sends none, and the
cluster must have them.
"""

from typing import Any

from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import Submission

NOT_SET = 78  # EX_CONFIG of sysexits.h, as a refusal at check-in: nothing relaunches it


def vouching_option() -> Any:
    """The option `secrets`, by which a person states that the cluster has them."""
    return Field(
        None,
        description=(
            '"on-cluster" states that the secrets of `[command] secrets` are set on the cluster; '
            "otherwise a run with secrets is blocked."
        ),
    )


def must_be_vouched(submission: Submission, is_vouched: bool, cluster: str) -> None:
    """`WrongUse` for a submission with secrets that nobody vouches for."""
    if submission.secrets and not is_vouched:
        raise WrongUse(
            f"{submission.instance} needs {', '.join(submission.secrets)}, and herorun sends no "
            f'secret to {cluster}: set them there and add [scheduler] secrets = "on-cluster", or '
            "remove them from [command] secrets."
        )


def require_variable(name: str) -> str:
    """A shell command that ends the job where the variable is not set."""
    message = (
        f"herorun: {name} is not set where this job runs: set it on the cluster. Exit code "
        f"{NOT_SET}."
    )
    return f'[ -n "${{{name}-}}" ] || {{ echo "{message}" >&2; exit {NOT_SET}; }}'
