"""The memory store: the contract suite, then what is special about it."""

import io
import uuid

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Store
from herorun.stores import memory
from ports.store_suite import StoreBench, StoreSuite


def connect() -> Store:
    return memory.connect(memory.Options(), Place("tiny", "state", "memory://tiny", "."))


class Bench:
    def __init__(self) -> None:
        self.root = f"memory://{uuid.uuid4().hex}/out"

    def connect(self) -> Store:
        return connect()

    def cut_off(self, path: str) -> None:
        connect().create(path, b"")
        io.BytesIO.close(MemoryFileSystem.store[path.removeprefix("memory:/")])


class TestMemory(StoreSuite):
    has_empty_folders = False
    cut_off_folders = False

    @pytest.fixture
    def bench(self) -> StoreBench:
        return Bench()


def test_a_parent_that_is_a_file_is_not_taken_for_an_existing_file() -> None:
    root = Bench().root
    connect().create(f"{root}/file", b"")
    with pytest.raises(NotADirectoryError):
        connect().create(f"{root}/file/lease", b"")


@pytest.mark.parametrize("path", ["/data/x", "gs://bucket/x", "memory:x", ""])
def test_what_is_no_memory_path_is_wrong_use(path: str) -> None:
    with pytest.raises(WrongUse, match=r"store.*memory"):
        connect().read(path)


def test_doubled_slashes_make_no_other_place() -> None:
    root = Bench().root
    connect().create(f"{root}//a///b/", b"1")
    assert connect().read(f"{root}/a/b") == b"1"
