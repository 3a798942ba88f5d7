"""From a box's raw answers to what was seen: whether the job is alive."""

from typing import Any

import pytest

from herorun.core.patrol.observation import Alive, Blind
from herorun.core.patrol.parse import alive_by

NOWHERE = {"why": "squeue: slurm_load_jobs error: Unable to contact slurm controller"}


def own(**seen: Any) -> dict[str, Any]:
    return {"now": 0.0, "seen": seen}


@pytest.mark.parametrize(
    ("seen", "alive", "why", "well"),
    [
        ({"slurm": True}, Alive.YES, "", False),
        ({"slurm": NOWHERE}, Alive.UNKNOWN, NOWHERE["why"], False),
        ({"slurm": False}, Alive.NO, "there is no such job in Slurm's queue", False),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"]]}},
            Alive.NO,
            "Slurm calls it COMPLETED, exit code 0:0",
            True,
        ),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"], ["TIMEOUT", "0:15"]]}},
            Alive.NO,
            "Slurm calls it TIMEOUT, exit code 0:15, 1 of its 2 parts",
            False,
        ),
        ({"slurm": {"ended": [["COMPLETED", "0:0"]]}, "session": True}, Alive.YES, "", False),
        (
            {"slurm": {"ended": [["COMPLETED", "0:0"]]}, "process": NOWHERE},
            Alive.UNKNOWN,
            NOWHERE["why"],
            False,
        ),
        (
            {"session": False, "process": []},
            Alive.NO,
            "there is no such tmux session and no such process",
            False,
        ),
    ],
)
def test_a_sign_of_life_counts_before_a_doubt_and_a_doubt_before_an_end(
    seen: dict[str, Any], alive: Alive, why: str, well: bool
) -> None:
    assert alive_by(None, own(**seen)) == (alive, why, well)


def test_who_did_not_answer_is_not_gone() -> None:
    assert alive_by(None, Blind("cut")) == (Alive.UNKNOWN, "cut", False)
