"""The contract of stores, as the other package tests its own adapter."""

import sqlite3
from pathlib import Path

import pytest

from herorun import adapters
from herorun.core.ports import Place, Store
from ports.store_suite import StoreBench, StoreSuite


class Bench:
    def __init__(self, folder: Path) -> None:
        self.root, self.file = "shelf://books/tiny", folder / "shelf.sqlite"

    def connect(self) -> Store:
        place = Place("tiny", "state", self.root, ".")
        return adapters.connect("stores", "theirs", {"file": str(self.file)}, place)

    def cut_off(self, path: str) -> None:
        with sqlite3.connect(self.file) as database:
            key = path.removeprefix("shelf://")
            database.execute("insert into files (path, modified) values (?, 0)", (key,))


class TestShelf(StoreSuite):
    has_empty_folders = False

    @pytest.fixture
    def bench(self, tmp_path: Path) -> StoreBench:
        return Bench(tmp_path)
