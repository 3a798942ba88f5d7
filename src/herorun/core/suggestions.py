"""What was probably meant by a mistyped name."""

from collections.abc import Iterable

SURE = 0.75  # of 1: so alike that the first letter may be the one that is wrong
LIKELY = 0.6  # with the same first letter
MIN_BEGINNING = 4  # letters by which a longer name is recognised


def did_you_mean(name: str, names: Iterable[str], most: int = 1) -> str:
    """A question that follows a sentence; empty where no name is close.

    >>> did_you_mean("slrum", ["ray", "slurm"]), did_you_mean("pbs", ["ray", "slurm"])
    (' Did you mean `slurm`?', '')
    """
    closest = closest_names(name, names, most)
    return f" Did you mean {' or '.join(f'`{each}`' for each in closest)}?" if closest else ""


def closest_names(name: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that are probably meant, the closest first.

    >>> closest_names("checkz", ["babysit", "checkpoints"]), closest_names("health", ["seal"])
    (['checkpoints'], [])
    """
    from difflib import get_close_matches

    candidates = list(names)
    initials = [each for each in candidates if each[:1] == name[:1]]
    beginning = name[: max(MIN_BEGINNING, len(name) - 1)]
    longer = [each for each in initials if each.startswith(beginning)]
    return list(
        dict.fromkeys(
            (
                *get_close_matches(name, candidates, most, SURE),
                *get_close_matches(name, initials, most, LIKELY),
                *(longer if len(name) >= MIN_BEGINNING else ()),
            )
        )
    )[:most]
