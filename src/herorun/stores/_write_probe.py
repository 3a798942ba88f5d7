"""The write probe of a root: step by step, each failure under its step's name, and nothing left
behind.
"""

import contextlib
from collections.abc import Callable

from herorun.stores._fsspec import WriteRefused

OWN = "_herorun"  # what herorun itself writes into a root


def try_step(word: str, root: str, act: Callable[[], object]) -> None:
    """A plain OSError names the step: whatever failed, it must not be read as "not there" or "there
    already".
    """
    try:
        act()
    except (OSError, WriteRefused) as error:
        why = getattr(error, "strerror", None) or error
        raise OSError(f"cannot {word} under {root}/{OWN}: {why}") from error


def demand(fact: bool, why: str) -> None:
    if not fact:
        raise OSError(why)


def clean(*acts: Callable[[], object]) -> None:
    """Remove what a failed probe left, if the store permits it."""
    for act in acts:
        with contextlib.suppress(OSError):
            act()
