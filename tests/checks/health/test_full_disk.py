from datetime import timedelta

import pytest

from builders import NOON, ROOT, answer, answers
from herorun.checks.health.full_disk import Limits, full_disk
from herorun.core.check import Response, Topic
from herorun.core.evidence import Disk, Disks, Unavailable
from herorun.core.finding import Outcome

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
TIB = 1 << 40
DAYS, FLOOR, INODES = 0.5, 512 << 20, 1000


def disk(free, inodes=1_000_000):
    return Disk(free, 100 * TIB, inodes)


def filling(remaining, used_bytes, ago):
    return answer(
        full_disk, Disks({ROOT: disk(remaining)}, {ROOT: disk(remaining + used_bytes)}, NOON - ago)
    )


def test_a_disk_with_room_passes():
    assert answer(full_disk).outcome is Outcome.PASS
    assert answer(full_disk, Disks()).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("room", "outcome"),
    [
        (disk(FLOOR), Outcome.PASS),
        (disk(FLOOR - 1), Outcome.FAIL),
        (disk(TIB, INODES), Outcome.PASS),
        (disk(TIB, INODES - 1), Outcome.FAIL),
        (disk(TIB, None), Outcome.PASS),
    ],
)
def test_the_floors_of_bytes_and_files(room, outcome):
    verdict = answer(full_disk, Disks({ROOT: room}))

    assert verdict.outcome is outcome
    assert verdict.subject == (ROOT if outcome is Outcome.FAIL else "")


def test_days_of_headroom_at_the_pace_that_is_seen():
    # used in a day, so that what is left lasts exactly as long as the limit
    a_day = int(TIB / DAYS)

    assert filling(TIB, a_day, DAY).outcome is Outcome.PASS
    assert filling(TIB - (1 << 30), a_day, DAY).outcome is Outcome.FAIL


def test_a_pace_wants_six_hours_of_looking():
    assert filling(TIB, 10 * TIB, 6 * HOUR).outcome is Outcome.FAIL
    assert filling(TIB, 10 * TIB, 6 * HOUR - timedelta(seconds=1)).outcome is Outcome.PASS


def test_a_disk_that_empties_or_was_exchanged_has_no_pace():
    assert filling(TIB, -TIB, DAY).outcome is Outcome.PASS
    other = Disks({ROOT: disk(TIB)}, {ROOT: Disk(50 * TIB, 60 * TIB, 9)}, NOON - DAY)
    assert answer(full_disk, other).outcome is Outcome.PASS


def test_each_path_is_named():
    both = Disks({"/b": disk(1), "/a": disk(2), "/c": disk(TIB)})

    assert [v.subject for v in answers(full_disk, both)] == ["/a", "/b"]


def test_the_limits_are_the_contracts():
    assert answer(full_disk, limits=Limits(bytes=200 << 30)).outcome is Outcome.FAIL


def test_what_could_not_be_measured_is_unknown():
    assert answer(full_disk, {Disks: Unavailable("EIO")}).outcome is Outcome.UNKNOWN


def test_its_response():
    assert (full_disk.response, full_disk.topic) == (Response.ESCALATE, Topic.MONITOR)
