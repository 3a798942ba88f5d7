"""What every store must do. A test file subclasses `StoreSuite` and gives it a `bench`: a real
place to write to.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import FileDigest, Store, missing_members


class StoreBench(Protocol):
    root: str  # a place that does not exist yet

    def connect(self) -> Store: ...

    def cut_off(self, path: str) -> None:
        """Let something stand at a path that cannot be read."""


class StoreSuite:
    has_empty_folders = True  # an object store has none
    cut_off_folders = True  # whether what `cut_off` leaves can hold files: in memory it is one
    many = 300
    foreign = "elsewhere://bucket/path"  # a path that belongs to another store
    weird = ("with space", "ünï-日本", "new\nline", "-dash", "50%20", "a'b\"c", "hash#?x", "*[a]")

    @pytest.fixture
    def bench(self) -> StoreBench:
        raise NotImplementedError

    def test_it_has_every_member_of_its_port(self, bench: StoreBench) -> None:
        assert missing_members(Store, bench.connect()) == ()

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

    def test_entries_are_the_names_with_sizes_and_times(self, bench: StoreBench) -> None:
        store = bench.connect()
        for path in ("step-9/x", "a.json", "empty"):
            store.create(f"{bench.root}/{path}", path.encode() if path == "a.json" else b"")
        entries = store.entries(bench.root)
        assert (
            tuple(entry.name for entry in entries)
            == store.names(bench.root)
            == ("a.json", "empty", "step-9/")
        )
        assert [entry.size for entry in entries] == [6, 0, None]
        for entry in entries[:2]:
            assert_is_now(entry.modified)
            assert entry.modified == store.modified(f"{bench.root}/{entry.name}")

    @pytest.mark.parametrize(
        ("count", "expectation"), [(3, b"def"), (6, b"abcdef"), (99, b"abcdef"), (0, b"")]
    )
    def test_the_end_of_a_file(self, bench: StoreBench, count: int, expectation: bytes) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/file", b"abcdef")
        store.create(f"{bench.root}/empty", b"")
        assert store.end(f"{bench.root}/file", count) == expectation
        assert store.end(f"{bench.root}/empty", count) == b""

    def test_a_digest_changes_with_the_content_and_not_with_the_size_alone(
        self, bench: StoreBench
    ) -> None:
        store, names = bench.connect(), ("a", "inside/b b")
        for name in names:
            store.create(f"{bench.root}/{name}", name.encode())
        before = digests(store, bench.root, names)
        assert [before[name].size for name in names] == [1, 10]
        assert all(each.checksum for each in before.values())
        assert digests(store, bench.root, names, previous=before) == before
        assert store.swap(f"{bench.root}/a", b"a", b"A")
        after = digests(store, bench.root, names, previous=before)
        assert after["a"].size == 1 and after["a"].checksum != before["a"].checksum
        assert after["inside/b b"] == before["inside/b b"]

    def test_a_digest_of_what_is_gone_is_not_found(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/there", b"1")
        with pytest.raises(FileNotFoundError):
            digests(store, bench.root, ("there", "gone"))

    def test_a_generation_stays_until_the_file_is_written_again(self, bench: StoreBench) -> None:
        store, path = bench.connect(), f"{bench.root}/file"
        store.create(path, b"one")
        before = store.generation(path)
        assert before
        assert bench.connect().generation(path) == before
        assert store.swap(path, b"one", b"two")
        assert store.generation(path) != before

    def test_region_and_rules_can_be_asked_of_a_root_that_does_not_exist(
        self, bench: StoreBench
    ) -> None:
        store = bench.connect()
        assert store.region(bench.root) in (None, "us-central1")
        assert all(rule.description for rule in store.rules(bench.root))

    def test_missing_paths_are_not_found(self, bench: StoreBench) -> None:
        store = bench.connect()
        with pytest.raises(FileNotFoundError):
            store.names(bench.root)
        store.create(f"{bench.root}/there", b"")
        queries: tuple[Callable[[str], object], ...] = (
            store.read,
            store.names,
            store.entries,
            store.modified,
            store.generation,
            lambda path: store.end(path, 3),
            lambda path: store.end(path, 0),
            lambda path: store.swap(path, b"", b"new"),
        )
        for query in queries:
            with pytest.raises(FileNotFoundError):
                query(f"{bench.root}/gone")
        assert store.names(bench.root) == ("there",)

    def test_a_file_is_no_folder(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/file", b"")
        for query in (store.names, store.entries):
            with pytest.raises(NotADirectoryError):
                query(f"{bench.root}/file")

    def test_what_is_out_of_reach_is_neither_missing_nor_there(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/there", b"")
        bench.cut_off(f"{bench.root}/blocked")
        blocked_path = f"{bench.root}/blocked"
        acts: tuple[Callable[[], object], ...] = (
            lambda: store.read(blocked_path),
            lambda: store.names(blocked_path),
            lambda: store.entries(blocked_path),
            lambda: store.end(blocked_path, 3),
            lambda: store.create(f"{blocked_path}/new", b""),
            lambda: store.swap(blocked_path, b"", b"new"),
            lambda: store.probe(blocked_path),
        )
        for act in acts:
            with pytest.raises(OSError, match=r".") as error:
                act()
            assert not isinstance(error.value, (FileNotFoundError, FileExistsError))

    def test_swap_replaces_only_what_is_still_there(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/lease", b"one")
        assert store.swap(f"{bench.root}/lease", b"one", b"two")
        assert not store.swap(f"{bench.root}/lease", b"one", b"three")
        assert store.read(f"{bench.root}/lease") == b"two"

    def test_of_many_creators_one_wins_whole(self, bench: StoreBench) -> None:
        path, winners = f"{bench.root}/lease", []

        def claim(number: int) -> None:
            data = bytes([number]) * 50_000
            try:
                bench.connect().create(path, data)
                winners.append(data)
            except FileExistsError:
                pass

        at_once(claim, 8)
        assert len(winners) == 1
        assert bench.connect().read(path) == winners[0]

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
        for number in range(self.many):
            store.create(f"{bench.root}/{number:04}", b"")
        assert store.names(bench.root) == tuple(f"{number:04}" for number in range(self.many))

    def test_a_deleted_file_is_gone_and_what_lies_next_to_it_stays(self, bench: StoreBench) -> None:
        store = bench.connect()
        for name in ("a", "ab", *self.weird):
            store.create(f"{bench.root}/{name}/file", b"data")
            store.create(f"{bench.root}/{name}/file-too", b"data")
        for name in ("a", *self.weird):
            store.delete(f"{bench.root}/{name}/file")
            assert bench.connect().names(f"{bench.root}/{name}") == ("file-too",)
        assert store.names(f"{bench.root}/ab") == ("file", "file-too")
        with pytest.raises(FileNotFoundError):
            store.delete(f"{bench.root}/a/file")

    def test_a_folder_is_no_file_to_delete(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/step-1/file", b"data")
        with pytest.raises(OSError, match=r"."):
            store.delete(f"{bench.root}/step-1")
        with pytest.raises(OSError, match=r"."):
            store.delete_folder(f"{bench.root}/step-1")
        assert store.read(f"{bench.root}/step-1/file") == b"data"

    def test_an_emptied_folder_can_be_deleted(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/step-1/file", b"")
        store.create(f"{bench.root}/step-2/file", b"")
        store.delete(f"{bench.root}/step-1/file")
        store.delete_folder(f"{bench.root}/step-1")
        assert store.names(bench.root) == ("step-2/",)

    def test_what_is_out_of_reach_is_not_deleted(self, bench: StoreBench) -> None:
        store = bench.connect()
        store.create(f"{bench.root}/there", b"")
        bench.cut_off(f"{bench.root}/blocked")
        with pytest.raises(OSError, match=r".") as error:
            store.delete(f"{bench.root}/blocked/file")
        assert isinstance(error.value, FileNotFoundError) is not self.cut_off_folders

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
        scheme, _, address = self.foreign.partition("://")
        queries: tuple[Callable[[str], object], ...] = (
            *(store.names, store.read, store.probe, store.region, store.rules, store.generation),
            *(store.delete, store.delete_folder),
            lambda path: store.create(path, b""),
        )
        for query in queries:
            with pytest.raises(WrongUse) as error:
                query(f"{scheme}://user:hunter2hunter2@{address}")
            assert "hunter2" not in str(error.value)


def digests(
    store: Store,
    folder: str,
    names: Sequence[str],
    previous: Mapping[str, FileDigest] | None = None,
) -> dict[str, FileDigest]:
    events = store.digests(folder, names, previous or {})
    return {event.name: event for event in events if isinstance(event, FileDigest)}


def assert_is_now(moment: datetime | None) -> None:
    assert moment is not None and moment.utcoffset() == timedelta()
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


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
