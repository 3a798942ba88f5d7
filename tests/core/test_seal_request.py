"""Which kind of seal the options ask for."""

from typing import Any

import pytest

from herorun.core.errors import WrongUse
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.request import sealing_of


def test_nothing_asked_for_is_the_end_of_the_run() -> None:
    assert sealing_of().kind is SealKind.FINAL


@pytest.mark.parametrize(
    ("name", "step"),
    [("step-100000", 100000), ("400", 400), ("at.step_7", 7), ("STEP 7", None), ("v2", None)],
)
def test_a_milestone_takes_its_step_from_a_name_that_holds_one(name: str, step: int | None) -> None:
    if " " in name:
        with pytest.raises(WrongUse, match=name):
            sealing_of(name)
        return
    sealing = sealing_of(name)
    assert (sealing.kind, sealing.name, sealing.step) == (SealKind.MILESTONE, name, step)


def test_a_stated_step_wins_over_the_name() -> None:
    assert sealing_of("step-100", step=0).step == 0


def test_a_run_that_was_given_up_names_its_successor() -> None:
    assert sealing_of(as_aborted=True).kind is SealKind.ABORTED
    sealing = sealing_of(successor="tiny-b")
    assert (sealing.kind, sealing.name) == (SealKind.SUPERSEDED, "tiny-b")


@pytest.mark.parametrize(
    ("options", "term"),
    [
        ({"milestone": "half", "as_aborted": True}, "--milestone"),
        ({"as_aborted": True, "successor": "tiny-b"}, "--superseded-by"),
        ({"step": 3}, "--milestone"),
        ({"successor": "no slug"}, "no slug"),
        ({"milestone": "-x"}, "-x"),
    ],
)
def test_what_contradicts_itself_or_names_nothing_is_refused(
    options: dict[str, Any], term: str
) -> None:
    with pytest.raises(WrongUse, match=term):
        sealing_of(**options)
