"""One story of a seal, the same wherever the job runs and wherever its rows lie, told by the real
commands.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from herorun.core.ports import Found
from stories import SLUG, TAG, Story, eventually

CAPTURE = pytest.CaptureFixture[str]
PATIENCE = 120.0  # seconds: a real cluster takes its time


@dataclass(frozen=True)
class World:
    """A run that is begun. `go` lets its job come to its end; `blocks` are the checks that hold the
    seal back until then.
    """

    story: Story
    go: Callable[[], object]
    blocks: frozenset[str]
    has_begun: Callable[[], object]  # true once what is to block is there
    root: str


def seal_json(story: Story, capsys: CAPTURE, code: int) -> tuple[dict[str, Any], set[str]]:
    """What `herorun seal` tells, and the checks that are open."""
    capsys.readouterr()
    actual = story.herorun("seal", SLUG, "--json")
    out, err = capsys.readouterr()
    assert actual == code, (actual, out, err)
    document: dict[str, Any] = json.loads(out)
    return document, {
        f["check"] for f in document["findings"] if f["outcome"] in ("fail", "unknown")
    }


def has_ended(story: Story, instance: str = "tiny-1") -> bool:
    run = story.run
    answer = run.scheduler.find(instance, run.record.memory().launchings[instance].at)
    return isinstance(answer, Found) and answer.job.state.is_final and not answer.job.running_tasks


def is_sealed_after_its_end(world: World, capsys: CAPTURE) -> dict[str, Any]:
    """Launched; held back, with nothing tagged; ended; told; sealed; proven by a fresh clone. The
    statement's own facts.
    """
    story = world.story
    assert story.init() == 0
    assert story.launch() == 0, capsys.readouterr()
    eventually(world.has_begun, PATIENCE)

    document, blocking_checks = seal_json(story, capsys, 1)
    assert (document["verdict"], document["tag"], story.tags()) == ("blocked", None, [])
    assert world.blocks <= blocking_checks, blocking_checks

    world.go()
    eventually(lambda: has_ended(story), PATIENCE)
    assert [story.tick(), story.tick()] == [0, 0], capsys.readouterr()
    document, _ = seal_json(story, capsys, 0)
    assert (document["verdict"], document["tag"]) == ("clear", TAG)
    assert story.herorun("seal", SLUG) == 0
    assert story.tags() == story.tags(story.origin)

    elsewhere = story.clone("elsewhere")
    capsys.readouterr()
    assert elsewhere.herorun("verify-seal", TAG, "--json") == 0, capsys.readouterr()
    proof = json.loads(capsys.readouterr().out)
    assert (proof["verdict"], proof["faults"], proof["unproven"]) == ("clear", [], [])
    assert story.herorun("logbook", "verify", SLUG) == 0

    facts = story.statement_facts
    assert facts["final_checkpoint"] == f"{world.root}/step-4"
    assert (facts["reached_step"], facts["final_step"], facts["manifest"]["files"]) == (4, 4, 2)
    assert facts["final_metrics"]["train/loss"] == 2.5
    return facts
