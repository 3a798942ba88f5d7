"""What every checkpoint layout must do. A test file subclasses `LayoutSuite` and gives it a `bench`."""

from collections.abc import Callable
from typing import Protocol

import pytest

from herorun.core.ports import Layout, Store


class LayoutBench(Protocol):
    layout: Layout
    store: Store
    root: str  # does not exist until something is saved in it

    def save(self, step: int, *, temporary: bool = False, finished: bool = True) -> str:
        """Write a checkpoint as the trainer does and return its path; unfinished as if it was killed."""

    def prune(self, path: str) -> None:
        """Delete a checkpoint as the trainer does."""

    def cut_off(self, path: str) -> None:
        """Let a checkpoint's mark of completeness be there and not be readable."""


class Meanwhile:
    """A store during whose first listing something else happens, right after the names were taken."""

    def __init__(self, store: Store, act: Callable[[], None]) -> None:
        self._store, self._act, self._done = store, act, False

    def names(self, path: str) -> tuple[str, ...]:
        names = self._store.names(path)
        if not self._done:
            self._done = True
            self._act()
        return names

    def read(self, path: str) -> bytes:
        return self._store.read(path)

    def create(self, path: str, data: bytes) -> None:
        self._store.create(path, data)

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        return self._store.swap(path, before, after)

    def probe(self, root: str) -> None:
        self._store.probe(root)


class LayoutSuite:
    @pytest.fixture
    def bench(self) -> LayoutBench:
        raise NotImplementedError

    def test_checkpoints_come_by_number_and_not_by_name(self, bench: LayoutBench) -> None:
        paths = [bench.save(step) for step in (9, 10, 100, 2)]
        found = bench.layout.candidates(bench.store, bench.root, temporary=False)
        assert [candidate.step for candidate in found] == [2, 9, 10, 100]
        assert {candidate.path for candidate in found} == set(paths)
        assert all(candidate.complete and candidate.root == bench.root for candidate in found)

    def test_an_unfinished_one_is_listed_with_its_problem(self, bench: LayoutBench) -> None:
        bench.save(10)
        bench.save(20, finished=False)
        ten, twenty = bench.layout.candidates(bench.store, bench.root, temporary=False)
        assert ten.complete
        assert twenty.problem

    def test_a_missing_root_is_said(self, bench: LayoutBench) -> None:
        with pytest.raises(FileNotFoundError):
            bench.layout.candidates(bench.store, bench.root, temporary=False)

    def test_an_unreadable_one_is_never_called_incomplete(self, bench: LayoutBench) -> None:
        bench.save(10)
        bench.cut_off(bench.save(20))
        with pytest.raises(OSError, match=r".") as caught:
            bench.layout.candidates(bench.store, bench.root, temporary=False)
        assert not isinstance(caught.value, FileNotFoundError)

    def test_one_that_is_pruned_meanwhile_is_left_out(self, bench: LayoutBench) -> None:
        doomed = bench.save(10)
        bench.save(20)
        store = Meanwhile(bench.store, lambda: bench.prune(doomed))
        found = bench.layout.candidates(store, bench.root, temporary=False)
        assert [(candidate.step, candidate.problem) for candidate in found] == [(20, "")]

    def test_what_the_checkpoint_says_of_being_temporary_wins(self, bench: LayoutBench) -> None:
        bench.save(10, temporary=True)
        bench.save(20, temporary=False)
        for told in (True, False):
            found = bench.layout.candidates(bench.store, bench.root, temporary=told)
            assert [candidate.temporary for candidate in found] == [True, False]

    def test_final_names_the_path_that_the_trainer_writes(self, bench: LayoutBench) -> None:
        assert bench.layout.final(bench.root, 200) == bench.save(200)
        assert bench.layout.final(f"{bench.root}/", 200) == bench.save(200)

    def test_a_root_with_a_trailing_slash_is_the_same_root(self, bench: LayoutBench) -> None:
        bench.save(10)
        assert bench.layout.candidates(bench.store, f"{bench.root}/", False) == bench.layout.candidates(
            bench.store, bench.root, False
        )

    def test_many_are_found(self, bench: LayoutBench) -> None:
        for step in range(100):
            bench.save(step)
        found = bench.layout.candidates(bench.store, bench.root, temporary=False)
        assert [candidate.step for candidate in found] == list(range(100))
