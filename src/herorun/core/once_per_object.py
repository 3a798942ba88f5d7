"""A function that is called once for each object."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import ref

S = TypeVar("S")
R = TypeVar("R")


def once_per_object(compute: Callable[[S], R]) -> Callable[[S], R]:
    """The function, called once for each object; neither the object nor the result may change.

    The runs of a fleet are opened again for each tick, from the same contracts and launches. To
    compare or hash these takes longer than most of what is computed from them.
    """
    results: dict[int, tuple[ref[S], R]] = {}

    @wraps(compute)
    def result_for(subject: S) -> R:
        key = id(subject)
        entry = results.get(key)
        if entry is not None and entry[0]() is subject:
            return entry[1]
        result = compute(subject)

        def forget(reference: ref[S]) -> None:
            own_entry = results.get(key)
            if own_entry and own_entry[0] is reference:  # and not a new object with its id
                del results[key]

        results[key] = ref(subject, forget), result
        return result

    return result_for
