import pytest

from builders import a_checkpoint, a_contract, a_history, a_plan, answer
from herorun.checks.launch.changed_identity import changed_identity
from herorun.core.evidence import PriorLaunch
from herorun.core.finding import Outcome
from herorun.core.redaction.scrub import scrub_tree
from wording import mentions

BEFORE = {"optimizer": {"lr": 0.001}, "pack": 8}
WANDB = {"kind": "wandb", "path": None, "entity": "ent", "project": "proj"}
OWN = (a_checkpoint(100),)


def ask(tracker, config=None, before=None, own=OWN):
    """The second launch; the first was under the small contract's tracker, or `before`."""
    contract = a_contract(tracker=tracker)
    prior = PriorLaunch(
        "tiny-1", scrub_tree(a_plan(a_contract(tracker=before or {}), config=BEFORE).values)
    )
    plan = a_plan(contract, own=own, history=a_history(), config=config or BEFORE)
    return answer(changed_identity, contract, plan, prior)


def test_a_first_launch_has_changed_nothing():
    assert answer(changed_identity).outcome is Outcome.NOT_APPLICABLE


def test_the_same_identity_passes():
    assert ask({}).outcome is Outcome.PASS


@pytest.mark.parametrize("own", [(), OWN], ids=["from scratch", "from its own"])
def test_a_new_id_under_the_same_slug_is_a_new_run_on_jsonl_too(own):
    verdict = ask({"id": "tiny-b"}, own=own)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-b")
    assert mentions(verdict.message, "but", "tiny")
    assert "herorun fork tiny NEW" in verdict.message


def test_what_differs_is_named_with_both_values():
    verdict = ask({"id": "tiny-b"}, {"optimizer": {"lr": 0.016}, "pack": 1})

    assert (
        "optimizer.lr: 0.001 -> 0.016 (trajectory), pack: 8 -> 1 (unclassified)" in verdict.message
    )
    assert len(verdict.details) == 2


@pytest.mark.parametrize(
    ("changes", "subject"),
    [({"entity": "entt"}, "entt/proj/tiny"), ({"project": "other"}, "ent/other/tiny")],
)
def test_so_is_the_same_id_in_another_place(changes, subject):
    verdict = ask({**WANDB, **changes}, before=WANDB)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, subject)
    assert mentions(verdict.message, "but", "ent/proj/tiny")


def test_another_kind_of_tracker_for_the_same_id_is_no_other_identity():
    assert ask({"kind": "tensorboard", "path": None}).outcome is Outcome.PASS
