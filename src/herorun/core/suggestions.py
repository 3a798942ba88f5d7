"""What was probably meant by a mistyped name."""

from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question that follows a sentence; empty where no name is close.

    >>> did_you_mean("slrum", ["ray", "slurm"]), did_you_mean("pbs", ["ray", "slurm"])
    (' Did you mean `slurm`?', '')
    """
    from difflib import get_close_matches

    closest = get_close_matches(name, list(names), 1)
    return f" Did you mean `{closest[0]}`?" if closest else ""
