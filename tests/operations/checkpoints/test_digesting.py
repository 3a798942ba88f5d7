"""Reading a checkpoint's content: all cores, progress, and a kill that costs the files that were
being read.
"""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from herorun.core.ports import FileDigest, FileEntry, Place
from herorun.operations.checkpoints.digest_log import DigestLog
from herorun.operations.checkpoints.manifest import read_contents, read_manifest, walk
from herorun.stores.local import LocalStore, Options, connect
from herorun.system import _parallel_sha256, progress

FILES = {"a": b"1" * 3_000_000, "inside/b": b"2", "empty": b""}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        path = tmp_path / "step-4" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "step-4"


class Counting(LocalStore):
    """A store that counts the bytes that it reads, and may be cut off after the first digest."""

    def __init__(self, cut: bool = False) -> None:
        self.read_bytes, self.cut = 0, cut

    def digests(
        self, folder: str, names: Sequence[str], base: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        for event in super().digests(folder, names, base):
            self.read_bytes += event if isinstance(event, int) else 0
            yield event
            if self.cut and isinstance(event, FileDigest):
                raise KeyboardInterrupt


def test_every_file_has_its_sha256_as_sha256sum_prints_it(checkpoint: Path) -> None:
    store = connect(Options(), Place("tiny", "state", str(checkpoint), "."))
    contents = read_contents(store, read_manifest(store, str(checkpoint)))
    assert {file.name: file.checksum for file in contents.files} == {
        name: f"sha256:{hashlib.sha256(data).hexdigest()}" for name, data in FILES.items()
    }
    assert contents.by_size_alone == ()


def test_a_checkpoint_that_is_one_file_is_digested_too(tmp_path: Path) -> None:
    (tmp_path / "last.ckpt").write_bytes(b"weights")
    store = LocalStore()
    contents = read_contents(store, read_manifest(store, f"{tmp_path}/last.ckpt"))
    (file,) = contents.files
    assert (file.name, file.checksum) == ("", f"sha256:{hashlib.sha256(b'weights').hexdigest()}")


def test_the_manifest_of_one_file_is_that_file_among_its_neighbours(tmp_path: Path) -> None:
    for name, data in {"a.ckpt": b"1", "last.ckpt": b"weights", "last.ckpt.tmp": b"2"}.items():
        (tmp_path / name).write_bytes(data)
    manifest = read_manifest(LocalStore(), f"{tmp_path}/last.ckpt/")
    assert (manifest.path, [(f.name, f.size) for f in manifest.files]) == (
        f"{tmp_path}/last.ckpt",
        [("", len(b"weights"))],
    )
    assert read_contents(LocalStore(), manifest).files[0].size == len(b"weights")


class Versioned(LocalStore):
    """A store whose listing tells a checksum and a version of each file."""

    def entries(self, folder: str) -> Sequence[FileEntry]:
        return [
            replace(entry, checksum=f"crc32c:{entry.name}", version="7")
            for entry in super().entries(folder)
        ]


def test_what_a_listing_reports_a_file_is_in_the_manifest_and_every_folder_too(
    checkpoint: Path,
) -> None:
    (checkpoint / "b" / "c").mkdir(parents=True)
    files, folders = walk(Versioned(), str(checkpoint))
    assert {(file.checksum, file.version) for file in files} == {
        (f"crc32c:{name.rpartition('/')[2]}", "7") for name in FILES
    }
    assert sorted(folders) == ["b/", "b/c/", "inside/"]


class Gone(LocalStore):
    """A file that goes away between two looks."""

    def entries(self, folder: str) -> Sequence[FileEntry]:
        if folder.endswith("last.ckpt"):
            raise NotADirectoryError(folder)
        return super().entries(folder)


def test_one_file_that_is_gone_is_not_taken_for_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "a.ckpt").write_bytes(b"1")
    with pytest.raises(FileNotFoundError, match=r"last\.ckpt"):
        read_manifest(Gone(), f"{tmp_path}/last.ckpt")


def test_links_that_lead_nowhere_or_to_folders_have_no_content_of_their_own(
    checkpoint: Path,
) -> None:
    (checkpoint / "nowhere").symlink_to("gone")
    (checkpoint / "folder").symlink_to(checkpoint.parent)
    (checkpoint / "to-a").symlink_to("a")
    store = LocalStore()
    contents = read_contents(store, read_manifest(store, str(checkpoint)))
    assert contents.by_size_alone == ("folder", "nowhere")


def test_what_was_read_before_an_interruption_is_not_read_again(
    checkpoint: Path, tmp_path: Path
) -> None:
    first, manifest = Counting(cut=True), read_manifest(LocalStore(), str(checkpoint))
    with pytest.raises(KeyboardInterrupt):
        read_contents(first, manifest, DigestLog(tmp_path, str(checkpoint)))
    (values,) = DigestLog(tmp_path, str(checkpoint)).digests.values()
    second = Counting()
    contents = read_contents(second, manifest, DigestLog(tmp_path, str(checkpoint)))
    assert second.read_bytes == sum(map(len, FILES.values())) - values.size
    assert contents == read_contents(LocalStore(), manifest)
    again = Counting()
    assert read_contents(again, manifest, DigestLog(tmp_path, str(checkpoint))) == contents
    assert again.read_bytes == 0


def test_a_file_that_was_written_since_is_read_again_though_its_times_were_set_back(
    checkpoint: Path, tmp_path: Path
) -> None:
    manifest, log = (
        read_manifest(LocalStore(), str(checkpoint)),
        DigestLog(tmp_path, str(checkpoint)),
    )
    before = read_contents(LocalStore(), manifest, log)
    facts = (checkpoint / "inside/b").stat()
    (checkpoint / "inside/b").write_bytes(b"3")
    os.utime(checkpoint / "inside/b", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    after = read_contents(LocalStore(), manifest, DigestLog(tmp_path, str(checkpoint)))
    assert [file.name for file in after.files if file not in before.files] == ["inside/b"]


def test_a_line_that_was_cut_off_costs_one_file(checkpoint: Path, tmp_path: Path) -> None:
    manifest = read_manifest(LocalStore(), str(checkpoint))
    read_contents(LocalStore(), manifest, DigestLog(tmp_path, str(checkpoint)))
    (log,) = (tmp_path / "digests").iterdir()
    log.write_bytes(log.read_bytes()[:-20])
    assert len(DigestLog(tmp_path, str(checkpoint)).digests) == len(FILES) - 1


def test_a_file_that_changes_while_it_is_read_is_reported(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter(range(100))
    monkeypatch.setattr(_parallel_sha256, "stamp", lambda facts: str(next(stamps)))
    with pytest.raises(OSError, match=r"while.*writes"):
        list(LocalStore().digests(str(checkpoint), ["a"], {}))


def test_a_disk_that_hangs_is_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_parallel_sha256, "STALL_TIMEOUT", 0.05)
    work = _parallel_sha256._Work(
        str(tmp_path), _parallel_sha256._largest_first(str(tmp_path), []), {}
    )
    with pytest.raises(TimeoutError, match=r"0\.05s.*hang"):
        work.next()


def test_progress_is_reported_in_bytes_and_ends(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_progress: list[tuple[str, int, int | None]] = []
    monkeypatch.setattr(progress, "_show", lambda *words: shown_progress.append(words))
    read_contents(LocalStore(), read_manifest(LocalStore(), str(checkpoint)))
    total = sum(map(len, FILES.values()))
    assert shown_progress[-1] == (f"digest of {checkpoint}", total, total)
    assert [count for _, count, _ in shown_progress] == sorted(
        count for _, count, _ in shown_progress
    )


KILLED_PROGRAM = """
import os, signal, sys
from pathlib import Path
from herorun.core.ports import FileDigest
from herorun.operations.checkpoints.digest_log import DigestLog
from herorun.operations.checkpoints.manifest import read_contents, read_manifest
from herorun.stores.local import LocalStore

class Killed(LocalStore):
    def digests(self, folder, names, base):
        count = 0
        for event in super().digests(folder, names, base):
            count += isinstance(event, FileDigest)
            if count > 5:
                os.kill(os.getpid(), signal.SIGKILL)
            yield event

store, path = Killed(), sys.argv[1]
read_contents(store, read_manifest(store, path), DigestLog(Path(sys.argv[2]), path))
"""


@pytest.mark.thorough
def test_a_kill_costs_the_files_that_were_being_read(tmp_path: Path) -> None:
    folder = tmp_path / "step-4"
    folder.mkdir()
    for number in range(40):
        with (folder / f"{number:02}").open("wb") as file:
            file.truncate(4 << 20)  # holes: they take no room
    state = tmp_path / "state"
    killed_process = subprocess.run(
        [sys.executable, "-c", KILLED_PROGRAM, str(folder), str(state)], check=False
    )
    assert killed_process.returncode == -signal.SIGKILL
    log, second = DigestLog(state, str(folder)), Counting()
    assert len(log.digests) == 5  # each that was reported before, and no other
    read_contents(second, read_manifest(second, str(folder)), log)
    assert second.read_bytes == 35 * (4 << 20)
