"""Each part of `herorun doctor` on a run in memory: whose fault it is, and what is unknown."""

import shutil
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_contract
from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.remote import watchdog as watching
from herorun.core.remote.watchdog import WatchState
from herorun.operations.doctor import backends, doctor
from herorun.operations.report import babysitter_state
from herorun.store_router import RoutedStore

Usage = namedtuple("Usage", "total used free")
SIGNATURE = """
[[signature]]
id = "own-row"
class = "bad-accelerator"
role = "root"
keywords = ["our device"]
pattern = "our device is gone"
advice = "Replace it."
source = "our driver"
"""


class Accounts(RoutedStore):
    """A store that names the account of each root."""

    def __init__(self) -> None:
        pass

    def examine(self, root: str) -> tuple[DoctorPart, ...]:
        return (DoctorPart("login", root, Fit.OK, "ada"),)

    def names(self, path: str) -> tuple[str, ...]:
        return ("step-100",)


def a_run(**changes: Any) -> Any:
    memory = SimpleNamespace(instances=(), last_seen=None)
    record = SimpleNamespace(
        memory=lambda: memory,
        fetch=lambda recently: None,
        ask_recently=True,
        remote_unread="",
    )
    facts: dict[str, Any] = {
        "slug": "tiny",
        "contract": a_contract(),
        "store": Accounts(),
        "record": record,
        "scheduler": SimpleNamespace(runs_here=True),
        "place": SimpleNamespace(reach=None),
        "channels": SimpleNamespace(all=()),
    }
    return SimpleNamespace(**{**facts, **changes})


def test_the_login_of_each_root_is_that_of_its_store() -> None:
    contract = a_contract(output={"root": "s3://lab/tiny", "temporary_root": "s3://lab/tmp"})
    logins = [each for each in backends.probes(a_run(contract=contract)) if each[0] == "login"]
    assert [name for _, name, _ in logins] == ["s3", "s3"]
    examined_names = [part.name for _, _, probe in logins for part in probe()]
    assert examined_names == ["s3://lab/tiny", "s3://lab/tmp"]


@pytest.mark.parametrize(("free", "fit"), [((1 << 30) - 1, Fit.FAILED), (1 << 30, Fit.OK)])
def test_a_disk_of_less_than_a_gib_is_broken(
    free: int, fit: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(free, 0, free))
    store, disk = backends._root(a_run(), "/")
    assert (store.group, store.status) == ("store", Fit.OK)
    assert (disk.group, disk.name, disk.status) == ("disk", "/", fit)


def test_what_does_not_exist_yet_was_not_tested() -> None:
    def fails(*_: Any) -> Any:
        raise FileNotFoundError

    nothing: Any = SimpleNamespace(read=fails, names=fails)
    (store,) = backends._root(a_run(store=nothing), "gs://lab/tiny")
    (tracker,) = backends._examine_tracker(a_run(tracker=nothing))
    assert (store.status, tracker.status) == (Fit.SKIPPED, Fit.SKIPPED)


def test_a_heartbeat_without_its_variable_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_PING", raising=False)
    (part,) = backends._heartbeat("NO_SUCH_PING", send_test=False)
    assert (part.group, part.name, part.status) == ("channel", "NO_SUCH_PING", Fit.FAILED)
    assert "NO_SUCH_PING" in part.message and part.fix


def test_a_channel_to_which_nothing_was_sent_is_not_known_to_work() -> None:
    channel: Any = SimpleNamespace(name="CHAT", problem=lambda: "", post=lambda _: None)
    fits = [
        part.status for send in (False, True) for part in backends._channel(channel, send_test=send)
    ]
    assert fits == [Fit.SKIPPED, Fit.OK]


@pytest.mark.parametrize(("is_reviewable", "fit"), [(True, Fit.OK), (False, Fit.FAILED)])
def test_a_contract_that_blocks_each_launch_is_not_ok(is_reviewable: bool, fit: Fit) -> None:
    file = SimpleNamespace(path="runs/tiny.toml", is_reviewable=is_reviewable)
    (part,) = backends._contract(a_run(file=file))
    assert part.status is fit


def test_the_signatures_of_the_contract_are_read_below_the_repository(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(SIGNATURE)
    run = a_run(
        contract=a_contract(babysit={"signatures": "own.toml"}),
        repository=SimpleNamespace(top=tmp_path),
    )
    (part,) = backends._patterns(run)
    assert (part.name, part.status) == ("own.toml of tiny", Fit.OK)
    assert ", 1 more" in part.message


@pytest.mark.parametrize(
    ("stale", "beat", "fit"),
    [(True, None, Fit.FAILED), (False, None, Fit.UNKNOWN), (False, "12:00", Fit.OK)],
)
def test_a_babysitter_is_stale_unseen_or_working(
    stale: bool, beat: str | None, fit: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = SimpleNamespace(monitor=WatchState.FRESH, why="")
    monkeypatch.setattr(watching, "watchdog", lambda *_: silence)
    monkeypatch.setattr(babysitter_state, "describe_babysitter", lambda run, why: "described")
    monkeypatch.setattr(babysitter_state, "handed_away", lambda run: None)
    monkeypatch.setattr(babysitter_state, "monitor_is_stale", lambda run: stale)
    monkeypatch.setattr(babysitter_state, "is_babysitter_lost", lambda run: False)
    monkeypatch.setattr(backends, "last_heartbeat", lambda run: beat)
    (part,) = backends._babysitter(a_run())
    assert (part.group, part.name, part.status) == ("babysitter", "tiny", fit)
    assert part.message == "described"
    assert ("herorun babysit tiny" in part.fix) is (fit is not Fit.OK)


def test_a_part_that_does_not_answer_is_unseen_and_the_others_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "DEADLINE", 0.2)
    answer = Event()

    def hangs() -> Iterator[DoctorPart]:
        answer.wait(5.0)
        yield DoctorPart("store", "/slow", Fit.OK, "late")

    def answers() -> Iterator[DoctorPart]:
        yield DoctorPart("store", "/fast", Fit.OK, "at once")

    parts = doctor._ask([("store", "/slow", hangs), ("store", "/fast", answers)])
    answer.set()
    assert [(part.name, part.status) for part in parts] == [
        ("/slow", Fit.UNKNOWN),
        ("/fast", Fit.OK),
    ]
