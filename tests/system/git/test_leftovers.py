"""What failed or killed writers leave is removed by the next one, and nothing else."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders import NOON
from herorun.core.errors import CouldNotLook
from herorun.system import files
from herorun.system.files import write_atomic
from herorun.system.git import find_repository, leftovers
from herorun.system.git.leftovers import sweep, sweep_after
from herorun.system.git.plumbing import commit_files
from stories import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--template=")
    return tmp_path / ".git"


def broken_import(top: Path, first: str) -> None:
    stream = f"{first}\nblob\nmark :1\ndata 5\nhello\nbogus\n"
    subprocess.run(
        ["git", "fast-import", "--quiet", "--done"],
        cwd=top,
        input=stream.encode(),
        capture_output=True,
        check=False,
    )


def reports(repository: Path) -> list[Path]:
    return list(repository.glob("fast_import_crash_*"))


def test_the_crash_report_of_an_import_of_ours_goes_with_what_it_had_begun(
    repository: Path,
) -> None:
    broken_import(repository.parent, "# refs/herorun/record/tiny")
    assert reports(repository)
    (repository / "objects" / "pack" / "tmp_pack_aB3dE6").write_bytes(b"PACK")
    sweep(repository)
    assert reports(repository) == []
    assert not list((repository / "objects" / "pack").glob("tmp_*"))


def test_somebody_elses_stays(repository: Path) -> None:
    """Of another import; open in another process; or of another time."""
    broken_import(repository.parent, "# of a person")
    sweep(repository, since=None)
    assert len(reports(repository)) == 1
    pack = repository / "objects" / "pack"
    old, held_pack = pack / "tmp_pack_old", pack / "tmp_pack_held"
    old.write_bytes(b"PACK")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    broken_import(repository.parent, "# refs/herorun/record/tiny")
    with held_pack.open("wb"):
        sweep(repository)
    assert sorted(path.name for path in pack.glob("tmp_*")) == ["tmp_pack_held", "tmp_pack_old"]
    sweep(repository)  # the next chance: nobody holds it any more
    assert [path.name for path in pack.glob("tmp_*")] == ["tmp_pack_old"]


WRITE = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from herorun.system.git import find_repository
from herorun.system.git.plumbing import commit_files, fetch
repository = find_repository(Path(sys.argv[1]))
if sys.argv[2:]:
    fetch(repository, sys.argv[2], {"HEAD": "refs/herorun/fetched/tiny"})
else:
    files = {"a": os.urandom(160 << 20)}
    commit_files(repository, "refs/herorun/record/tiny", None, files, "x", datetime.now(UTC))
"""
# Counted in bytes: `dd` counts reads, and small ones of a busy machine end before the pack begins.
FIRST = """
import os
left = 600_000
while left and (data := os.read(0, min(left, 65_536))):
    left -= os.write(1, data)
"""
SLOW = f"""#!/bin/sh
git upload-pack "$@" | {{ {sys.executable} -c '{FIRST}'; sleep 60; }}
"""


def temporary_objects(repository: Path) -> list[Path]:
    return list((repository / "objects").glob("*/tmp_*"))


def killed_in_the_middle(repository: Path, *remote: str) -> None:
    """With all its children, as a power cut or the kernel's memory killer does it."""
    words = [sys.executable, "-c", WRITE, str(repository.parent), *remote]
    writer = subprocess.Popen(words, start_new_session=True)
    until = time.monotonic() + 30
    while not temporary_objects(repository) and time.monotonic() < until:
        time.sleep(0.002)
    os.killpg(writer.pid, signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL


def swept_in_time(repository: Path) -> list[Path]:
    """The kernel closes a killed process's files a moment later."""
    until = time.monotonic() + 60
    while temporary_objects(repository) and time.monotonic() < until:
        sweep(repository)
        time.sleep(0.02)
    return temporary_objects(repository)


def test_what_a_killed_import_had_begun_goes_at_the_next_chance(repository: Path) -> None:
    """A killed git writes no crash report."""
    killed_in_the_middle(repository)
    assert temporary_objects(repository) and not reports(repository)
    assert swept_in_time(repository) == []
    assert list((repository / "herorun" / "writing").iterdir()) == []


def test_what_a_killed_fetch_had_begun_goes_at_the_next_chance(
    repository: Path, tmp_path: Path
) -> None:
    other, slow = tmp_path / "other", tmp_path / "slow"
    other.mkdir()
    git(other, "init", "-q", "--template=")
    (other / "large").write_bytes(os.urandom(1 << 20))
    git(other, "add", "large")
    git(other, "commit", "-qm", "large")
    slow.write_text(SLOW)
    slow.chmod(0o755)
    git(tmp_path, "remote", "add", "origin", str(other))
    git(tmp_path, "config", "remote.origin.uploadpack", str(slow))
    git(tmp_path, "config", "fetch.unpackLimit", "1")  # as of a record of many commits: a pack
    killed_in_the_middle(repository, "origin")
    assert temporary_objects(repository)
    assert swept_in_time(repository) == []


def test_what_is_still_being_written_stays_until_it_is_not(repository: Path) -> None:
    path = repository / "objects" / "pack" / "tmp_pack_aB3dE6"
    with pytest.raises(KeyboardInterrupt), path.open("wb"), sweep_after(repository):
        raise KeyboardInterrupt
    path.touch()
    with path.open("ab"):
        sweep(repository)
        assert path.exists()
    sweep(repository)
    assert not path.exists() and list((repository / "herorun" / "writing").iterdir()) == []


def test_the_lock_of_a_ref_that_a_killed_git_left_stops_no_later_write(repository: Path) -> None:
    ref = "refs/herorun/record/tiny"
    lock = repository / f"{ref}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    mark = repository / "herorun" / "writing" / f"{files.node()}-{ended_dead_pid()}-0123abcd"
    mark.parent.mkdir(parents=True)
    mark.touch()
    opened_repository = find_repository(repository.parent)
    with pytest.raises(CouldNotLook):
        commit_files(opened_repository, ref, None, {"a": b"x"}, "x", NOON)
    assert lock.exists()  # it may be a living git's
    for path in (lock, mark):
        os.utime(path, (time.time() - 9, time.time() - 9))
    with pytest.raises(CouldNotLook):
        commit_files(opened_repository, ref, None, {"a": b"x"}, "x", NOON)
    assert commit_files(opened_repository, ref, None, {"a": b"x"}, "x", NOON)


def test_a_process_that_ends_while_it_is_looked_at_has_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listdir, dead_pid = os.listdir, str(ended_dead_pid())
    monkeypatch.setattr(os, "listdir", lambda path: [dead_pid, *listdir(path)])
    own = os.stat(sys.executable)
    with open(sys.executable, "rb"):
        assert (own.st_dev, own.st_ino) in (leftovers._open_files() or set())


def ended_dead_pid() -> int:
    """The number of a process that is gone."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    return dead.pid


def test_a_call_that_ends_well_leaves_no_mark_and_takes_nothing(repository: Path) -> None:
    path = repository / "objects" / "pack" / "tmp_pack_aB3dE6"
    with sweep_after(repository):
        path.write_bytes(b"PACK")
    sweep(repository)
    assert path.exists() and list((repository / "herorun" / "writing").iterdir()) == []


def test_a_file_that_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    path = tmp_path / "lease.json"
    file = tmp_path / f".lease.json.{files.node()}-{dead.pid}-0123abcd.new"
    living = tmp_path / f".lease.json.{files.node()}-{os.getpid()}-0123abcd.new"
    elsewhere = tmp_path / f".lease.json.00000000-{dead.pid}-0123abcd.new"
    for each in (file, living, elsewhere):
        each.write_text("half")
    write_atomic(path, b"whole")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [living.name, elsewhere.name, path.name]
    )
