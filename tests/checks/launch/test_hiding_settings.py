import pytest

from builders import COMMIT, a_tree, answer, answers
from herorun.checks.launch.hiding_settings import hiding_settings
from herorun.core.check import Response
from herorun.core.evidence import Submodule, Unavailable, WorkTree
from herorun.core.finding import Outcome
from wording import mentions

DIRTY = (Submodule(path="lib", commit=COMMIT, checked_out=COMMIT, untracked=True),)
HIDDEN_CHANGES = [
    ("status.showUntrackedFiles=no", {"untracked": ("new.py",)}),
    ("core.fileMode=false", {"unstaged": ("run.sh",), "mode_only": ("run.sh",)}),
    ("core.ignoreStat=true", {"hidden": ("a.py",)}),
    ("diff.ignoreSubmodules=all", {"submodules": DIRTY}),
    ("submodule.lib.ignore=all", {"submodules": DIRTY}),
]


def test_no_setting_passes_and_it_never_blocks():
    assert mentions(answer(hiding_settings).message, "setting", "hides")
    assert hiding_settings.response is Response.WARN


@pytest.mark.parametrize(("setting", "changes"), HIDDEN_CHANGES)
def test_a_setting_that_hides_nothing_now_is_named_and_passes(setting, changes):
    verdict = answer(hiding_settings, a_tree(settings=(setting,)))

    assert (verdict.outcome, verdict.details) == (Outcome.PASS, (setting,))


@pytest.mark.parametrize(("setting", "changes"), HIDDEN_CHANGES)
def test_one_that_hides_what_is_there_is_found(setting, changes):
    verdict = answer(hiding_settings, a_tree(settings=(setting,), **changes))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, setting.partition("=")[0])
    assert setting in verdict.message


def test_another_submodule_is_not_hidden():
    tree = a_tree(settings=("submodule.other.ignore=all",), submodules=DIRTY)

    assert answer(hiding_settings, tree).outcome is Outcome.PASS


def test_both_kinds_are_reported():
    tree = a_tree(
        settings=("core.fsmonitor=true", "status.showUntrackedFiles=no"), untracked=("new.py",)
    )
    first, second = answers(hiding_settings, tree)

    assert (first.subject, first.outcome) == ("status.showUntrackedFiles", Outcome.FAIL)
    assert (second.outcome, second.details) == (Outcome.PASS, ("core.fsmonitor=true",))


def test_an_unread_tree_is_unknown():
    assert answer(hiding_settings, {WorkTree: Unavailable("no answer")}).outcome is Outcome.UNKNOWN
