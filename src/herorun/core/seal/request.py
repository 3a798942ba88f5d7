"""Which kind of seal a person asks for, from the command's options. Pure."""

import re

from herorun.core.contract import SLUG
from herorun.core.errors import WrongUse
from herorun.core.evidence import Sealing
from herorun.core.lazy_regex import lazy_regex
from herorun.core.seal.kinds import SealKind

NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def sealing_of(
    milestone: str | None = None,
    step: int | None = None,
    as_aborted: bool = False,
    successor: str | None = None,
) -> Sealing:
    """`WrongUse` where two kinds are asked for at once, or a name is none.

    >>> sealing_of("step-100000").step, sealing_of("v2", step=7).step
    (100000, 7)
    """
    if sum((milestone is not None, as_aborted, successor is not None)) > 1:
        raise WrongUse("Give only one of --milestone, --aborted and --superseded-by.")
    if step is not None and milestone is None:
        raise WrongUse("--step needs --milestone: give both.")
    if milestone is not None:
        if not NAME.fullmatch(milestone):
            raise WrongUse(
                f"{milestone!r} is not a milestone name: letters, digits and . _ - (at most 64)."
            )
        return Sealing(
            SealKind.MILESTONE, milestone, step if step is not None else _step_of_name(milestone)
        )
    if as_aborted:
        return Sealing(SealKind.ABORTED)
    if successor is not None:
        if not SLUG.fullmatch(successor):
            raise WrongUse(
                f"--superseded-by {successor!r} is not a run's slug: give the name of its "
                "contract, without .toml."
            )
        return Sealing(SealKind.SUPERSEDED, successor)
    return Sealing()


def _step_of_name(name: str) -> int | None:
    """`v2` is a version: only a number alone, or after `step`, is a step."""
    match = re.fullmatch(r"(?:.*step[-_ .]?)?([0-9]+)", name, re.IGNORECASE)
    return int(match[1]) if match else None
