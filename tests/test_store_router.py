from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.store_router import RoutedStore

PLACE = Place("tiny", "state", "memory://tiny", ".")


def test_each_path_goes_to_the_store_of_its_scheme(tmp_path: Path) -> None:
    store, local, memory = RoutedStore(PLACE), f"{tmp_path}/out", "memory://routed/out"
    store.create(f"{local}/a", b"local")
    store.create(f"{memory}/a", b"memory")
    for root, data in ((local, b"local"), (memory, b"memory")):
        assert store.names(root) == ("a",) == tuple(entry.name for entry in store.entries(root))
        assert store.read(f"{root}/a") == data
        assert store.end(f"{root}/a", 2) == data[-2:]
        assert store.modified(f"{root}/a") is not None
        assert store.swap(f"{root}/a", data, b"new")
        assert store.generation(f"{root}/a")
        assert (store.region(root), store.rules(root)) == (None, ())
        store.probe(root)


def test_a_scheme_without_a_store_says_what_there_is() -> None:
    with pytest.raises(WrongUse, match=r"'ftp'.*: abfs, gs, local, memory, s3"):
        RoutedStore(PLACE).read("ftp://host/x")
