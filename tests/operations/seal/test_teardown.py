"""What ends with a sealed run on this machine, and what is only named."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.record.lease import PATH, Lease
from herorun.operations.seal import teardown
from herorun.system.files import hold_lock

CRONTAB = "# 0 * * * * herorun babysit tiny --once\n5 * * * * herorun babysit tiny --once\n"


class NoLease:
    def read(self, path: str) -> bytes:
        raise FileNotFoundError(path)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run that is sealed on a machine without a crontab."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: tmp_path / "home"))
    monkeypatch.setattr(teardown, "ring", lambda run: (tmp_path / "rung").touch())
    return SimpleNamespace(
        slug="tiny",
        state=tmp_path,
        lock=lambda name: tmp_path / f"{name}.lock",
        place=SimpleNamespace(output_root="/data/tiny"),
        store=NoLease(),
        repository=SimpleNamespace(top=tmp_path / "work"),
    )


def test_where_nothing_watches_nothing_is_left(run: Any) -> None:
    assert teardown.stop_watchers(run) == ()
    assert not (run.state / "rung").exists()


def test_a_babysitter_that_stays_is_woken_and_named(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teardown, "ENDING", 0.2)
    with hold_lock(run.lock("babysitter"), what="a babysitter"):
        (warning,) = teardown.stop_watchers(run)
        assert "babysitter" in warning
    assert (run.state / "rung").exists()


def test_a_babysitter_that_ends_within_its_time_is_not_named(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_alive = iter([True, True, False])
    monkeypatch.setattr(teardown, "is_locked", lambda lock: next(is_alive))
    assert teardown.stop_watchers(run) == ()
    assert list(is_alive) == []


def test_a_lease_that_could_not_be_read_is_named(run: Any) -> None:
    def read(path: str) -> bytes:
        raise PermissionError(f"{path} is not yours")

    run.store.read = read
    (warning,) = teardown.stop_watchers(run)
    assert "/data/tiny/" in warning and "is not yours" in warning


def test_a_line_of_the_crontab_is_named_unless_it_is_a_comment(run: Any) -> None:
    with_crontab(run, f"cat <<'E'\n{CRONTAB}E\n")
    (warning,) = teardown.stop_watchers(run)
    assert CRONTAB.splitlines()[1] in warning


def test_a_crontab_that_cannot_be_listed_names_nothing(run: Any) -> None:
    with_crontab(run, "echo 'herorun babysit tiny'; exit 1\n")
    assert teardown.stop_watchers(run) == ()


@pytest.mark.parametrize(
    ("command", "is_named"),
    [
        ("herorun watchdog tiny", True),
        ("herorun babysit tiny --once", True),
        ("herorun watchdog tiny-2", False),
        ("herorun watchdog my-tiny", False),
        ("herorun report tiny", False),
        ("pytest tiny", False),
    ],
)
def test_a_timer_is_named_by_what_it_runs(run: Any, command: str, is_named: bool) -> None:
    workflows = run.repository.top / ".github" / "workflows"
    units = run.state / "home" / ".config" / "systemd" / "user"
    for folder, name in ((workflows, "look.yaml"), (units, "look.service")):
        folder.mkdir(parents=True)
        (folder / name).write_bytes(b"\xff\nrun: " + command.encode())
    (workflows / "gone.yml").symlink_to("nowhere")
    warnings = teardown.stop_watchers(run)
    names = (".github/workflows/look.yaml", "disable --now look.timer")
    assert len(warnings) == (2 if is_named else 0)
    assert all(name in warning for name, warning in zip(names, warnings, strict=False))


def with_crontab(run: Any, script: str) -> None:
    program = run.state / "bin" / "crontab"
    program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("lease", "is_deleted"),
    [
        (Lease("ada@here", "tiny", 1, 2), True),
        (Lease("eve@there", "tiny", 1, 2), False),
        (Lease("ada@here", "another", 1, 2), False),
    ],
)
def test_only_our_own_lease_of_this_run_is_deleted(
    run: Any, lease: Lease, is_deleted: bool
) -> None:
    deleted_paths: list[str] = []
    run.launcher = SimpleNamespace(owner="ada@here", clone="")
    run.store = SimpleNamespace(read=lambda path: lease.bytes(), delete=deleted_paths.append)
    assert teardown.stop_watchers(run) == ()
    assert deleted_paths == ([f"{run.place.output_root}/{PATH}"] if is_deleted else [])
