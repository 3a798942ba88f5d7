"""How far the clocks of two machines may differ: one rule for every comparison of their times."""

from datetime import timedelta

# More than any network delay, and less than any limit that is judged by. Beyond it the check
# `clock-skew` speaks.
SKEW = timedelta(seconds=60)
