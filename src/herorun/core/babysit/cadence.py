"""When the babysitter ticks next: sooner after a start, after a relaunch and while a critical alert
is open. And how far apart the ticks of many runs push to one remote.
"""

from datetime import timedelta

FIRST_CHECK = timedelta(seconds=120)  # after a start: the seed's look for an immediate failure
# while something critical fires, and in the first hour after a relaunch
CLOSE = timedelta(seconds=570)
FIRST_HOUR = timedelta(hours=1)
LEAST = timedelta(seconds=1)
# five pushes a minute: GitHub recommends at most six to one repository
PUSH_GAP = timedelta(seconds=12)
URGENT_GAP = timedelta(seconds=2)  # of those that somebody waits for, as when many runs start
PUSH_SHARE = 5  # and never more than this part of the cadence


def next_tick_delay(
    cadence: timedelta,
    age: timedelta | None,
    has_relaunched: bool,
    pending: bool,
    firing: bool,
    wait: timedelta | None = None,
) -> timedelta:
    """The time until the next tick, never longer than the contract's cadence.

    `age` is the instance's, None before one; `pending` and `firing` tell of critical alerts that
    nobody has acknowledged; `wait` is what is left until a relaunch that backs off is due.
    """
    longest = cadence
    if pending:
        longest = min(longest, FIRST_CHECK)
    if firing or (has_relaunched and age is not None and age < FIRST_HOUR):
        longest = min(longest, CLOSE)
    if age is not None and age < FIRST_CHECK:
        longest = min(longest, FIRST_CHECK - age)
    if wait is not None:
        longest = min(longest, wait)
    return max(longest, LEAST)


def push_delay(since_last: timedelta, cadence: timedelta, urgent: bool) -> timedelta:
    """How long a tick's push waits, so that those of other runs go with it.

    `since_last` is the time since a push to that remote last began. The push of a tick that
    notified or acted is urgent, and hardly waits.
    """
    gap = URGENT_GAP if urgent else PUSH_GAP
    return max(timedelta(), min(gap, cadence / PUSH_SHARE) - since_last)
