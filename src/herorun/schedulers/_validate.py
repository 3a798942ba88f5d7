"""What every scheduler requires: of a submission an instance's full name and secrets that are set,
and of a missing job that the settle time has passed.
"""

import os
from datetime import datetime, timedelta
from typing import Any

from herorun.core.contract import SLUG
from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Submission, Unknown

_INSTANCE = lazy_regex(rf"{SLUG.pattern}-[0-9]+")


def must_be_instance(name: str) -> str:
    """The name; `WrongUse` if it is not an instance's, because it becomes a folder, a job's name
    and an argument.
    """
    if not _INSTANCE.fullmatch(name):
        raise WrongUse(
            f"{name!r} is not an instance name: it must be <slug>-<number>, such as tiny-1."
        )
    return name


def is_instance_of(name: str, slug: str) -> bool:
    """Without a pattern: to compile one for each run takes longer than to look at its jobs."""
    number = name.removeprefix(f"{slug}-")
    return number != name and number.isascii() and number.isdigit()


def secret_values(submission: Submission) -> dict[str, str]:
    """The secrets from this environment, by name; a missing one raises before anything starts."""
    missing = [name for name in submission.secrets if name not in os.environ]
    if missing:
        raise WrongUse(
            f"{submission.instance} needs {', '.join(missing)} in the environment: set it where "
            "herorun runs, "
            "or take it out of [command] secrets."
        )
    return {name: os.environ[name] for name in submission.secrets}


def settle_option(default: timedelta, note: str = ".") -> Any:
    """The option `settle`; `note` ends its description."""
    return Field(
        default,
        description=(
            'For so long after a launch is recorded, "no such job" does not prove that there is '
            f"none{note}"
        ),
    )


def too_early(
    instance: str, intended_at: datetime, asked_at: datetime, settle: timedelta
) -> Unknown | None:
    """The answer for a job that was missing when the scheduler was asked; None if it proves
    something.
    """
    if asked_at - intended_at > settle:
        return None
    return Unknown(f"too early to tell: {instance} was to be submitted at {intended_at:%H:%M:%S}")
