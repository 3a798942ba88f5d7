import pytest

from builders import a_contract, a_plan, answer, traits_of
from herorun.checks.launch.tracker_resume_auto import tracker_resume_auto
from herorun.core.finding import Outcome


@pytest.mark.parametrize(
    ("kind", "resume", "outcome"),
    [
        ("wandb", "allow", Outcome.PASS),
        ("wandb", "auto", Outcome.FAIL),
        ("wandb_offline", "auto", Outcome.FAIL),
        ("jsonl", "auto", Outcome.NOT_APPLICABLE),
    ],
)
def test_auto_is_reported(kind, resume, outcome):
    plan = a_plan(a_contract(tracker={"kind": kind, "resume": resume}))

    assert answer(tracker_resume_auto, plan, traits_of(kind)).outcome is outcome
