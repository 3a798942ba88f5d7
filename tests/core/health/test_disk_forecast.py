"""How long a disk still lasts, and when it is full."""

from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.evidence import Disk, Disks
from herorun.core.health.disk_forecast import (
    FULL,
    Headroom,
    format_room,
    headroom,
    is_full,
    shortage,
)

GIB = 1 << 30
MIN_HEADROOM = Headroom(days=2.0, bytes=10 * GIB, inodes=1000)
HOURS_12 = timedelta(hours=12)


def short(now, before=None, before_at=None):
    disks = Disks({"/data": now}, {"/data": before} if before else {}, before_at)
    return shortage(disks, "/data", NOON, MIN_HEADROOM)


@pytest.mark.parametrize(
    ("disk", "full"),
    [
        (Disk(FULL, 1 << 40), False),
        (Disk(FULL - 1, 1 << 40), True),
        (Disk(FULL - 1, 1 << 40, 5), True),
        (Disk(100 * GIB, 1 << 40, 0), True),
        (Disk(100 * GIB, 1 << 40, 1), False),
        (Disk(100 * GIB, 1 << 40, None), False),
        (Disk(0, 0), True),
    ],
)
def test_a_disk_without_its_reserve_or_without_inodes_is_full(disk, full):
    assert is_full(disk) is full


@pytest.mark.parametrize(
    ("free", "text"),
    [(GIB, "1.0 GiB"), (GIB - 1, "1024 MiB"), (5 << 20, "5 MiB"), (3 * GIB // 2, "1.5 GiB")],
)
def test_a_size_is_reported_in_gib_from_one_on(free, text):
    assert format_room(Disk(free, 1 << 40)).startswith(f"{text} of ")


def test_the_floors_hold_before_a_pace_is_known():
    assert short(Disk(10 * GIB, 100 * GIB, 1000)) == ""
    assert short(Disk(10 * GIB - 1, 100 * GIB, 1000)) != ""
    assert "999" in short(Disk(10 * GIB, 100 * GIB, 999))


def test_a_disk_that_fills_within_the_days_is_short():
    """60 GiB in half a day: 90 GiB are left, which last 0.75 days."""
    before, now = Disk(150 * GIB, 200 * GIB), Disk(90 * GIB, 200 * GIB)

    assert headroom(now, before, HOURS_12, MIN_HEADROOM.pace) == pytest.approx(0.75)
    assert "0.8 days" in short(now, before, NOON - HOURS_12)


@pytest.mark.parametrize(
    ("before", "span"),
    [
        (None, HOURS_12),
        (Disk(150 * GIB, 200 * GIB), None),
        (Disk(150 * GIB, 200 * GIB), MIN_HEADROOM.pace - timedelta(seconds=1)),
        (Disk(150 * GIB, 300 * GIB), HOURS_12),
        (Disk(90 * GIB, 200 * GIB), HOURS_12),
        (Disk(80 * GIB, 200 * GIB), HOURS_12),
    ],
)
def test_no_pace_can_be_reported(before, span):
    """Of one measurement, a short span, another disk, or one that does not fill."""
    assert headroom(Disk(90 * GIB, 200 * GIB), before, span, MIN_HEADROOM.pace) is None
