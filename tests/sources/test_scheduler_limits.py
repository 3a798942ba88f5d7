"""What a scheduler offers, where it can tell."""

from typing import Any

from builders import a_plan
from herorun.core.evidence import Nothing, Offered
from herorun.core.plan import Plan
from herorun.sources.scheduler_limits import read_offered


class Telling:
    def offers(self, plan: Plan) -> Offered:
        return Offered({"count": 8}, 3600.0)


def test_a_scheduler_that_can_tell_is_asked() -> None:
    scheduler: Any = Telling()
    assert read_offered(scheduler, a_plan()) == Offered({"count": 8}, 3600.0)


def test_one_that_cannot_is_not() -> None:
    scheduler: Any = object()
    assert isinstance(read_offered(scheduler, a_plan()), Nothing)
