"""`median` and `fmean` of `statistics`, imported when they are used: it brings fractions, decimals
and random numbers along.
"""

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """The middle one, or the mean of the two in the middle; a ValueError of none."""
    import statistics

    return statistics.median(values)


def fmean(values: Iterable[float]) -> float:
    """The mean; a ValueError of none."""
    import statistics

    return statistics.fmean(values)
