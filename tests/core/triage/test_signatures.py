"""The rows: whole, quick on any line, and open to a user's own."""

import time
from typing import Any

import pytest

from core.triage.judged import judge_text
from herorun.core.errors import WrongUse
from herorun.core.triage.classes import LineRole
from herorun.core.triage.parse import parse
from herorun.core.triage.signatures import LogSignature
from herorun.signatures import load_signature_set
from screens.notices import Notice

SIGNATURES = load_signature_set().signatures
ROW = {
    "id": "mine",
    "class": "data",
    "role": "root",
    "keywords": ["flux"],
    "pattern": "flux capacitor",
    "advice": "Mend it.",
}
LONG = 8_192  # what grows with the square takes a fourth of the time that the longest line takes


def hostile(signature: LogSignature) -> list[str]:
    keyword = signature.keywords[0]
    fills = [
        keyword,
        keyword + " ",
        " ",
        "a",
        "0",
        "a.",
        "(",
        "[",
        ": ",
        "=",
        "- ",
        "/a",
        "error: ",
        '"a": ',
        "loss nan ",
    ]
    repeated_texts = [(fill * LONG)[:LONG] for fill in fills]
    return repeated_texts + [
        keyword + fill * (LONG - 40) + "!" for keyword in signature.keywords for fill in (" ", "x")
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("signature", SIGNATURES, ids=[s.id for s in SIGNATURES])
def test_no_line_takes_a_pattern_long(signature: LogSignature) -> None:
    for line in hostile(signature):
        began = time.thread_time()
        signature.pattern.search(line)
        assert time.thread_time() - began < 0.0625, line[:40]


@pytest.mark.parametrize("rule", ["hedges", "source_text"])
def test_no_line_takes_the_rules_long(rule: str) -> None:
    for line in hostile(SIGNATURES[0]):
        began = time.thread_time()
        getattr(load_signature_set(), rule).search(line)
        assert time.thread_time() - began < 0.0625


def test_every_row_says_what_to_do_and_where_it_is_from() -> None:
    assert len({s.id for s in SIGNATURES}) == len(SIGNATURES) > 50
    for signature in SIGNATURES:
        assert signature.advice.endswith(".") and signature.source, signature.id
        assert not signature.confirms or signature.role is LineRole.CONFIRMATION


def own(**changes: Any) -> Any:
    return parse(DOCUMENTS, [("mine.toml", {"signature": [{**ROW, **changes}]})])


DOCUMENTS = [
    {
        "rules": {
            "stems": ["error"],
            "hedges": "might",
            "source_text": "^import",
            "exit_code": [],
            "exceptions": {"small": [], "small_in_one_file": [], "cascade": []},
        }
    }
]


def test_a_row_of_ones_own_is_asked() -> None:
    assert judge_text("the FLUX capacitor broke", signature_set=own()).failure == "data"


def test_a_row_of_ones_own_takes_the_place_of_a_shipped_one() -> None:
    shipped_row = {**ROW, "class": "timeout"}
    names = parse([*DOCUMENTS, {"signature": [shipped_row]}], [("mine.toml", {"signature": [ROW]})])
    assert judge_text("flux capacitor", signature_set=names).failure == "data"
    assert len(names.signatures) == 1


def test_a_row_of_ones_own_may_name_a_shipped_one_as_it_was_called_before() -> None:
    shipped_row = {**ROW, "id": "process-cascade"}
    row = {**ROW, "id": "slurm-cascade", "confirms": ["slurm-cascade", "exit-1"]}
    names = parse([*DOCUMENTS, {"signature": [shipped_row]}], [("mine.toml", {"signature": [row]})])
    (signature,) = names.signatures
    assert (signature.id, signature.confirms[0]) == ("process-cascade", "process-cascade")


@pytest.mark.parametrize(
    "changes",
    [
        {"class": "gremlins"},
        {"role": "hero"},
        {"strength": "huge"},
        {"keywords": []},
        {"keywords": ["12345"]},
        {"advice": ""},
        {"colour": "red"},
        {"due_mib": "64"},
        {"due_mib": -1},
    ],
)
def test_a_wrong_row_is_named(changes: dict[str, Any], notice: Notice) -> None:
    with pytest.raises(WrongUse, match=r"mine\.toml") as wrong:
        own(**changes)
    assert str(wrong.value) == notice


def test_a_pattern_that_is_no_regular_expression_is_named() -> None:
    with pytest.raises(WrongUse, match=r"mine\.toml: signature mine: the pattern.* expression"):
        own(pattern="(")


def test_each_wrong_row_of_a_file_is_named_in_one_answer() -> None:
    rows = [ROW | {"id": "first", "keywords": []}, ROW, ROW | {"id": "third", "class": "datta"}]
    with pytest.raises(WrongUse, match=r"first: keywords.*third: class 'datta'"):
        parse([{"rules": {}}], [("mine.toml", {"signature": rows})])
