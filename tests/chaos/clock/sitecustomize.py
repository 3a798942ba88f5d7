"""For a Python that finds this folder on its path: a clock as far from the real one as the file
`seconds` in it says.

Time that only ever runs on, which waits are measured by, and the times of files stay as they are.
"""

import datetime
import os
import time

FILE = os.path.join(os.path.dirname(__file__), "seconds")
real, real_time = datetime.datetime, time.time


def offset() -> float:
    with open(FILE) as seconds:
        return float(seconds.read())


class _Moments(type):
    def __instancecheck__(cls, each: object) -> bool:
        return isinstance(each, real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, real)


class Moved(real, metaclass=_Moments):
    """Its moments are plain ones."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return real.now(tz) + datetime.timedelta(seconds=offset())


datetime.datetime = Moved  # type: ignore[misc]  # every module must get the clock that a week sets
time.time = lambda: real_time() + offset()
