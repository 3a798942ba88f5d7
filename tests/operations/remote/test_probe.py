"""What a patrol asks a machine, and what it makes of the answers, without a machine."""

import base64
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract, a_job
from core.patrol.test_table import a_look
from herorun.core.babysit.tick import MonitorHealth
from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import JobState
from herorun.core.health.run_health import RunHealth
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    Count,
    DiskRoom,
    FolderCopy,
    Gpu,
    Liveness,
    LogEnd,
    MachineUnread,
    MemoryUse,
)
from herorun.core.ports import Absent, Found, Place, Unknown
from herorun.operations.remote import probe
from herorun.system import _host_files

HEARTBEAT = timedelta(minutes=1)
CHAIN = {"folder": "/c", "stage": [{"name": "eval", "run": "true"}]}


def a_run(contract: Contract, current: Any = None, **traits: Any) -> Any:
    instances = [SimpleNamespace(started=NOON), current] if current else []
    memory = SimpleNamespace(current=current, instances=instances, last_decided=None, sealed=None)
    scheduler = SimpleNamespace(
        leaves_files=True,
        on_the_machine=True,
        find=lambda name, since: ("find", name, since),
        tail=lambda name, lines: ("tail", name, lines),
        **traits,
    )
    return SimpleNamespace(
        slug="tiny",
        contract=contract,
        record=SimpleNamespace(memory=lambda: memory),
        scheduler=scheduler,
        place=Place("tiny", "/nowhere", "/d", "/work"),
    )


def launched_instance() -> Any:
    return SimpleNamespace(name="tiny-1", since=NOON - HEARTBEAT)


class Box:
    """It answers with what it was asked."""

    transport = SimpleNamespace(where="box1")

    def ask(self, program: object, part: str, seconds: float, **arguments: Any) -> Any:
        return part, seconds, arguments


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "remote_to", lambda reach: Box())
    monkeypatch.setattr(probe._host_files, "count_files", lambda folder: ("counted", folder))


def probe_answers(run: Any, condition: str = "") -> dict[str, Any]:
    questions = probe._questions(run, probe.HERE, run.record.memory().current, condition)
    return {part: ask() for part, ask in questions.items()}


PATROL = {
    "session": "train",
    "process": "train.py",
    "log": "/d/log",
    "success_pattern": "All done",
    "markers": ["/d/DONE"],
    "results": ["/d/r.csv"],
    "disks": ["/scratch"],
    "copies": {"/d/set": "set"},
    "gpu_sample_seconds": 3,
}


def test_a_job_of_others_is_asked_for_by_all_that_the_contract_names(box: None) -> None:
    contract = a_contract(patrol=PATROL, chain=CHAIN, output={"root": "/d", "temporary_root": None})
    answers = probe_answers(a_run(contract), condition="/d/AWAITED")
    alive = {
        "session": "train",
        "socket": contract.patrol.socket,
        "process": "train.py",
    }
    files = {
        "markers": ["/d/DONE", "/c/eval.DONE", "/d/AWAITED"],
        "results": ["/d/r.csv"],
        "disks": ["/d", "/scratch"],
        "roots": ["/d"],
        "chain": "/c",
    }
    machine = {"gpu_seconds": 3.0, "process": "train.py", "instance": ""}
    assert answers == {
        "alive": ("alive", 20.0, alive),
        "files": ("files", 20.0, files),
        "count_copies": ("count_copies", 20.0, {"copies": ["/d/set"]}),
        "machine": ("machine", 20.0, machine),
        "matched_lines": ("matched_lines", 20.0, {"log": "/d/log", "pattern": "All done"}),
        "copy /d/set": ("counted", "/work/set"),
    }


def test_a_job_of_our_own_is_asked_of_its_scheduler(box: None) -> None:
    contract = a_contract(
        patrol={"copies": {"/d/set": "set"}},
        output={"root": "s3://bucket/tiny", "temporary_root": None},
    )
    run = a_run(contract, launched_instance())
    answers = probe_answers(run)
    assert answers["job"] == ("find", "tiny-1", NOON - HEARTBEAT)
    assert answers["tail"] == ("tail", "tiny-1", 400)
    files = {"markers": [], "results": [], "disks": [], "roots": [], "chain": ""}
    assert answers["files"] == ("files", 20.0, files)
    run.scheduler.leaves_files = run.scheduler.on_the_machine = False
    assert list(probe_answers(run)) == ["job", "tail", "copy /d/set"]


def test_nothing_to_look_at_is_wrong_use_unless_a_marker_is_awaited(box: None) -> None:
    run = a_run(a_contract())
    with pytest.raises(WrongUse, match="tiny"):
        probe_answers(run)
    assert "files" in probe_answers(run, condition="/d/DONE")
    for fields in ({"session": "s"}, {"process": "p"}):
        assert "alive" in probe_answers(a_run(a_contract(patrol=fields)))


def test_a_job_is_asked_of_its_scheduler_by_its_id(
    box: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "squeue").write_text("#!/bin/sh\necho squeue: error: nobody is there >&2; exit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    old = probe_answers(a_run(a_contract(patrol={"slurm_job": "42"})))["named"]
    job_question = probe_answers(a_run(a_contract(patrol={"job": "42", "job_scheduler": "slurm"})))[
        "named"
    ]
    assert (
        isinstance(job_question, Unknown)
        and "nobody is there" in job_question.why
        and job_question == old
    )
    process = probe_answers(a_run(a_contract(patrol={"job": "4194000"})))["named"]  # of `local`
    assert process == Absent()
    with pytest.raises(WrongUse, match=r"\[patrol\] job: '42; rm'"):
        probe_answers(a_run(a_contract(patrol={"slurm_job": "42; rm"})))


def test_a_run_that_was_relaunched_meanwhile_is_probed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the end of tiny-1 would be judged by the evidence of tiny-2."""
    run, judged_instances = a_run(a_contract(), launched_instance()), []
    memory = run.record.memory()
    relaunched_memory = SimpleNamespace(
        **{**vars(memory), "current": SimpleNamespace(name="tiny-2", since=NOON)}
    )

    def together(questions: Any, seconds: float) -> dict[str, Any]:
        run.record.memory = lambda: relaunched_memory
        return {"job": questions["job"]()}

    def parse(run: Any, reach: Any, name: str, answers: Any, condition: str) -> Any:
        assert answers["job"][1] == name
        return a_look(name=name, alive=Liveness.NO, succeeded=True, launched_at=NOON)

    def judge(run: Any, memory: Any) -> Any:
        judged_instances.append(memory.current.name)
        return SimpleNamespace(alerts={}, monitor=MonitorHealth.FRESH, run=RunHealth.DOWN), {}

    monkeypatch.setattr(probe, "_together", together)
    monkeypatch.setattr(probe, "_parse_probe", parse)
    monkeypatch.setattr(probe, "evaluate", judge)
    assert probe.probe_host(run).name == "tiny-2" and judged_instances == ["tiny-1", "tiny-2"]


def test_each_question_fails_alone() -> None:
    def missing() -> None:
        raise FileNotFoundError

    def refuses() -> None:
        raise CouldNotLook("no route")

    questions = {"a": lambda: 7, "b": missing, "c": refuses, "d": lambda: 1 / 0}
    answers = probe._together(questions, 5.0)
    assert (answers["a"], answers["b"], answers["c"]) == (7, None, MachineUnread("no route"))
    assert isinstance(answers["d"], MachineUnread)


def test_what_hangs_is_left_behind() -> None:
    from threading import Event

    release = Event()
    answers = probe._together({"a": release.wait, "b": lambda: 7}, 0.05)
    release.set()
    assert isinstance(answers["a"], MachineUnread) and answers["b"] == 7


def encode_text(text: bytes) -> str:
    return base64.b64encode(text).decode()


MACHINE = {
    "gpus": [{"index": "0", "use": [40, 60]}],
    "memory": {"used": 1, "limit": 4, "share": 0.25, "oom_kill": 0},
    "load": 3.0,
    "cpus": 8,
    "cores": 2.5,
    "allowed": 4.0,
}


def parse_answers(contract: Contract, answers: dict[str, Any], current: Any = None) -> Any:
    run = a_run(contract, current)
    return probe._parse_probe(run, probe.HERE, "tiny-1", answers, "/d/AWAITED")


def test_every_answer_has_its_place(box: None) -> None:
    contract = a_contract(patrol=PATROL, chain=CHAIN, output={"root": "/d", "temporary_root": None})
    files = {
        "now": 100.0,
        "newest": {"/d": 70.0},
        "markers": {"/d/DONE": 0.0, "/c/eval.DONE": None, "/d/AWAITED": 60.0},
        "results": {"/d/r.csv": {"text": encode_text(b"acc"), "whole": True}},
        "disks": {"/d": [1, 2, 3, 4], "/scratch": {"why": "hangs"}},
        "chain": {"runs": True, "failed": None, "stage": encode_text(b"eval")},
    }
    copied_folders = {"copies": {"/d/set": {"files": 1, "bytes": 2}}}
    tail = {"tail": encode_text(b"step 5\n"), "size": 7, "done": True, "now": 9.0, "changed": 4.0}
    answers = {
        "job": Found(a_job(JobState.SUCCEEDED)),
        "files": files,
        "count_copies": copied_folders,
        "machine": MACHINE,
        "matched_lines": tail,
        "copy /d/set": {"files": 3, "bytes": 4},
    }
    look = parse_answers(contract, answers, launched_instance())
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert (look.name, look.where, look.launched_at) == ("tiny-1", "box1", NOON)
    assert (look.alive, look.succeeded, look.has_success_pattern) == (Liveness.NO, True, True)
    assert look.markers == {"/d/DONE": epoch, "/c/eval.DONE": None}
    assert look.awaited_marker == epoch + timedelta(minutes=1)
    assert look.results == {"/d/r.csv": CommandOutput("acc")}
    assert look.copies == (FolderCopy("/d/set", "/work/set", Count(1, 2), Count(3, 4)),)
    assert look.disks == {"/d": DiskRoom(1, 2, 3, 4), "/scratch": MachineUnread("hangs")}
    assert look.chain == ChainState(True, "", "eval", waits=False)
    assert look.log == LogEnd(line="step 5", step=5, done=True, size=7, age=5.0)
    assert (look.output_age, look.gpus) == (30.0, (Gpu("0", 50.0),))
    assert look.memory == MemoryUse(1, 4, 0.25, 0)
    assert (look.load, look.cpus, look.cores_used, look.cores_allowed) == (3.0, 8, 2.5, 4.0)
    assert look.unreachable == "" and "tiny-1" in look.why


def test_a_box_that_answered_nothing_is_unreachable_and_has_no_figures(box: None) -> None:
    blind = MachineUnread("the link is cut")
    look = parse_answers(
        a_contract(patrol={"session": "s", "gpu_sample_seconds": 0}),
        {"alive": blind, "files": blind, "machine": blind},
    )
    assert (look.alive, look.unreachable) == (Liveness.UNKNOWN, blind.why)
    assert (look.load, look.cpus, look.chain, look.gpus, look.log) == (None,) * 5
    assert (look.memory, look.launched_at) == (blind, None)


def test_what_lives_has_no_reason(box: None) -> None:
    look = parse_answers(
        a_contract(), {"job": Found(a_job()), "files": MachineUnread("x")}, launched_instance()
    )
    assert (look.alive, look.why) == (Liveness.YES, "")


@pytest.mark.parametrize(
    ("pattern", "is_done"), [(None, None), ("All done", False), (r"step \d", True)]
)
def test_the_schedulers_own_tail_is_searched_here(
    pattern: str | None, is_done: bool | None
) -> None:
    run = a_run(a_contract(patrol={"success_pattern": pattern}))
    assert probe._read_log_by_end(run, {"tail": "step 5\n"}) == LogEnd(
        line="step 5", step=5, done=is_done
    )
    assert probe._read_log_by_end(run, {"tail": MachineUnread("x")}) == MachineUnread("x")
    assert probe._read_log_by_end(run, {}) is None


def test_a_first_line_cut_in_two_is_left_out_of_a_longer_log() -> None:
    cut = {
        "tail": encode_text(b"step 5\nx\n"),
        "size": 90,
        "done": None,
        "now": 4.0,
        "changed": 9.0,
    }
    log = probe._read_log_by_end(a_run(a_contract()), {"matched_lines": cut})
    assert log == LogEnd(line="", step=None, size=90, age=0.0)


def test_what_herorun_writes_into_a_root_is_no_sign_of_the_job(tmp_path: Path) -> None:
    """A babysitter renews its lease there at each tick, also while the job hangs."""
    (tmp_path / "metrics.jsonl").touch()
    (tmp_path / "_herorun").mkdir()
    for path, at in ((tmp_path / "metrics.jsonl", 50), (tmp_path, 40)):
        os.utime(path, (at, at))
    assert _host_files.newest_change(str(tmp_path)) == 50
    assert _host_files.newest_change(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("monitor", "health"),
    [(MonitorHealth.FRESH, RunHealth.FINISHED), (MonitorHealth.PARTIAL, RunHealth.UNKNOWN)],
)
def test_a_run_is_finished_only_if_all_evidence_was_read(
    monitor: MonitorHealth, health: RunHealth
) -> None:
    result: Any = SimpleNamespace(run=RunHealth.FINISHED, monitor=monitor, alerts={})
    assert probe._by_tick(a_look(), result).health is health
