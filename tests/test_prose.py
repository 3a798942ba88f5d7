"""What people read is plain English: the words below are idioms, and each has a plain replacement.
Its wording is pinned once, by `make screens`, and not by the other tests, which assert data.

Pages count with all their text, so that docstrings and help count by the pages that are printed
from them; messages are the string literals of the package that hold a space.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SRC = TOP / "src" / "herorun"
TESTS = TOP / "tests"
PLAIN = {
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix, correct",
    r"who(?:m)?ever": "the person who, everyone who",
    r"g(?:o|oes|oing|one) on with": "continue",
    r"(?:go|goes|going|went) on": "continue",
    r"(?:take|takes|took|taken|taking) note of": "acknowledge",
    r"(?:nobody|no one) (?:can|could) (?:tell|say)": "it is unknown",
    r"nobody knows yet": "it is unknown",
    r"as far as": "if, where",
    r"and so(?! (?:is|are|does|do|on)\b)": "so",
    r"beside": "next to, in addition to",
    r"all the same": "anyway",
    r"for ever": "forever, permanently",
    r"(?:is|are|was|were|be) (?:told|said)": "is reported, is notified",
    r"hands still": "suspend",
    r"nothing of it": "none of its",
    r"stands? still": "does not change",
    r"in the way of": "block",
}
# What is still to be rewritten, by folder of the package; a number only ever gets smaller.
LEFT: dict[str, int] = {}
# Assertions that pin three or more words in a row of a message; a number only ever gets smaller.
PINNED = 170
WRITTEN_BY_OTHERS = {"CHANGELOG.md"}  # says what was, in the words of its time
FORBIDDEN = re.compile(
    "|".join(rf"\b{words}\b" for words in PLAIN) + r"|[;,] else\b", re.IGNORECASE
)
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "templates/**/*.md", "checkin/*.md")
    for path in TOP.glob(pattern)
    if path.name not in WRITTEN_BY_OTHERS
)


def idioms(text: str) -> list[str]:
    return [match[0] for match in FORBIDDEN.finditer(" ".join(text.split()))]


@cache
def messages(path: Path) -> tuple[str, ...]:
    """The strings of a module that are no docstring; the parts of one f-string are one message."""
    return tuple(strings(ast.parse(path.read_text(encoding="utf-8"))))


def strings(tree: ast.AST) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in ast.walk(node)}
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "_" for p in node.values)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def idioms_of_package() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(SRC.rglob("*.py")):
        room = path.relative_to(SRC).parts[0]
        found.setdefault(room, []).extend(
            f"{path.relative_to(SRC)}: {word!r} in {text!r}"
            for text in messages(path)
            if " " in text.strip()
            for word in idioms(text)
        )
    return found


def triples(text: str) -> set[tuple[str, ...]]:
    """Each three words that follow each other with nothing between them."""
    parts = [part.lower().split() for part in re.split(r"[^a-zA-Z' -]+", text)]
    return {tuple(part[at : at + 3]) for part in parts for at in range(len(part) - 2)}


def asserted(tree: ast.AST) -> Iterator[ast.AST]:
    """What a test compares with: assertions, `match=`, and tables of parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value
        elif isinstance(node, ast.Call) and named(node.func) == "parametrize":
            yield from node.args


def named(function: ast.expr) -> str:
    """Its last name: to unparse all calls of the tests takes seconds."""
    return getattr(function, "attr", getattr(function, "id", ""))


def pinned_in(tree: ast.AST, said: set[tuple[str, ...]]) -> list[str]:
    return [
        text
        for node in asserted(tree)
        if (text := next((text for text in strings(node) if triples(text) & said), None))
    ]


def test_a_page_is_in_plain_english() -> None:
    lines = [
        (str(page.relative_to(TOP)), line)
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
    ]
    assert [each for each in lines if idioms(each[1])] == []


def test_messages_are_in_plain_english() -> None:
    too_many = {
        room: each for room, each in idioms_of_package().items() if len(each) > LEFT.get(room, 0)
    }
    assert too_many == {}


def test_the_tests_pin_data_and_leave_the_wording_to_the_screens() -> None:
    said = {
        triple for path in SRC.rglob("*.py") for text in messages(path) for triple in triples(text)
    }
    tests = (ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py"))
    pinned = [text for tree in tests for text in pinned_in(tree, said)]
    assert len(pinned) <= PINNED, "assert what the message is about, and `make screens`"


def test_an_assertion_that_pins_wording_is_noticed() -> None:
    said = triples("the tag is not signed")
    code = "assert 'tag is not signed' in text\nassert 'tag-1' in text"
    assert pinned_in(ast.parse(code), said) == ["tag is not signed"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the job goes on", ["goes on"]),
        ("mend it; else ask", ["mend", "; else"]),
        ("it was\ntold", ["was told"]),
        ("continue, or else", []),
        ("It is unknown whether it ran.", []),
    ],
)
def test_an_idiom_is_noticed(text: str, found: list[str]) -> None:
    assert idioms(text) == found
