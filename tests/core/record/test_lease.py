import pytest

from herorun.core.record.lease import Lease, may_take, read_lease

MINE = Lease("ada@here", "tiny", 3, 7)


def test_a_lease_survives_its_file():
    assert read_lease(MINE.bytes()) == MINE
    assert MINE.bytes().endswith(b"\n")


def test_renewing_beats_and_keeps_the_fence():
    assert MINE.renew() == Lease("ada@here", "tiny", 3, 8)


def test_handing_it_over_raises_the_fence():
    assert MINE.hand_to("eve@there") == Lease("eve@there", "tiny", 4, 0)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"null", b"[]", b"{}", b"\xff", b'{"owner":"a","slug":"b","fence":"x","beat":0}'],
)
def test_what_is_no_lease_is_nobodys(data):
    assert read_lease(data) is None


@pytest.mark.parametrize(
    ("owner", "slug", "may"),
    [("ada@here", "tiny", True), ("ada@there", "tiny", False), ("ada@here", "tiny2", False)],
)
def test_only_its_owner_may_take_it_and_only_for_its_run(owner, slug, may):
    assert may_take(MINE, owner, slug) is may
