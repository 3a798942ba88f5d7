"""A share of the runs of a repository, so that several processes can monitor them together."""

import re

from herorun.core.canonical_json import sha256
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_SHARD = lazy_regex(r"([1-9]\d{0,3})/([1-9]\d{0,3})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """Every run belongs to one of `count` shards, which are numbered from 1.

    The shard depends only on the slug, so that processes on any machine agree on it, and adding or
    removing runs does not move others.

    >>> [Shard(number, 3).has("grug") for number in (1, 2, 3)], Shard().has("grug")
    ([False, True, False], True)
    """

    number: int = 1
    count: int = 1

    def has(self, slug: str) -> bool:
        digest = sha256(slug.encode()).digest()
        return int.from_bytes(digest[:8]) % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> Shard:
    """`2/5` is the second of five. Raises WrongUse for anything else."""
    match = _SHARD.fullmatch(text)
    if match and int(match[1]) <= int(match[2]):
        return Shard(int(match[1]), int(match[2]))
    raise WrongUse(f"--shard {text!r} is not K/N, such as 2/5 for the second of five shards.")
