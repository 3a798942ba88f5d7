import pytest

from builders import a_contract, answer
from herorun.checks.launch.short_time_limit import short_time_limit
from herorun.core.check import Response
from herorun.core.evidence import Offered
from herorun.core.finding import Outcome
from wording import mentions

BUDGET_TABLES = {"budget": {"accelerator_hours": 1000}, "hardware": {"count": 8}}


@pytest.mark.parametrize(
    ("hours", "outcome"), [(24, Outcome.FAIL), (125, Outcome.PASS), (None, Outcome.NOT_APPLICABLE)]
)
def test_the_limit_against_the_budget(hours, outcome):
    offer = Offered(time_limit=hours * 3600 if hours else None)

    assert answer(short_time_limit, a_contract(**BUDGET_TABLES), offer).outcome is outcome


def test_the_sentence_names_both():
    verdict = answer(short_time_limit, a_contract(**BUDGET_TABLES), Offered(time_limit=86400))

    assert mentions(
        verdict.message, "1000", "accelerator-hours", "8 accelerators", "5d5h", "limit", "1d"
    )


@pytest.mark.parametrize("left_out", BUDGET_TABLES)
def test_without_a_budget_there_is_nothing_to_compare(left_out):
    stated_budget = {key: value for key, value in BUDGET_TABLES.items() if key != left_out}

    assert (
        answer(short_time_limit, a_contract(**stated_budget), Offered(time_limit=1)).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_it_only_warns():
    assert short_time_limit.response is Response.WARN
