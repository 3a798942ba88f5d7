import pytest

from builders import a_contract, a_tree, answer
from herorun.checks.launch.dirty_tree import dirty_tree
from herorun.core.evidence import ImportClosure, Submodule, Unavailable, WorkTree
from herorun.core.finding import Outcome
from wording import mentions


def test_a_clean_tree_passes():
    assert answer(dirty_tree).message == "clean at 3f2a9c1d0"


@pytest.mark.parametrize(
    "kind",
    [
        "staged",
        "unstaged",
        "untracked",
        "hidden",
        "importable",
    ],
)
def test_every_kind_of_change_is_named(kind, notice):
    verdict = answer(dirty_tree, a_tree(**{kind: ("train.py",)}))

    assert verdict.outcome is Outcome.FAIL
    (detail,) = verdict.details
    assert detail == notice and detail.startswith("train.py (")
    assert mentions(verdict.message, "1 uncommitted", "3f2a9c1d0", detail)
    assert verdict.subject == ""


@pytest.mark.parametrize(
    "kind",
    ["eol_only", "mode_only"],
)
def test_what_kind_of_modification_is_reported(kind, notice):
    verdict = answer(dirty_tree, a_tree(unstaged=("train.py", "model.py"), **{kind: ("train.py",)}))

    assert verdict.outcome is Outcome.FAIL
    detail, other = verdict.details
    assert detail == notice and detail.startswith("train.py (modified, ")
    assert other == "model.py (modified)"


def test_many_files_are_counted_in_the_message_and_listed_in_the_details():
    verdict = answer(dirty_tree, a_tree(untracked=tuple(f"{n}.py" for n in range(9))))

    assert verdict.message.startswith("9 uncommitted changes")
    assert verdict.message.endswith("and 6 more")
    assert len(verdict.details) == 9


def test_a_flood_of_files_is_cut_in_the_details():
    verdict = answer(dirty_tree, a_tree(untracked=tuple(f"{n}.py" for n in range(5000))))

    assert verdict.message.startswith("5000 uncommitted changes")
    assert verdict.details[-1] == "and 4800 more"
    assert len(verdict.details) == 201


def test_what_cannot_change_the_training_passes_and_is_reported():
    verdict = answer(
        dirty_tree, a_tree(untracked=("README.md", "notes.md"), unstaged=("tests/a.py",))
    )

    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "change", "3f2a9c1d0")
    names, rest = verdict.details
    assert mentions(names, "tests/a.py (modified)", "cannot") and mentions(rest, "2 more")


def test_only_what_can_change_the_training_is_counted():
    verdict = answer(dirty_tree, a_tree(unstaged=("README.md", "tests/a.py", "train.py")))

    assert mentions(verdict.message, "1 uncommitted", "3f2a9c1d0", "train.py (modified)")
    counted_line, names, rest = verdict.details
    assert counted_line == "train.py (modified)"
    assert mentions(names, "tests/a.py (modified)", "cannot") and mentions(rest, "1 more")


def test_what_the_entry_point_imports_fails_wherever_it_lies():
    closure = ImportClosure(
        frozenset({"train.py", "tests/a.py"}), "train.py", ("model.py: no Python",)
    )
    verdict = answer(dirty_tree, a_tree(unstaged=("tests/a.py",)), closure)

    assert verdict.outcome is Outcome.FAIL
    assert verdict.details == ("tests/a.py (modified)", "model.py: no Python")


def test_the_contract_says_what_counts():
    rules = a_contract(code={"impact": {"tools/": "ignore", "*.md": "block"}})

    assert answer(dirty_tree, a_tree(untracked=("tools/plot.py",)), rules).outcome is Outcome.PASS
    assert answer(dirty_tree, a_tree(untracked=("README.md",)), rules).outcome is Outcome.FAIL


def test_what_differs_inside_a_submodule_is_reported_by_its_own_check():
    tree = a_tree(
        unstaged=("third",), submodules=(Submodule(path="third", commit="12" * 20, modified=True),)
    )

    assert answer(dirty_tree, tree).outcome is Outcome.PASS


def test_an_unread_tree_is_unknown():
    verdict = answer(dirty_tree, {WorkTree: Unavailable("git status: no answer within 60 s")})

    assert verdict.outcome is Outcome.UNKNOWN
    assert "60 s" in verdict.message
