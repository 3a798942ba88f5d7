"""The clocks: the only place that reads them."""

import contextlib
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple


class Uptime(NamedTuple):
    """How long this machine has run, which does not change when its clock is set."""

    boot: str  # differs after each start of the machine, and in another time namespace
    seconds: float  # since the start, including suspension

    @property
    def note(self) -> dict[str, Any]:
        """What `written_at` reads in a note that is written now."""
        return {"boot": self.boot, "uptime": self.seconds}

    def written_at(self, note: Mapping[str, Any], at: datetime) -> datetime | None:
        """When a note with our `boot` and `uptime` was written, by a clock that shows `at` now;
        None if the note is not of this start of the machine.
        """
        if note.get("boot") != self.boot or "uptime" not in note:
            return None
        age = self.seconds - note["uptime"]
        return at - timedelta(seconds=age) if age >= 0 else None


def now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def uptime() -> Uptime | None:
    """The uptime; None if the system does not report it, as outside Linux."""
    try:
        return Uptime(_boot(), time.clock_gettime(time.CLOCK_BOOTTIME))
    except (OSError, AttributeError):
        return None


@cache
def _boot() -> str:
    """Identifies this start of the machine: a process lives in one, and a fleet asks for each run
    several times. OSError where the system does not say.
    """
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    with contextlib.suppress(OSError):  # a kernel before 5.6 has no time namespaces
        boot += " " + os.readlink("/proc/self/ns/time")
    return boot
