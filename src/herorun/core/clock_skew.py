"""What the clocks of two machines may differ by: one rule for whatever compares their times."""

from datetime import timedelta

# More than any network delay, and less than any limit that is judged by. Beyond it the check
# `clock-skew` speaks.
SKEW = timedelta(seconds=60)
