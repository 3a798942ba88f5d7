"""What every store must do. A test file subclasses `StoreSuite` and gives it a `bench`: a real place to write to."""

import threading
from collections.abc import Callable
from typing import Protocol

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import Store


class StoreBench(Protocol):
    root: str  # a place that does not exist yet

    def connect(self) -> Store: ...

    def cut_off(self, path: str) -> None:
        """Let something stand at a path that cannot be read."""


class StoreSuite:
    has_empty_folders = True  # an object store has none
    foreign = "elsewhere://bucket/path"  # a path that belongs to another store
    weird = ("with space", "ünï-日本", "new\nline", "-dash", "50%20", "a'b\"c", "hash#?x", "*[a]")

    @pytest.fixture
    def bench(self) -> StoreBench:
        raise NotImplementedError

    def test_what_was_created_reads_back(self, bench: StoreBench) -> None:
        store = bench.connect()
        data = b"\x00\xff" + bytes(range(256)) * 4096
        store.create(f"{bench.root}/a/b.bin", data)
        assert bench.connect().read(f"{bench.root}/a/b.bin") == data

    def test_an_existing_file_is_refused_and_left(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/a", b"first")
        with pytest.raises(FileExistsError):
            store.create(f"{bench.root}/a", b"second")
        assert store.read(f"{bench.root}/a") == b"first"
        assert store.names(bench.root) == ("a",)

    def test_names_are_sorted_and_folders_end_in_a_slash(self, bench: StoreBench) -> None:
        store = bench.connect()
        for path in ("step-9/x", "step-10/x", "eval.jsonl"):
            store.create(f"{bench.root}/{path}", b"")
        assert store.names(bench.root) == ("eval.jsonl", "step-10/", "step-9/")
        assert store.names(f"{bench.root}/") == store.names(bench.root)

    def test_missing_paths_are_not_found(self, bench: StoreBench) -> None:
        store = bench.connect()
        with pytest.raises(FileNotFoundError):
            store.names(bench.root)
        store.create(f"{bench.root}/there", b"")
        for look in (store.read, store.names, lambda path: store.swap(path, b"", b"new")):
            with pytest.raises(FileNotFoundError):
                look(f"{bench.root}/gone")
        assert store.names(bench.root) == ("there",)

    def test_a_file_is_no_folder(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/file", b"")
        with pytest.raises(NotADirectoryError):
            store.names(f"{bench.root}/file")

    def test_what_is_out_of_reach_is_neither_missing_nor_there(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/there", b"")
        bench.cut_off(f"{bench.root}/blocked")
        blocked = f"{bench.root}/blocked"
        acts: tuple[Callable[[], object], ...] = (
            lambda: store.read(blocked),
            lambda: store.names(blocked),
            lambda: store.create(f"{blocked}/new", b""),
            lambda: store.swap(blocked, b"", b"new"),
            lambda: store.probe(blocked),
        )
        for act in acts:
            with pytest.raises(OSError, match=r".") as caught:
                act()
            assert not isinstance(caught.value, (FileNotFoundError, FileExistsError))

    def test_swap_replaces_only_what_is_still_there(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/lease", b"one")
        assert store.swap(f"{bench.root}/lease", b"one", b"two")
        assert not store.swap(f"{bench.root}/lease", b"one", b"three")
        assert store.read(f"{bench.root}/lease") == b"two"

    def test_of_many_creators_one_wins_whole(self, bench: StoreBench) -> None:
        path, won = f"{bench.root}/lease", []

        def claim(number: int) -> None:
            data = bytes([number]) * 50_000
            try:
                bench.connect().create(path, data)
                won.append(data)
            except FileExistsError:
                pass

        at_once(claim, 8)
        assert len(won) == 1
        assert bench.connect().read(path) == won[0]

    def test_no_swap_is_lost(self, bench: StoreBench) -> None:
        path = f"{bench.root}/count"
        bench.connect().create(path, b"0")

        def add_three(_: int) -> None:
            store = bench.connect()
            for _turn in range(3):
                while not store.swap(path, before := store.read(path), b"%d" % (int(before) + 1)):
                    pass

        at_once(add_three, 5)
        assert bench.connect().read(path) == b"15"

    def test_weird_names_come_back_as_they_are(self, bench: StoreBench) -> None:
        store = bench.connect()
        for name in self.weird:
            store.create(f"{bench.root}/{name}/{name}", name.encode())
        assert store.names(bench.root) == tuple(sorted(f"{name}/" for name in self.weird))
        for name in self.weird:
            assert store.names(f"{bench.root}/{name}") == (name,)
            assert store.read(f"{bench.root}/{name}/{name}") == name.encode()

    def test_a_folder_of_many_is_listed_whole(self, bench: StoreBench) -> None:
        store = bench.connect()
        for number in range(300):
            store.create(f"{bench.root}/{number:04}", b"")
        assert store.names(bench.root) == tuple(f"{number:04}" for number in range(300))

    def test_probe_makes_the_root_and_leaves_nothing_in_it(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.probe(bench.root)
        try:
            assert store.names(bench.root) == ()
        except FileNotFoundError:
            assert not self.has_empty_folders

    def test_probe_leaves_what_was_there(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/_herorun/receipts/tiny-1.1.json", b"{}")
        store.probe(bench.root)
        assert store.names(bench.root) == ("_herorun/",)
        assert store.names(f"{bench.root}/_herorun") == ("receipts/",)

    def test_a_path_of_another_store_is_wrong_use_and_its_secret_is_not_echoed(
        self, bench: StoreBench
    ) -> None:
        store = bench.connect()
        scheme, _, rest = self.foreign.partition("://")
        for look in (store.names, store.read, store.probe, lambda path: store.create(path, b"")):
            with pytest.raises(WrongUse) as caught:
                look(f"{scheme}://user:hunter2hunter2@{rest}")
            assert "hunter2" not in str(caught.value)


def at_once(act: Callable[[int], None], times: int) -> None:
    """Run it in threads that start together; the first error is raised."""
    gate, errors = threading.Barrier(times), []

    def run(number: int) -> None:
        gate.wait()
        try:
            act(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
