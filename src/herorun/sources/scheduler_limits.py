"""The limits that the scheduler reports, if it reports any."""

from herorun.core.evidence import Nothing, Offered
from herorun.core.plan import Plan
from herorun.core.ports import Scheduler


def read_offered(scheduler: Scheduler, plan: Plan) -> Offered | Nothing:
    """The limits; Nothing if the adapter has no `offers(plan)`."""
    offers = getattr(scheduler, "offers", None)
    if offers is None:
        return Nothing("this scheduler does not report what it would give")
    answer: Offered = offers(plan)
    return answer
