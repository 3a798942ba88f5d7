"""Whether an instance is what its launch intended, and the step that it starts from."""

from dataclasses import replace
from typing import Any

import pytest

from builders import COMMIT, NOON, ROOT, an_instance
from herorun.core.event import Launching
from herorun.core.journal.launch_intents import launcher_of, matches_intent, start_step

LAUNCH_INTENT = Launching(
    at=NOON,
    instance="tiny-1",
    number=1,
    plan={"output_root": {"value": ROOT}, "commit": {"value": COMMIT}},
    plan_digest="sha256:p1a4",
    why="first launch",
    contract_file="runs/tiny.toml",
    by="dri@here",
    where="dri@here:/state",
)


def test_what_was_launched_as_intended_matches() -> None:
    assert matches_intent(an_instance(), LAUNCH_INTENT)


@pytest.mark.parametrize(
    "change", [{"plan_digest": "sha256:other"}, {"output_root": "/other"}, {"commit": "0" * 40}]
)
def test_another_plan_root_or_commit_does_not(change: dict[str, Any]) -> None:
    assert not matches_intent(an_instance(**change), LAUNCH_INTENT)


def test_without_an_intent_nothing_matches() -> None:
    assert not matches_intent(an_instance(), None)


@pytest.mark.parametrize(
    ("start", "step"),
    [
        (None, 0),
        ({"path": "/c", "step": 7, "kind": "full-state"}, 7),
        ({"path": "/c", "step": 7, "kind": "weights-only"}, 0),
        ({"path": "/c", "step": None, "kind": "full-state"}, None),
    ],
)
def test_the_start_step_is_unknown_only_where_a_state_tells_none(
    start: dict[str, Any] | None, step: int | None
) -> None:
    launching = replace(LAUNCH_INTENT, plan={"start": {"value": start}})
    assert start_step(launching) == step


@pytest.mark.parametrize(
    "by", ["", "@victim", "@org/team (on call)", "eve@there\n\n@victim", "ana"]
)
def test_a_record_names_nobody_by_a_handle(by: str) -> None:
    assert launcher_of(LAUNCH_INTENT) == "dri@here"
    assert launcher_of(replace(LAUNCH_INTENT, by=by)) == launcher_of(None) == ""
