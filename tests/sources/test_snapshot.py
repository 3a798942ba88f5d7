"""When a dirty tree is snapshotted: a waiver stands, and something differs that can change the
training.
"""

from datetime import timedelta
from typing import Any

import pytest

from builders import MINUTE, NOON, a_contract
from herorun.core.contract import ContractFile
from herorun.core.evidence import (
    Checkpoints,
    Environment,
    Nothing,
    Now,
    Snapshot,
    StartSiblings,
    Unavailable,
    Waivers,
    WorkTree,
)
from herorun.core.finding import Waiver
from herorun.core.plan import Plan
from herorun.core.plan.build import Sources
from herorun.gather import gather
from herorun.sources.plan import read_plan, read_sources
from herorun.sources.snapshot import read_snapshot
from herorun.system.git import find_repository
from stories import Story

FILE = ContractFile("runs/tiny.toml", "text", "text")


def waiver(check: str = "dirty-tree", ends: timedelta = MINUTE) -> Waivers:
    return Waivers((Waiver(check, "r", "@dri", NOON + ends),))


@pytest.mark.parametrize(
    ("waivers", "is_taken"),
    [
        (waiver(), True),
        (waiver(ends=timedelta()), False),
        (waiver("unpushed-commit"), False),
        (Waivers(), False),
    ],
)
def test_only_a_waiver_that_stands_lets_it_be_taken(
    story: Story, waivers: Waivers, is_taken: bool
) -> None:
    (story.work / "train.sh").write_text("exit 0\n")
    repository = find_repository(story.work)
    tree = WorkTree(commit=str(repository.resolve("HEAD")), unstaged=("train.sh",))
    snapshot = read_snapshot(
        repository=repository,
        contract=a_contract(),
        file=FILE,
        tree=tree,
        closure=Nothing(),
        waivers=waivers,
        now=Now(NOON),
    )
    assert isinstance(snapshot, Snapshot if is_taken else Nothing)


def test_without_a_snapshot_there_is_a_plan_and_with_an_unread_one_there_is_none(
    story: Story,
) -> None:
    run = story.run

    def plan_with(snapshot: Any) -> Any:
        evidence = {**run.base_evidence(run.record.memory()), Snapshot: snapshot}
        tree = WorkTree(commit=str(run.repository.resolve("HEAD")))
        rest = {WorkTree: tree, Checkpoints: Checkpoints(), StartSiblings: StartSiblings()}
        rest |= {Environment: Environment()}
        return gather([Plan], {Sources: read_sources, Plan: read_plan}, {**evidence, **rest})[Plan]

    assert plan_with(Nothing("clean")).patch.value is None
    assert plan_with(Unavailable("git is away")) == Unavailable("git is away")
    assert "too large" in plan_with(Snapshot("", "", "", ("data",), 9)).why
