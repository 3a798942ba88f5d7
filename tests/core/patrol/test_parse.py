"""From a box's raw answers to what was seen: whether the job is alive."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from builders import a_job
from herorun.core.evidence import JobState
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    Count,
    DiskRoom,
    FolderCopy,
    Gpu,
    Liveness,
    MachineUnread,
    MemoryUse,
)
from herorun.core.patrol.parse import (
    alive_by,
    chain_of,
    copy_of,
    entry_of,
    gpus_of,
    memory_of,
    moment_of,
    newest_of,
    part_of,
    result_of,
    room_of,
    unreachable,
)
from herorun.core.ports import Absent, Found, Unknown
from screens.notices import Notice
from wording import mentions

NOWHERE = {"why": "ps: Permission denied"}


def own(**observations: Any) -> dict[str, Any]:
    return {"now": 0.0, "seen": observations}


@pytest.mark.parametrize(
    ("fields", "alive", "well"),
    [
        ({"session": False, "process": []}, Liveness.NO, False),
        ({"session": False, "process": NOWHERE}, Liveness.UNKNOWN, False),
        ({"session": True, "process": NOWHERE}, Liveness.YES, False),
    ],
)
def test_a_sign_of_life_counts_before_a_doubt_and_a_doubt_before_an_end(
    fields: dict[str, Any], alive: Liveness, well: bool, notice: Notice
) -> None:
    answer = alive_by(None, own(**fields))
    assert (answer[0], answer[2]) == (alive, well)
    assert answer[1] == notice


WELL, BADLY = Found(a_job(JobState.SUCCEEDED)), Found(a_job(JobState.FAILED, exit_code=3))


@pytest.mark.parametrize(
    ("found_by_id", "box", "alive", "well"),
    [
        (Found(a_job()), None, Liveness.YES, False),
        (Found(a_job()), MachineUnread("cut"), Liveness.YES, False),
        (Unknown("cut"), None, Liveness.UNKNOWN, False),
        (MachineUnread("cut"), None, Liveness.UNKNOWN, False),
        (Absent(), own(session=False), Liveness.UNKNOWN, False),
        (Unknown("forgot it", forgotten=True), None, Liveness.NO, False),
        (WELL, None, Liveness.NO, True),
        (BADLY, None, Liveness.NO, False),
        (WELL, own(session=True), Liveness.YES, False),
        (WELL, own(process=NOWHERE), Liveness.UNKNOWN, False),
        (WELL, MachineUnread("cut"), Liveness.UNKNOWN, False),
        (WELL, own(session=False), Liveness.NO, True),
        (Found(a_job(JobState.GONE)), None, Liveness.NO, False),
    ],
)
def test_a_job_that_is_named_by_its_id_is_one_sign_of_several(
    found_by_id: Any, box: Any, alive: Liveness, well: bool, notice: Notice
) -> None:
    answer = alive_by(None, box, found_by_id)
    assert (answer[0], answer[2]) == (alive, well)
    assert answer[1] == notice


def test_who_did_not_answer_is_not_gone() -> None:
    assert alive_by(None, MachineUnread("cut")) == (Liveness.UNKNOWN, "cut", False)


def test_a_job_of_our_own_is_asked_of_its_scheduler_first() -> None:
    session = own(session=True)
    ended_search = Found(a_job(JobState.FAILED, exit_code=1))
    assert alive_by(Found(a_job()), session) == (Liveness.YES, "", False)
    alive, why, well = alive_by(ended_search, session)
    assert (alive, well) == (Liveness.NO, False) and mentions(why, "tiny-1", "failed", "1")
    assert alive_by(Found(a_job(JobState.SUCCEEDED)), None)[::2] == (Liveness.NO, True)
    assert alive_by(Found(a_job(JobState.GONE)), session)[::2] == (Liveness.YES, False)
    assert alive_by(Found(a_job(JobState.GONE)), None)[::2] == (Liveness.UNKNOWN, False)


@pytest.mark.parametrize("job", [MachineUnread("cut"), Unknown("cut")])
def test_a_scheduler_that_did_not_answer_leaves_it_to_the_session(
    job: MachineUnread | Unknown,
) -> None:
    assert alive_by(job, None) == (Liveness.UNKNOWN, "cut", False)
    assert alive_by(job, own(session=True)) == (Liveness.YES, "", False)
    assert alive_by(job, own(session=False)) == (Liveness.UNKNOWN, "cut", False)
    assert alive_by(Absent(), own(session=False))[0] is Liveness.UNKNOWN
    assert alive_by(None, None) == (Liveness.UNKNOWN, "", False)


@pytest.mark.parametrize(
    ("box", "job", "why"),
    [
        (
            {"files": MachineUnread("cut. Try again."), "machine": MachineUnread("cut")},
            None,
            "cut.",
        ),
        ({"files": MachineUnread("cut")}, MachineUnread("cut"), "cut"),
        ({"files": MachineUnread("cut"), "machine": {}}, None, ""),
        ({"files": MachineUnread("cut")}, Found(a_job()), ""),
        ({"files": MachineUnread("the box could be reached, its disk hangs")}, None, ""),
        ({}, None, ""),
    ],
)
def test_a_box_is_unreachable_once_no_part_of_it_answered(
    box: dict[str, Any], job: Any, why: str
) -> None:
    assert unreachable(box, job) == why


def encode_text(text: bytes) -> str:
    return base64.b64encode(text).decode()


def test_the_answers_about_files() -> None:
    files = {"markers": {"/a": 86400.0, "/b": None, "/c": {"why": "hangs"}}}
    assert entry_of(files, "markers", "/a") == 86400.0
    assert entry_of(files, "markers", "/c") == MachineUnread("hangs")
    assert entry_of(files, "markers", "/no") is None
    assert entry_of(MachineUnread("cut"), "markers", "/a") == MachineUnread("cut")
    assert entry_of({"copies": {"/a": {"files": 1}}}, "copies", "/a") == {"files": 1}
    assert moment_of(86400.0) == moment_of(86400) == datetime(1970, 1, 2, tzinfo=UTC)
    assert (moment_of(None), moment_of(MachineUnread("x"))) == (None, MachineUnread("x"))
    assert isinstance(part_of({}, "files"), MachineUnread) and part_of({"files": 1}, "files") == 1


def test_results_rooms_and_ages() -> None:
    answer = {"text": encode_text(b"acc 0.8 \xff"), "whole": False}
    assert result_of(answer) == CommandOutput("acc 0.8 \ufffd", complete=False)
    assert (result_of(None), result_of(MachineUnread("x"))) == (None, MachineUnread("x"))
    assert room_of([1, 2, 3, 4]) == DiskRoom(free=1, size=2, inodes_free=3, inodes=4)
    assert room_of(MachineUnread("x")) == MachineUnread("x") and isinstance(
        room_of(None), MachineUnread
    )
    newest = {"/a": 70.0, "/b": 90, "/c": None, "/d": {"why": "x"}}
    assert newest_of({"now": 100.0, "newest": newest}) == 10.0
    assert newest_of({"now": 80.0, "newest": newest}) == 0.0  # its own clock went back
    assert newest_of({"now": 80.0, "newest": {"/c": None}}) is None
    assert newest_of(MachineUnread("x")) is None


def test_the_machines_figures() -> None:
    gpus = [{"index": "0", "use": [10, None, 30]}, {"index": "1", "use": [None]}]
    assert gpus_of({"gpus": gpus}) == (Gpu("0", 20.0),)
    assert gpus_of({"gpus": {"why": "hangs"}}) == MachineUnread("hangs")
    assert (gpus_of({"gpus": None}), gpus_of(None), gpus_of(MachineUnread("x"))) == (
        None,
        None,
        MachineUnread("x"),
    )
    memory = {"used": 5, "limit": 10, "share": 0.5, "oom_kill": 1}
    assert memory_of({"memory": memory}) == MemoryUse(5, 10, 0.5, 1)
    assert memory_of({"memory": {"why": "hangs"}}) == MachineUnread("hangs")
    assert (memory_of(None), memory_of(MachineUnread("x"))) == (None, MachineUnread("x"))
    counts = {"files": 2, "bytes": 9}
    assert copy_of("/a", "a", counts, None) == FolderCopy("/a", "a", Count(2, 9), None)
    assert copy_of("/a", "a", MachineUnread("x"), counts) == FolderCopy(
        "/a", "a", MachineUnread("x"), Count(2, 9)
    )


def test_a_chain_tells_its_stage_and_its_failure_without_secrets() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    chain = {
        "runs": True,
        "failed": encode_text(f"{token}\n".encode()),
        "stage": encode_text(b"eval \n"),
    }
    state = chain_of({"chain": chain})
    assert isinstance(state, ChainState)
    assert (state.runs, state.stage, token in state.failed) == (True, "eval", False)
    assert chain_of({"chain": {"runs": False, "failed": None}}) == ChainState(False, "", "")
    assert chain_of({"chain": {"why": "hangs"}}) == MachineUnread("hangs")
    assert chain_of(MachineUnread("x")) == MachineUnread("x")
