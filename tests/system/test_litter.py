"""What failed or killed writers leave is removed by the next one, and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

from herorun.system import files
from herorun.system.files import write_whole
from herorun.system.litter import sweep
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


def test_the_crash_report_of_an_import_of_ours_goes_with_what_it_had_begun(repository: Path) -> None:
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
    old, held = pack / "tmp_pack_old", pack / "tmp_pack_held"
    old.write_bytes(b"PACK")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    broken_import(repository.parent, "# refs/herorun/record/tiny")
    with held.open("wb"):
        sweep(repository)
    assert sorted(path.name for path in pack.glob("tmp_*")) == ["tmp_pack_held", "tmp_pack_old"]
    sweep(repository)  # the next chance: nobody holds it any more
    assert [path.name for path in pack.glob("tmp_*")] == ["tmp_pack_old"]


def test_a_file_that_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    path = tmp_path / "lease.json"
    left = tmp_path / f".lease.json.{files._node()}-{dead.pid}-0123abcd.new"
    living = tmp_path / f".lease.json.{files._node()}-{os.getpid()}-0123abcd.new"
    elsewhere = tmp_path / f".lease.json.00000000-{dead.pid}-0123abcd.new"
    for each in (left, living, elsewhere):
        each.write_text("half")
    write_whole(path, b"whole")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [living.name, elsewhere.name, path.name]
    )
