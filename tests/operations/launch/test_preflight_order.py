"""What a preflight reads while it waits for the remote."""

from threading import Event
from typing import Any

import pytest

from herorun.core.evidence import WorkTree
from herorun.operations.launch import preflight
from herorun.runs import open_run
from herorun.sources import work_tree
from stories import SLUG, Story


def test_the_work_tree_is_read_while_the_remote_has_not_answered(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert story.init() == 0
    start, read, ask = Event(), work_tree.read_status, preflight.query_tips

    def begin(*args: Any) -> Any:
        start.set()
        return read(*args)

    def answer_late(*args: Any) -> Any:
        assert start.wait(30)
        return ask(*args)

    monkeypatch.setattr(work_tree, "read_status", begin)
    monkeypatch.setattr(preflight, "query_tips", answer_late)
    outcome = preflight.preflight(open_run(SLUG, story.work))
    assert outcome.plan is not None
    assert outcome.report.evidence[WorkTree].commit == outcome.plan.commit.value
