import pytest

from herorun.core.babysit.shard import Shard, parse_shard
from herorun.core.errors import WrongUse

SLUGS = [f"run-{number}" for number in range(1000)]


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_each_run_is_in_one_shard_and_they_are_alike(count):
    shards = [Shard(number + 1, count) for number in range(count)]
    sizes = [sum(shard.has(slug) for slug in SLUGS) for shard in shards]

    assert all(sum(shard.has(slug) for shard in shards) == 1 for slug in SLUGS)
    assert min(sizes) > 0.8 * 1000 / count


def test_it_is_the_same_for_every_process():
    """Of SHA-256: what Python calls the hash of a text differs from process to process."""
    assert [slug for slug in SLUGS[:8] if Shard(2, 3).has(slug)] == ["run-0", "run-3", "run-4"]


def test_it_is_written_as_it_is_shown():
    assert parse_shard("2/5") == Shard(2, 5)
    assert str(Shard(2, 5)) == "2/5"


@pytest.mark.parametrize("text", ["", "2", "0/5", "6/5", "2/0", "-1/5", "a/b", "2/5/7", "1/99999"])
def test_anything_else_is_wrong_use(text):
    with pytest.raises(WrongUse):
        parse_shard(text)
