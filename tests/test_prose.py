"""What people read is plain English: the words below are idioms, and each has a plain replacement.
Its wording is pinned once, by `make screens`, and not by the other tests, which assert data.

Pages count with all their text, so that docstrings and help count by the pages that are printed
from them; messages are the string literals of the package that hold a space.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from pinned_wording import all_triples, nodes_of, pinned_in, strings

TOP = Path(__file__).parents[1]
SRC = TOP / "src" / "herorun"
TESTS = TOP / "tests"
TEMPLATES = TOP / "templates"
PLAIN = {
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix, correct",
    r"who(?:m)?ever": "the person who, everyone who",
    r"g(?:o|oes|oing|one) on with": "continue",
    r"(?:go|goes|going|went) on": "continue",
    r"(?:take|takes|took|taken|taking) note of": "acknowledge",
    r"(?:nobody|no one) (?:can|could) (?:tell|say)": "it is unknown",
    r"nobody knows": "it is unknown",
    r"books lag": "the accounting is late",
    r"only looks?": "reads, changes nothing",
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
# The same of comments and docstrings alone: a message may quote what a person or a program said.
QUANTITIES = ("all", "part", "some", "whole", "more", "most", "none")
IN_REMARKS = {
    "".join(rf"(?<!{w} )" for w in QUANTITIES) + "of it": "its, or the thing's name",
    r"told": "reported, notified",
    r"said": "reported, stated",
    r"tells? (?:of|no|nothing)": "reports, has no",
    r"knows? of": "has",
    r"amounts? to": "means, is",
    r"of late": "recently",
    r"(?:there|where)by": "so",
    r"too little of": "short",
}
# The same of tests: of their names, and of all docstrings in their files.
IN_NAMES = {
    r"anew": "again",
    r"beside": "next to",
    r"mend(?:s|ed|ing)?": "fix, correct",
    r"(?:goes|went) on(?! (?:with|to|top)\b)": "continues",
    r"stands? still": "stays constant",
    r"(?:wakes?|tells?) (?:nobody|nothing)": "raises no alert, shows nothing",
    r"tells? (?:of|apart)": "reports, distinguishes",
    r"swallow(?:s|ed|ing)?": "hides",
    r"all the same": "anyway",
    r"for ever": "forever",
    r"(?:is|are|was|were|be) (?:told|said)$": "is reported",
}
IN_DOCSTRINGS = {
    r"anew": "again",
    r"beside": "next to",
    r"mend(?:s|ed)": "fixes, fixed",
    r"for ever": "forever",
    r"all the same": "anyway",
    r"stands still": "stays constant",
}
# What is still to be rewritten, by folder of the package; a number only ever gets smaller.
REMAINING_PINS: dict[str, int] = {}
WRITTEN_BY_OTHERS = {"CHANGELOG.md"}  # says what was, in the words of its time
FORBIDDEN_WORDS = re.compile(rf"\b(?:{'|'.join(PLAIN)})\b|(?:[;,:]|\band|#) else\b", re.IGNORECASE)
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "templates/**/*.md", "checkin/*.md")
    for path in TOP.glob(pattern)
    if path.name not in WRITTEN_BY_OTHERS
)


def idioms(text: str) -> list[str]:
    return [match[0] for match in FORBIDDEN_WORDS.finditer(" ".join(text.split()))]


def idioms_of_remark(text: str) -> list[str]:
    """Those of all text, and those that only comments and docstrings must not have."""
    return [*idioms(text), *(match[0] for match in _IN_REMARKS.finditer(" ".join(text.split())))]


_IN_REMARKS = re.compile(rf"\b(?:{'|'.join(IN_REMARKS)})\b", re.IGNORECASE)


@cache
def messages(path: Path) -> tuple[str, ...]:
    """The strings of a module that are no docstring; the parts of one f-string are one message."""
    return tuple(strings(ast.parse(path.read_text(encoding="utf-8"))))


def idioms_of_package() -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for path in sorted(SRC.rglob("*.py")):
        room = path.relative_to(SRC).parts[0]
        fields.setdefault(room, []).extend(
            f"{path.relative_to(SRC)}: {word!r} in {text!r}"
            for text in messages(path)
            if " " in text.strip()
            for word in idioms(text)
        )
    return fields


def test_a_page_is_in_plain_english() -> None:
    lines = [
        (str(page.relative_to(TOP)), line)
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
    ]
    assert [each for each in lines if idioms(each[1])] == []


def test_messages_are_in_plain_english() -> None:
    too_many = {
        room: each
        for room, each in idioms_of_package().items()
        if len(each) > REMAINING_PINS.get(room, 0)
    }
    assert too_many == {}


def remarks(code: str) -> Iterator[str]:
    """The comments of a module, and its docstrings without examples and names in backticks."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in nodes_of(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text, _, _ = (ast.get_docstring(node) or "").partition(">>>")
            yield re.sub("`[^`]*`", "``", text)


def test_comments_and_docstrings_are_in_plain_english() -> None:
    paths = sorted([*SRC.rglob("*.py"), *TEMPLATES.rglob("*.py")])
    codes = {path: path.read_text(encoding="utf-8") for path in paths}
    wrong = [
        f"{path.relative_to(TOP)}: {idiom!r} in {remark!r}"
        for path, code in codes.items()
        if idioms_of_remark(code) or idioms_of_remark(code.replace("#", ""))  # few are parsed
        for remark in remarks(code)
        for idiom in idioms_of_remark(remark)
    ]
    assert wrong == []


def test_a_docstring_names_what_it_describes() -> None:
    """Not "Of the queue", with the thing left to the function's name."""
    begins = [
        path.relative_to(SRC).as_posix()
        for path in sorted(SRC.rglob("*.py"))
        if re.search(r'^ *"""Of (?!all\b|course\b)', path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert begins == []


def test_an_idiom_of_a_comment_or_a_docstring_is_noticed() -> None:
    code = 'def f():\n    """Nothing of it.\n\n    `beside`.\n    """\n    g()  # all the same\n'
    assert [each for remark in remarks(code) for each in idioms(remark)] == [
        "all the same",
        "Nothing of it",
    ]
    code = '"""What a log\ntells of a job."""\nf()  # all of it; the age\n# of it, as told\n'
    assert [each for remark in remarks(code) for each in idioms_of_remark(remark)] == [
        "of it",
        "told",
        "tells of",
    ]


@dataclass(frozen=True)
class TestText:
    """What a file of tests says in the names of its tests, and in its docstrings."""

    __test__ = False
    names: list[str]
    docstrings: list[str]


def text_of(tree: ast.Module) -> TestText:
    every = nodes_of(tree)
    nodes = [node for node in every if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    documented_nodes = [tree, *nodes, *(n for n in every if isinstance(n, ast.ClassDef))]
    return TestText(
        [node.name.replace("_", " ") for node in nodes if node.name.startswith("test_")],
        [" ".join((ast.get_docstring(node) or "").split()) for node in documented_nodes],
    )


def idioms_of_tests(tree: ast.Module) -> list[str]:
    text = text_of(tree)
    pairs = ((IN_NAMES, text.names), (IN_DOCSTRINGS, text.docstrings))
    return [
        f"{match[0]!r} in {each!r}"
        for words, texts in pairs
        for each in texts
        for match in re.finditer("|".join(rf"\b{word}\b" for word in words), each)
    ]


def may_hold_idioms(code: str) -> bool:
    """Few files need to be parsed: most hold none of the words anywhere."""
    return _IN_CODE.search(" ".join(code.replace("_", " ").split())) is not None


_IN_CODE = re.compile(
    rf"\b(?:{'|'.join(word.removesuffix('$') for word in {*IN_NAMES, *IN_DOCSTRINGS})})\b"
)


def test_the_tests_are_named_in_plain_english() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    wrong = {
        str(path.relative_to(TOP)): idioms
        for path, text in texts.items()
        if may_hold_idioms(text) and (idioms := idioms_of_tests(ast.parse(text)))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "code",
    [
        "def test_it_begins_anew(): ...",
        "async def test_what_changed_is_told(): ...",
        "def test_it():\n    'One beside the other.'",
        "class A:\n    'It is mended.'",
        "'It stands still.'",
    ],
)
def test_an_idiom_of_a_test_is_noticed(code: str) -> None:
    assert may_hold_idioms(code)
    assert len(idioms_of_tests(ast.parse(code))) == 1


def test_the_tests_pin_data_and_leave_the_wording_to_the_screens() -> None:
    triples = all_triples(text for path in SRC.rglob("*.py") for text in messages(path))
    pinned_counts = {
        str(path.relative_to(TOP)): texts
        for path in TESTS.rglob("*.py")
        if (texts := pinned_in(ast.parse(path.read_text(encoding="utf-8")), triples))
    }
    assert pinned_counts == {}, "assert what the message is about, or the `notice` of tests/screens"


MESSAGE = all_triples(["the tag is not signed"])


@pytest.mark.parametrize(
    "code",
    [
        "assert 'tag is not signed' in text",
        "assert problem(tag) == 'the tag is not signed'",
        "assert mentions(text, 'tag is not signed')",
        "assert any('tag is not signed' in each for each in texts)",
        "with pytest.raises(OSError, match='is not signed'): verify(tag)",
        "@pytest.mark.parametrize('text', ['is not signed'])\ndef test(text): assert text in out",
        "@pytest.mark.parametrize('text', ['is not signed'])\ndef test(text): must_say(text)",
        "@pytest.mark.parametrize('b', ['is not signed'])\ndef test(b):\n a = b\n assert x() == a",
    ],
)
def test_an_assertion_that_pins_wording_is_noticed(code: str) -> None:
    assert len(pinned_in(ast.parse(code), MESSAGE)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "assert 'tag-1' in text",
        "assert problem('the tag is not signed') == ''",
        "assert RECORDED['tag is not signed'].state is FAILED",
        "assert isinstance(read('is not signed'), Nothing)",
        "@pytest.mark.parametrize('a', ['is not signed'])\ndef test(a): assert scrub(a) == a",
        "reads('tag is not signed')\nassert error == 'tag is not signed'",
    ],
)
def test_what_a_test_puts_in_pins_no_wording(code: str) -> None:
    assert pinned_in(ast.parse(code), MESSAGE) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("the job goes on", ["goes on"]),
        ("mend it; else ask", ["mend", "; else"]),
        ("it was\ntold", ["was told"]),
        ("continue, or else", []),
        ("It is unknown whether it ran.", []),
    ],
)
def test_an_idiom_is_noticed(text: str, lines: list[str]) -> None:
    assert idioms(text) == lines
