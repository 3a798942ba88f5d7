"""Every error that herorun raises for a person to fix, each with the exit code that the commands
end with.

| error | exit code | meaning |
| --- | --- | --- |
| `HerorunError` | 1 | the one that all others but `Refused` are; its text says what happened,
where, and what to do next |
| `Blocked` | 1 | a gate is blocked, or a fault was found |
| `HandedOver` | 1 | another machine monitors the run now |
| `WrongUse` | 2 | the command, the contract or the repository is not what it must be |
| `CouldNotLook` | 3 | the answer could not be read: it is neither yes nor no |
| `Refused` | 78 | `check_in`: the job is not what was admitted; a `SystemExit`, so that it ends the
job unless it is caught |

>>> from herorun.errors import Blocked, HerorunError
>>> issubclass(Blocked, HerorunError), Blocked.exit_code
(True, 1)
"""

from herorun.checkin import EXIT_REFUSED, Refused
from herorun.core.errors import Blocked, CouldNotLook, HandedOver, HerorunError, WrongUse

__all__ = [
    "EXIT_REFUSED",
    "Blocked",
    "CouldNotLook",
    "HandedOver",
    "HerorunError",
    "Refused",
    "WrongUse",
]
