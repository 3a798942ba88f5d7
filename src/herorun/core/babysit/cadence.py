"""When the babysitter ticks next: sooner after a start, after a relaunch and while a critical alert
is open. And how far apart the ticks of many runs push to one remote.
"""

from datetime import timedelta

FIRST_CHECK = timedelta(seconds=120)  # after a start, to detect an immediate failure
# while something critical fires, and in the first hour after a relaunch
CLOSE = timedelta(seconds=570)
FIRST_HOUR = timedelta(hours=1)
MIN_DELAY = timedelta(seconds=1)
# five pushes a minute: GitHub recommends at most six to one repository
PUSH_GAP = timedelta(seconds=12)
URGENT_GAP = timedelta(seconds=2)  # for pushes that a person waits for
PUSH_SHARE = 5  # the gap is at most 1/5 of the cadence
PUSH_LOAD = 5  # urgent pushes take at most 1/5 of the time


def next_tick_delay(
    cadence: timedelta,
    age: timedelta | None,
    has_relaunched: bool,
    pending: bool,
    firing: bool,
    wait: timedelta | None = None,
) -> timedelta:
    """The time until the next tick, never longer than the contract's cadence.

    `age` is the instance's, None before the first; `pending` and `firing` are whether there are
    such critical alerts that nobody acknowledged; `wait` is the time until a delayed relaunch is
    due.
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
    return max(longest, MIN_DELAY)


def push_delay(
    since_last: timedelta, cadence: timedelta, urgent: bool, took: timedelta = timedelta()
) -> timedelta:
    """How long a tick's push waits, so that the pushes of several runs are combined.

    `since_last` is the time since a push to that remote last began, and `took` how long it took.
    The push of a tick that notified or acted is urgent, and hardly waits: longer only if pushes
    are slow, because many runs notify at once or the machine is busy.
    """
    gap = min(PUSH_GAP, max(URGENT_GAP, PUSH_LOAD * took)) if urgent else PUSH_GAP
    return max(timedelta(), min(gap, cadence / PUSH_SHARE) - since_last)
