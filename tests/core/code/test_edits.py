"""Which edits of the work tree can change the training."""

from typing import Any

import pytest

from builders import a_contract, a_tree
from herorun.core.code.impact import blocking_changes, list_ignored_files
from herorun.core.contract import ContractFile
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import ImportClosure, Nothing, Submodule, Unavailable

FILE = ContractFile("runs/tiny.toml", "text", "text")
CLOSED = ImportClosure(frozenset({"train.py", "tests/support.py"}), "train.py")


def changed(closure: Any = CLOSED, **edits: Any) -> tuple[str, ...]:
    return blocking_changes(a_contract(), FILE, a_tree(**edits), closure)


@pytest.mark.parametrize("kind", ["staged", "unstaged", "untracked", "hidden", "importable"])
def test_every_kind_of_change_counts(kind: str) -> None:
    assert changed(**{kind: ("model.py", "README.md")}) == ("model.py",)


@pytest.mark.parametrize("path", ["README.md", "tests/test_model.py", "runs/tiny.toml", "sub"])
def test_what_cannot_change_the_training_does_not(path: str) -> None:
    assert changed(unstaged=(path,), submodules=(Submodule(path="sub", commit="c0"),)) == ()


def test_what_the_entry_point_imports_counts_wherever_it_lies() -> None:
    assert changed(unstaged=("tests/support.py",)) == ("tests/support.py",)


def test_where_nobody_knows_what_it_imports_nobody_says_that_nothing_counts() -> None:
    unread = Unavailable("cannot be parsed")
    with pytest.raises(CouldNotLook, match=unread.why):
        changed(unread, unstaged=("tests/support.py",))
    assert changed(unread, unstaged=("tests/support.py", "model.py")) == ("model.py",)
    assert changed(unread) == changed(Nothing(), unstaged=("README.md",)) == ()


def test_what_lies_in_a_submodule_is_not_added() -> None:
    tree = a_tree(
        importable=("sub/x.py", "subtle.py"), submodules=(Submodule(path="sub", commit="c0"),)
    )
    assert list_ignored_files(tree) == ("subtle.py",)
