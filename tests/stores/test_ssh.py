"""The store over ssh: the contract suite by its own programs without the wire, the heart of it on a
real box, and a cut.

A connection takes a fifth of a second, and the whole suite asks hundreds of times.
"""

import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.core.ports import Place, Store
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.store_router import RoutedStore
from herorun.stores import local
from ports.store_suite import StoreBench, StoreSuite
from services.boxes import Box

pytestmark = pytest.mark.back_end


def reach_of(box: Box) -> RemoteTarget:
    return RemoteTarget(SshLogin(host=box.name, ssh_config=str(box.config)), connect=2, timeout=10)


class Bench:
    def __init__(self, box: Box, root: str) -> None:
        self.root = root
        self.box = box
        self.place = Place("tiny", "state", root, ".", reach_of(box))

    def connect(self) -> Store:
        return local.connect(local.Options(), self.place)

    def cut_off(self, path: str) -> None:
        self.box.ssh(f"ln -s {shlex.quote(path.rpartition('/')[2])} {shlex.quote(path)}")  # a loop


@pytest.fixture
def bench(box: Box, tmp_path: Path) -> Iterator[Bench]:
    root = f"{box.home}/{tmp_path.name}/with space"
    yield Bench(box, root)
    box.fix()
    box.ssh(f"rm -rf {shlex.quote(str(Path(root).parent))}")


class Wireless(Bench):
    """The same programs, run by a Python of this machine."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.place = Place("tiny", "state", root, ".", RemoteTarget(SshLogin(), sys.executable))

    def cut_off(self, path: str) -> None:
        os.symlink(os.path.basename(path), path)


class TestOverSsh(StoreSuite):
    many = 20  # each is a process; how a large folder is listed is asked below

    @pytest.fixture
    def bench(self, tmp_path: Path) -> StoreBench:
        return Wireless(f"{tmp_path}/with space")


class TestOnABox:
    """What the wire could spoil."""

    test_digest = StoreSuite.test_a_digest_changes_with_the_content_and_not_with_the_size_alone
    test_bytes = StoreSuite.test_what_was_created_reads_back
    test_listing = StoreSuite.test_entries_are_the_names_with_sizes_and_times
    test_refusal = StoreSuite.test_an_existing_file_is_refused_and_left
    test_swap = StoreSuite.test_swap_replaces_only_what_is_still_there
    test_winner = StoreSuite.test_of_many_creators_one_wins_whole
    test_loop = StoreSuite.test_what_is_out_of_reach_is_neither_missing_nor_there
    test_probe = StoreSuite.test_probe_leaves_what_was_there


def test_a_large_folder_is_listed_whole_by_one_question(bench: Bench) -> None:
    bench.box.ssh(
        f"mkdir -p {shlex.quote(bench.root)}; cd {shlex.quote(bench.root)}; touch $(seq -f "
        "step-%04.0f 3000)"
    )
    assert bench.connect().names(bench.root) == tuple(
        f"step-{number:04}" for number in range(1, 3001)
    )


def test_a_name_that_is_not_utf_8_survives(bench: Bench) -> None:
    bench.box.ssh(
        f"mkdir -p {shlex.quote(bench.root)}; cd {shlex.quote(bench.root)}; echo -n 1 > $(printf "
        "'caf\\351')"
    )
    (name,) = bench.connect().names(bench.root)
    assert name == "caf\udce9"
    assert bench.connect().read(f"{bench.root}/{name}") == b"1"


def test_a_name_of_every_kind_survives_the_wire(bench: Bench) -> None:
    store, name = bench.connect(), "".join(StoreSuite.weird)
    store.create(f"{bench.root}/{name}/{name}", name.encode())
    assert store.names(bench.root) == (f"{name}/",)
    assert store.read(f"{bench.root}/{name}/{name}") == name.encode()


def test_a_path_without_a_scheme_lies_on_the_box(bench: Bench) -> None:
    store = RoutedStore(bench.place)
    store.create(f"{bench.root}/a", b"there")
    assert bench.box.ssh(f"cat {shlex.quote(bench.root)}/a").stdout == "there"


def test_a_box_out_of_reach_is_no_missing_file_and_is_whole_again_once_fixed(bench: Bench) -> None:
    store = bench.connect()
    store.create(f"{bench.root}/a", b"1")
    bench.box.cut()
    began = time.monotonic()
    for look in (store.read, store.names, store.probe):
        with pytest.raises(ConnectionError, match=f"{bench.box.name} .*Try again"):
            look(f"{bench.root}/a")
    assert time.monotonic() - began < 45
    bench.box.fix()
    assert store.read(f"{bench.root}/a") == b"1"


def test_a_full_disk_is_reported_and_nothing_of_the_write_stays(own_box: Box) -> None:
    bench = Bench(own_box, "/root/out")
    store = bench.connect()
    store.create(f"{bench.root}/a", b"1")
    own_box.ssh("cat /dev/zero > /root/filler 2>/dev/null; true")
    with pytest.raises(OSError, match=r"space.*device"):
        store.create(f"{bench.root}/b", b"2" * 100_000)
    with pytest.raises(OSError, match=r"space.*device"):
        store.probe(bench.root)
    assert store.names(bench.root) == ("a",)
