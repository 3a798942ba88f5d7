"""What becomes of each registered watcher; `retire` and the process table are made up."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders import NOON
from herorun import cli
from herorun.operations.remote import wait, watchers
from herorun.operations.remote.watchers import SENTINEL_GRACE, WatcherRow, reconcile
from herorun.system import process_registry
from herorun.system.process_registry import RegisteredWatcher

NOW = NOON.timestamp()


class Watcher(RegisteredWatcher):
    @property
    def lives(self) -> bool:
        return self.process_start == "lives"


def a_watcher(pid: int, **changes: Any) -> Watcher:
    fields = {"kind": "wait", "run": "tiny", "top": "", "what": "step 5", "process_start": "lives"}
    return Watcher(**{**fields, "pid": pid, "started": NOW, "until": NOW, **changes})


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[Path, Watcher | None]:
    fields: dict[Path, Watcher | None] = {}
    for module in (wait, watchers):
        monkeypatch.setattr(module.process_registry, "registered_watchers", lambda: fields)
        monkeypatch.setattr(module.process_registry, "retire", lambda each: each.pid != 13)
    monkeypatch.setattr(watchers, "now", lambda: NOON)
    return fields


def test_each_watcher_and_what_is_done_about_it(
    registry: dict[Path, Watcher | None], tmp_path: Path
) -> None:
    late = NOW - SENTINEL_GRACE - 1
    registry |= {
        tmp_path / "damaged": None,
        tmp_path / "gone": a_watcher(2, run="gone", process_start="boot 1"),
        tmp_path / "older": a_watcher(3),
        tmp_path / "newest": a_watcher(4),
        tmp_path / "late": a_watcher(5, run="late", until=late),
        tmp_path / "stubborn": a_watcher(13, run="stubborn", until=late),
        tmp_path / "babysitter": a_watcher(6, kind="babysit", until=late),
        tmp_path / "endless": a_watcher(7, run="endless", until=0.0),
        tmp_path / "in time": a_watcher(8, run="in time", until=late + 1),
    }
    for path in registry:
        path.touch()
    rows = {
        "damaged": ("damaged", "forgotten"),
        "gone": ("over", "forgotten"),
        "older": ("stale", "retired"),
        "newest": ("running", ""),
        "late": ("stale", "retired"),
        "stubborn": ("stale", "could not be retired"),
        "babysitter": ("stale", "left alone: stop it yourself"),
        "endless": ("running", ""),
        "in time": ("running", ""),
    }
    state_by_name = {row.path.name: row.state for row in reconcile(act=False)}
    assert state_by_name == {name: state for name, (state, _) in rows.items()}
    assert all(path.exists() for path in registry)
    assert {row.path.name: (row.state, row.action) for row in reconcile(act=True)} == rows
    assert {path.name for path in registry if not path.exists()} == {"damaged", "gone"}


def test_a_new_wait_replaces_those_of_its_own_run_alone(
    registry: dict[Path, Watcher | None],
) -> None:
    own = a_watcher(1)
    others = [
        a_watcher(2),
        a_watcher(3, run="other"),
        a_watcher(4, kind="babysit"),
        a_watcher(5, top="/w"),
        a_watcher(13),
    ]
    registry |= {Path(str(each.pid)): each for each in (own, *others)}
    registry[Path("damaged")] = None
    assert wait.retire_earlier_waits(own) == [others[0]]


def test_the_end_of_a_wait_names_the_newer_one(
    registry: dict[Path, Watcher | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait.os, "getpid", lambda: 1)
    registry |= {
        Path(str(pid)): a_watcher(pid, top="/w", **changes)
        for pid, changes in {
            1: {},
            2: {},
            3: {"process_start": "boot 1"},
            4: {"run": "other"},
        }.items()
    }
    for stays, name in ((True, "process 2"), (False, "SIGTERM")):
        enders: list[str] = []
        if not stays:
            del registry[Path("2")]
        with pytest.raises(KeyboardInterrupt):
            wait._end_wait("tiny", "/w", enders)
        assert len(enders) == 1 and name in enders[0]


def test_json_of_an_entry_with_its_watcher_and_of_one_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = a_watcher(4)
    rows = [WatcherRow(waiting, Path("a"), "running"), WatcherRow(None, Path("b"), "damaged")]
    monkeypatch.setattr(watchers, "reconcile", lambda act: rows)
    monkeypatch.setattr("herorun.system.process_registry.others", list)
    assert cli.run(["box", "watchers", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["watchers"]
    assert first == {"state": "running", "why": "", "action": "", **vars(waiting)}
    assert second == {"state": "damaged", "why": "", "action": ""}


@pytest.mark.parametrize(
    "changes", [{"until": "soon"}, {"what": 5}, {"top": None}, {"pid": 1}, {"pid": "four"}]
)
def test_a_registration_with_a_wrong_value_is_damaged(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = process_registry.folder()
    folder.mkdir(parents=True)
    (folder / "4-await-tiny.json").write_text(json.dumps({**vars(a_watcher(4)), **changes}))
    assert list(process_registry.registered_watchers().values()) == [None]


def test_the_file_of_a_wait_keeps_the_names_of_every_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    stored_wait = {
        "kind": "await",
        "run": "tiny",
        "top": "",
        "what": "step 5",
        "pid": 4,
        "born": "boot 1",
        "started": NOW,
        "until": 0.0,
    }
    process_registry.folder().mkdir(parents=True)
    (process_registry.folder() / "4-await-tiny.json").write_text(json.dumps(stored_wait))
    (own,) = process_registry.registered_watchers().values()
    assert own is not None and (own.kind, own.process_start) == ("wait", "boot 1")
    with process_registry.register_watcher("wait", "tiny", "", "step 5", NOW) as later:
        (path,) = set(process_registry.folder().iterdir()) - {
            process_registry.folder() / "4-await-tiny.json"
        }
        assert json.loads(path.read_text()) == {
            **stored_wait,
            "pid": later.pid,
            "born": later.process_start,
        }
        assert process_registry.registered_watchers()[path] == later


@pytest.mark.parametrize("text", ["[]", "5", "null", '"x"', '{"kind": []}', "{"])
def test_a_registration_of_another_shape_is_damaged(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    process_registry.folder().mkdir(parents=True)
    (process_registry.folder() / "4-await-tiny.json").write_text(text)
    assert list(process_registry.registered_watchers().values()) == [None]
