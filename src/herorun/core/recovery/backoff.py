"""How long a relaunch waits after ends that brought no new complete checkpoint, and every action
after an attempt that failed.
"""

from datetime import datetime, timedelta

from herorun.core.recovery.classify import Ending
from herorun.core.recovery.decision import attempts
from herorun.core.recovery.policy import FailedAttempts, Ledger

FIRST_WAIT = timedelta(seconds=60)  # after the first end without a new complete checkpoint
MAX_WAIT = timedelta(minutes=30)


def wait_of(relaunches: int) -> timedelta:
    """How long to wait after so many relaunches without a new complete checkpoint; a new one resets
    it.
    """
    if relaunches < 1:
        return timedelta()
    doubled_wait: timedelta = FIRST_WAIT * 2 ** (min(relaunches, 20) - 1)
    return min(doubled_wait, MAX_WAIT)


def wait_until(
    since: datetime, ledger: Ledger, ending: Ending | None, now: datetime
) -> datetime | None:
    """When an instance that ended at `since` may be relaunched; None: now. An order by a person is
    not delayed.

    An end dated in the future (by a clock that was set back since) does not delay the relaunch.
    """
    if since > now or (ledger.answer and ledger.answer.yes):
        return None
    due = since + wait_of(attempts(ledger.endings, ending))
    return due if due > now else None


def backs_off(tries: FailedAttempts, cadence: timedelta, now: datetime) -> bool:
    """Whether it is too early to try again. A try dated in the future (by a clock that was set back
    since) does not delay.
    """
    return tries.last <= now < tries.last + back_off(tries.count, cadence)


def back_off(tries: int, cadence: timedelta) -> timedelta:
    """Doubling from one cadence, at most half an hour or one cadence."""
    doubled_wait: timedelta = cadence * 2 ** (min(tries, 20) - 1)
    return min(doubled_wait, max(timedelta(minutes=30), cadence))
