"""Which edits of the work tree can change the training."""

from typing import Any

import pytest

from builders import a_contract, a_tree
from herorun.core.code.impact import blocking_changes, list_ignored_files
from herorun.core.contract import ContractFile
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import ImportClosure, Nothing, Submodule, Unavailable

FILE = ContractFile("runs/tiny.toml", "text", "text")
CLOSURE = ImportClosure(frozenset({"train.py", "tests/support.py"}), "train.py")


def changes_that_block(closure: Any = CLOSURE, **edits: Any) -> tuple[str, ...]:
    return blocking_changes(a_contract(), FILE, a_tree(**edits), closure)


@pytest.mark.parametrize("kind", ["staged", "unstaged", "untracked", "hidden", "importable"])
def test_every_kind_of_change_counts(kind: str) -> None:
    assert changes_that_block(**{kind: ("model.py", "README.md")}) == ("model.py",)


@pytest.mark.parametrize("path", ["README.md", "tests/test_model.py", "runs/tiny.toml", "sub"])
def test_what_cannot_change_the_training_does_not(path: str) -> None:
    assert (
        changes_that_block(unstaged=(path,), submodules=(Submodule(path="sub", commit="c0"),)) == ()
    )


def test_what_the_entry_point_imports_counts_wherever_it_lies() -> None:
    assert changes_that_block(unstaged=("tests/support.py",)) == ("tests/support.py",)


def test_where_nobody_knows_what_it_imports_nobody_says_that_nothing_counts() -> None:
    unread_evidence = Unavailable("cannot be parsed")
    with pytest.raises(CouldNotLook, match=unread_evidence.why):
        changes_that_block(unread_evidence, unstaged=("tests/support.py",))
    assert changes_that_block(unread_evidence, unstaged=("tests/support.py", "model.py")) == (
        "model.py",
    )
    assert (
        changes_that_block(unread_evidence)
        == changes_that_block(Nothing(), unstaged=("README.md",))
        == ()
    )


def test_what_lies_in_a_submodule_is_not_added() -> None:
    tree = a_tree(
        importable=("sub/x.py", "subtle.py"), submodules=(Submodule(path="sub", commit="c0"),)
    )
    assert list_ignored_files(tree) == ("subtle.py",)
