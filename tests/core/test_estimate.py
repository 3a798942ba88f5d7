"""What a run is expected to take."""

import pytest

from builders import a_contract
from herorun.core.estimate import estimate
from herorun.core.evidence import Nothing, Offered, Unavailable
from herorun.schemas.parts import EstimateEntry
from wording import mentions

BUDGET = {
    "budget": {"accelerator_hours": 1000, "rate": 2.5},
    "hardware": {"count": 8},
    "params": 1e9,
    "tokens": 2e12,
}


def test_everything_that_is_known():
    figures = estimate(a_contract(**BUDGET), Offered(time_limit=86400))

    assert (
        figures.flops,
        figures.hero,
        figures.cost,
        figures.wall_hours,
        figures.time_limit_hours,
    ) == (
        1.2e22,
        True,
        2500,
        125,
        24,
    )
    assert figures.short_by == 101
    rows = dict(figures.rows())
    assert mentions(rows.pop("hero run"), "yes", "1.2e+22", "1e+22")
    assert rows == {
        "model FLOPs": "1.2e+22 (6 x 1e+09 parameters x 2e+12 tokens)",
        "accelerator-hours": "1000",
        "cost": "2,500.00",
        "wall time": "5d5h",
        "time limit": "1d, 4d5h too short",
    }


@pytest.mark.parametrize("offer", [Offered(), Nothing(), Unavailable("out of reach")])
def test_what_nobody_states_is_not_guessed(offer):
    figures = estimate(a_contract(), offer)

    entry = EstimateEntry.model_validate(figures).as_json()
    for reason in (entry.pop("flops_source"), entry.pop("why")):
        assert mentions(reason, "flops", "params", "tokens")
    assert entry == {
        "flops": None,
        "hero": False,
        "accelerator_hours": None,
        "cost": None,
        "wall_hours": None,
        "time_limit_hours": None,
    }
    assert [name for name, _ in figures.rows()] == ["hero run"]


@pytest.mark.parametrize(
    ("changes", "hero"),
    [
        ({"flops": 1e22}, True),
        ({"flops": 9e21}, False),
        ({"hero": True}, True),
        ({"flops": 1e23, "hero": False}, False),
        (
            {"flops": 1e21, "params": 1e12, "tokens": 1e12},
            False,
        ),
    ],
)
def test_why_it_is_a_hero_run_or_not(changes, hero, notice):
    figures = estimate(a_contract(**changes), Offered())

    assert figures.hero is hero and figures.why == notice


@pytest.mark.parametrize(("hours", "short"), [(10, 115), (124, 1), (125, None), (200, None)])
def test_how_much_of_the_limit_lacks(hours, short):
    assert estimate(a_contract(**BUDGET), Offered(time_limit=hours * 3600)).short_by == short
