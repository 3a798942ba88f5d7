"""What is read from a check's file is what importing it tells."""

from pathlib import Path

import pytest

from herorun.core.check import Gate
from herorun.core.check_text import CheckLine, parse_check_line, parse_check_text
from herorun.discover import check_lines, check_texts, checks


def _traits(check: object) -> tuple[object, ...]:
    return tuple(getattr(check, name) for name in ("name", "gate", "response", "always", "doc"))


def test_every_check_is_explained_as_it_is_imported() -> None:
    names = checks()
    for name in sorted({check.name for check in names}):
        imported_traits = [_traits(check) for check in names if check.name == name]
        assert [_traits(text) for text in check_texts(name)] == imported_traits, name


def test_nearly_every_check_is_read_from_its_file() -> None:
    folder = Path(__file__).parents[2] / "src" / "herorun" / "checks"
    unread_checks = [
        path.stem
        for gate in Gate
        for path in (folder / gate).glob("[a-z]*.py")
        if parse_check_text(path.read_text(encoding="utf-8"), path.stem) is None
    ]
    assert unread_checks == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "@check(Gate.LAUNCH, Response.WARN)\ndef other(): ...",
        "@check(GATE, Response.WARN)\ndef moon(): ...",
        "@check(Gate.LAUNCH, Response.WARN, always=ALWAYS)\ndef moon(): ...",
        2 * "@check(Gate.LAUNCH, Response.WARN)\ndef moon(): ...\n",
    ],
)
def test_what_the_file_does_not_tell_plainly_is_not_guessed(source: str) -> None:
    assert parse_check_text(source, "moon") is None
    assert parse_check_line(f'"""The moon."""\n\n{source}', "moon") is None or "always" in source


def test_the_list_says_what_importing_every_check_says() -> None:
    lines = check_lines()
    problems = sorted((line.gate, line.name, line.problem) for line in lines)
    assert problems == sorted((check.gate, check.name, check.problem) for check in checks())
    assert [line.name for line in lines if not isinstance(line, CheckLine)] == []


def test_a_check_that_documents_itself_is_not_listed_by_its_file() -> None:
    own = '@check(Gate.LAUNCH, Response.WARN)\ndef moon():\n    """Own.\n\n    Why: it is.\n    """'
    assert parse_check_line(f'"""The file."""\n\n{own}', "moon") is None
