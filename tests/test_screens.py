"""What people see, pinned once: every command's screen in every state, as a file that a person
reads. `make screens` renders them again.
"""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from builders import a_tree, answer
from herorun import discover
from herorun.checks.launch.dirty_tree import dirty_tree
from herorun.core.check import Gate
from screens import coverage, notices
from screens.collection import all_screens
from screens.refusals import refusal_screens
from screens.rendering import WIDTH, Screen, render
from screens.wording import pin_wording, pinned_texts

FOLDER = Path(__file__).parent / "screens"
SCREENS = all_screens()
UNWRAPPED_SCREENS = (
    "chain",
    "completion",
    "json",
    "metrics",
    "runbook",
    "schema",
    "timer",
)  # text for programs


@pytest.mark.parametrize("screen", SCREENS, ids=[screen.name for screen in SCREENS])
def test_a_screen_is_as_it_was_read(screen: Screen, tmp_path: Path) -> None:
    stored_screen = (FOLDER / f"{screen.name}.txt").read_text(encoding="utf-8")
    assert render(screen, tmp_path) == stored_screen, "`make screens`, and read the diff"


def test_no_screen_is_left_over_and_no_name_is_taken_twice() -> None:
    names = [screen.name for screen in SCREENS]
    assert sorted(names) == sorted(path.stem for path in FOLDER.glob("*.txt"))


def test_a_state_is_shown_and_not_a_refusal_to_show_it() -> None:
    """What a command asks next to what it is given must be given too."""
    names = [screen.name for screen in SCREENS if screen.answers and screen.name[:6] != "error-"]
    texts = {name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in names}
    refusals = {screen.name for screen in refusal_screens()}
    assert [name for name, text in texts.items() if "internal error" in text] == []
    wrong_uses = {name for name, text in texts.items() if "--- exit code 2" in text}
    assert wrong_uses - refusals == set()


def test_no_screen_begins_with_an_empty_line() -> None:
    """The first line below the command says what this is about; the demo has headings."""
    firsts = {screen.name: rendered_lines(screen)[1] for screen in SCREENS}
    assert [name for name, line in firsts.items() if not line] == ["demo"]


def rendered_lines(screen: Screen) -> list[str]:
    return (FOLDER / f"{screen.name}.txt").read_text(encoding="utf-8").splitlines()


def is_one_piece(line: str) -> bool:
    """A command, a path or a digest is pasted, so it stays whole."""
    starts = (
        "$ ",
        "digest ",
        "scp ",
        "herorun -C ",
        "next: herorun ",
        "next       herorun ",
        "(w=$(",
        "systemctl ",
    )
    return line.startswith(starts) or " " not in line.strip()


def test_a_screen_is_no_wider_than_the_terminal() -> None:
    wide = [
        (screen.name, line)
        for screen in SCREENS
        if not screen.name.startswith(UNWRAPPED_SCREENS)
        for line in (FOLDER / f"{screen.name}.txt").read_text(encoding="utf-8").splitlines()
        if len(line) > WIDTH and not is_one_piece(line.strip())
    ]
    assert wide == []


def codes_of(command: str) -> set[str]:
    """The exit codes of the screens of this command."""
    texts = [
        (FOLDER / f"{screen.name}.txt").read_text(encoding="utf-8")
        for screen in SCREENS
        if f"{screen.argv} ".startswith(f"{command} ")
    ]
    return {text.rpartition("--- exit code ")[2].strip() for text in texts}


def test_every_command_has_a_screen() -> None:
    assert [name for name in coverage.every_command() if not codes_of(name)] == []


def test_every_exit_code_that_a_command_explains_has_a_screen() -> None:
    """A code that cannot be shown is in `NO_SCREEN`, and no other."""
    promised_codes = coverage.promised_codes()
    without = {(name, code) for name, code in promised_codes if code not in codes_of(name)}
    assert without == set(coverage.NO_SCREEN)


def test_every_state_of_a_document_has_a_screen() -> None:
    """A new value of an enumeration is rendered, or `NOT_ON_A_SCREEN` says why not."""
    states = {screen.name: coverage.states_of(screen) for screen in SCREENS}
    assert coverage.missing(states.values()) == []
    assert coverage.needless_excuses(states.values()) == []
    del states["trust-rejected"]  # without its screen the value is missing
    assert coverage.missing(states.values()) == ["trust.result: rejected"]


def test_every_mark_of_a_finding_has_a_screen() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    assert coverage.missing_marks(texts.values()) == []
    for name in ("preflight-waived", "seal-no-remote"):  # without its screens the mark is missing
        del texts[name]
    assert coverage.missing_marks(texts.values()) == ["waived"]


def test_a_screen_that_changed_is_noticed(tmp_path: Path) -> None:
    (screen,) = [each for each in SCREENS if each.name == "status-healthy"]
    status, evidence, summary = screen.answers["herorun.operations.report.status.status_of_run"]
    stale_status = status.model_copy(update={"monitor": "stale"})
    target = "herorun.operations.report.status.status_of_run"
    other = Screen(
        "other", screen.argv, {**screen.answers, target: (stale_status, evidence, summary)}
    )
    assert render(other, tmp_path) != render(screen, tmp_path)


def test_what_a_check_says_in_other_words_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/checks/launch/test_dirty_tree.py")
    verdict = answer(dirty_tree, a_tree(unstaged=("train.py",)))
    with pytest.raises(AssertionError, match="make screens"):
        pin_wording(dirty_tree, [replace(verdict, message="1 change on 3f2a9c1d0: train.py")])


@pytest.mark.parametrize("gate", list(Gate))
def test_what_is_pinned_is_reported_by_a_check_that_there_is(gate: Gate) -> None:
    assert set(pinned_texts(gate)) <= {check.name for check in discover.checks(gate)}


def test_no_bracket_follows_a_bracket() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.txt")}
    assert [path.name for path, text in texts.items() if ") (" in text] == []


def test_what_is_pinned_for_a_test_is_of_one_that_there_is() -> None:
    screens = [
        (path.stem, name)
        for path in notices.FOLDER.glob("*.txt")
        for name in {test.split()[0] for test in notices.pinned_notices(path.stem)}
        if f"def {name}(" not in notices.source_of(path.stem).read_text(encoding="utf-8")
    ]
    assert screens == []


def test_a_notice_in_other_words_is_noticed() -> None:
    module, texts = "trackers.test_jsonl", notices.pinned_notices("trackers.test_jsonl")
    test, text = next(iter(texts.items()))
    assert text == notices.Notice(module, test)
    assert text + " again" != notices.Notice(module, test)


@pytest.mark.parametrize("name", ["catalogue", "orders", "refusals", "outcomes", "details"])
def test_no_name_of_a_catalogue_is_bound_twice(name: str) -> None:
    """The screens are rendered lazily: of two tables with one name, both loops read the later."""
    module = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    names = [
        target.id
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []
