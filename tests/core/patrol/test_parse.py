"""From a box's raw answers to what was seen: whether the job is alive."""

from typing import Any

import pytest

from herorun.core.patrol.observation import Alive, Blind
from herorun.core.patrol.parse import alive_by
from screens.notices import Notice

NOWHERE = {"why": "squeue: slurm_load_jobs error: Unable to contact slurm controller"}


def own(**seen: Any) -> dict[str, Any]:
    return {"now": 0.0, "seen": seen}


@pytest.mark.parametrize(
    ("seen", "alive", "well"),
    [
        ({"slurm": True}, Alive.YES, False),
        ({"slurm": NOWHERE}, Alive.UNKNOWN, False),
        ({"slurm": False}, Alive.NO, False),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"]]}},
            Alive.NO,
            True,
        ),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"], ["TIMEOUT", "0:15"]]}},
            Alive.NO,
            False,
        ),
        ({"slurm": {"ended": [["COMPLETED", "0:0"]]}, "session": True}, Alive.YES, False),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"]]}, "process": NOWHERE},
            Alive.UNKNOWN,
            False,
        ),
        (
            {"session": False, "process": []},
            Alive.NO,
            False,
        ),
    ],
)
def test_a_sign_of_life_counts_before_a_doubt_and_a_doubt_before_an_end(
    seen: dict[str, Any], alive: Alive, well: bool, notice: Notice
) -> None:
    answer = alive_by(None, own(**seen))
    assert (answer[0], answer[2]) == (alive, well)
    assert answer[1] == notice


def test_who_did_not_answer_is_not_gone() -> None:
    assert alive_by(None, Blind("cut")) == (Alive.UNKNOWN, "cut", False)
