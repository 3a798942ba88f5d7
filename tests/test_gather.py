"""What is read counts as seen or as missing; what is only given beside it does not."""

from dataclasses import dataclass

from herorun.core.evidence import Gaps, Unavailable
from herorun.gather import gather


@dataclass(frozen=True)
class Asked:
    pass


@dataclass(frozen=True)
class Beside:
    pass


def test_what_nobody_asks_for_is_no_gap() -> None:
    given = {Asked: Asked(), Beside: Unavailable("out of reach")}
    assert gather([Asked], {}, given)[Gaps].gaps == ()


def test_what_is_asked_for_and_given_as_unreadable_is_one() -> None:
    found = gather([Asked], {}, {Asked: Unavailable("out of reach")})[Gaps]
    assert (found.gaps, found.asked) == (("Asked: out of reach",), 1)
