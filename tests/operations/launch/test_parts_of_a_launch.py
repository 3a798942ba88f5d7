"""Parts of a launch on a run in memory: what is journalled, stored, commented and proposed."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, ROOT, a_contract, a_plan
from core.story import launch_events
from herorun.core.evidence import Checkpoints
from herorun.core.plan import Patch
from herorun.operations.launch import (
    admission,
    announce,
    intent,
    rollback_target,
    snapshot,
    start_babysitter,
)
from herorun.operations.launch.order import LaunchOrder
from herorun.operations.launch.propose import Proposer
from operations.in_memory import ToldRun


@pytest.mark.parametrize(("step", "continues"), [(30, True), (41, False), (None, False)])
def test_an_interrupted_rollback_continues_only_to_the_same_step(
    step: int | None, continues: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up: list[Any] = []
    monkeypatch.setattr(intent, "give_up", lambda run, launching, why: given_up.append(launching))
    back = SimpleNamespace(step=30)
    waiting = SimpleNamespace(plan_digest="sha256:p1a4", given_up=back, adopts=None)
    order: Any = SimpleNamespace(
        plan=SimpleNamespace(digest="sha256:p1a4"),
        given_up=None if step is None else SimpleNamespace(step=step),
        adopts=None,
    )
    memory = SimpleNamespace(unsettled=waiting)
    run: Any = SimpleNamespace(record=SimpleNamespace(memory=lambda: memory))
    assert intent._waiting(run, order) is (waiting if continues else None)
    assert given_up == ([] if continues else [waiting])


def test_a_fork_is_proposed_from_the_run_to_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run: Any = SimpleNamespace(slug="tiny")
    monkeypatch.setattr(Proposer, "_steps", lambda self, before: [41, 30])
    monkeypatch.setattr(Proposer, "_new_slug", lambda self: "tiny-fork")
    proposal = Proposer(run, SimpleNamespace())._fork(None)
    assert proposal is not None
    assert proposal.command.split()[1:6] == ["fork", "tiny", "tiny-fork", "--from", "41"]


def test_a_checkpoint_older_than_the_run_is_named_as_such() -> None:
    layout = SimpleNamespace(final=lambda root, step: f"{root}/step-{step}")
    run: Any = SimpleNamespace(contract=a_contract(), layout=layout)
    path = f"{run.contract.output.root}/step-30"
    history = SimpleNamespace(foreign=(path,), given_up=())
    memory: Any = SimpleNamespace(history=history)
    none = Checkpoints(())
    assert path in rollback_target._absent(run, none, memory, 30)
    assert path not in rollback_target._absent(run, none, memory, 31)


def test_approved_edits_are_kept_under_the_ref_of_their_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: Any = ToldRun([])
    patch = Patch("c0", "sha256:d1ff", "7ee")
    plan: Any = SimpleNamespace(patch=SimpleNamespace(value=patch))
    refs: list[Any] = []
    run.repository = SimpleNamespace(resolve=lambda ref: None, remotes=lambda: {})
    monkeypatch.setattr(snapshot, "move_ref", lambda repository, *move: refs.append(move))
    monkeypatch.setattr(snapshot, "must_be", lambda patch, commit, where: None)
    launching: Any = SimpleNamespace(instance="tiny-2")
    snapshot.keep_snapshot(run, plan, launching)
    ref = snapshot.snapshot_ref("tiny", patch.tree)
    assert refs == [(ref, patch.commit, None)]
    (event,) = run.record.new
    assert (event.key, event.result) == ("snapshot/tiny-2", ref)
    snapshot.keep_snapshot(run, plan, launching)
    assert len(refs) == len(run.record.new) == 1


@pytest.mark.parametrize("policy", ["", "warn: 2 checks"])
def test_a_lenient_policy_is_in_the_comment_of_a_launch(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce, "record_link", lambda run: "a link")
    launching = launch_events(2, NOON)[0]
    run: Any = ToldRun([])
    order = LaunchOrder(plan=a_plan(), why="why", babysitter="ada@laptop", policy=policy)
    rows = announce.launch_comment(run, order, launching)
    assert ("2 checks" in rows, "tiny-2" in rows) == (bool(policy), True)


def test_the_config_files_of_a_job_are_admitted_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest_calls: list[Any] = []

    def file_digests(code: str, names: Any) -> dict[str, str]:
        digest_calls.append(list(names))
        return {}

    plan = a_plan(a_contract(command={"cwd": "lab"}))
    run: Any = ToldRun([])
    run.contract = a_contract(config={"files": ["config.toml"]})
    run.repository, run.tracker, run.state = None, SimpleNamespace(), tmp_path
    run.file, run.record.anchor = SimpleNamespace(path="runs/tiny.toml"), "a0"
    submission: Any = SimpleNamespace(instance="tiny-2", argv=("python", "train.py"))
    monkeypatch.setattr(admission, "all_files", lambda repository, commit: [])
    monkeypatch.setattr(admission, "file_digests", file_digests)
    monkeypatch.setattr(admission, "training_files", lambda *_: [])
    monkeypatch.setattr(admission, "_admitted_environment", lambda *_: {})
    path = admission.write_admission(run, plan, submission, "/code")
    assert digest_calls[0] == ["lab/config.toml"]
    document = json.loads(path.read_text())
    assert (document["instance"], document["output_root"]) == ("tiny-2", ROOT)


def test_a_babysitter_is_named_once_its_own_heart_beats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = ToldRun([])
    run.state, run.file = tmp_path, SimpleNamespace(path="runs/tiny.toml")
    run.repository, run.lock = SimpleNamespace(top=tmp_path), lambda name: tmp_path / name
    process = SimpleNamespace(pid=4711, poll=lambda: None)
    beats = iter([None, NOON - timedelta(seconds=1), NOON])
    monkeypatch.setattr(start_babysitter, "now", lambda: NOON)
    monkeypatch.setattr(start_babysitter, "session_of_launch", lambda top: None)
    monkeypatch.setattr(start_babysitter, "owner_variables", lambda session: {})
    monkeypatch.setattr(start_babysitter.subprocess, "Popen", lambda *_, **__: process)
    monkeypatch.setattr(
        start_babysitter, "last_heartbeat", lambda of: next(beats) if of is run else None
    )
    monkeypatch.setattr(start_babysitter, "HEARTBEAT_WAIT", 2.0)
    assert "4711" in start_babysitter.start_babysitter(run)
    assert list(beats) == []
