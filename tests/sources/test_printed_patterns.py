"""What the signatures wait for, looked up in packages that are really installed."""

import sys
from pathlib import Path

import pytest

from builders import a_contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Installed, Nothing, PrintedPatterns
from herorun.core.ports import Place
from herorun.sources import printed_patterns
from herorun.sources.printed_patterns import read_printed_patterns
from wording import mentions

ROW = """[[signature]]
id = "{id}"
class = "node-failure"
role = "root"
keywords = ["{keyword}"]
pattern = "{keyword}"
advice = "Look at it."
printed_by = "{package}"
"""
HERE = Installed(sys.executable, {"pytest": pytest.__version__})


def read(top: Path, rows: str, packages: Installed | Nothing = HERE) -> PrintedPatterns | Nothing:
    (top / "rows.toml").write_text(rows)
    contract = a_contract(babysit={"signatures": "rows.toml"})
    return read_printed_patterns(contract, Place("tiny", str(top), "/data", str(top)), packages)


def test_words_that_the_package_holds_are_found_and_others_are_lost(tmp_path: Path) -> None:
    rows = ROW.format(id="there", keyword="internalerror>", package="pytest")
    keyword = "never printed by it"
    rows += ROW.format(id="gone", keyword=keyword, package="pytest")
    rows += ROW.format(id="absent", keyword="whatever else", package="no-such-package")
    evidence = read(tmp_path, rows)
    assert isinstance(evidence, PrintedPatterns)
    assert dict(evidence.present) == {"there": f"pytest {pytest.__version__}"}
    problems = dict(evidence.absent)
    assert mentions(problems.pop("gone"), f"pytest {pytest.__version__}", "none", f"'{keyword}'")
    assert mentions(problems.pop("absent"), "no-such-package", "not installed") and problems == {}


def test_a_word_across_two_parts_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_patterns, "PART", 7)
    evidence = read(tmp_path, ROW.format(id="there", keyword="internalerror>", package="pytest"))
    assert isinstance(evidence, PrintedPatterns) and "there" in evidence.present


def test_without_such_rows_or_without_an_interpreter_there_is_nothing(tmp_path: Path) -> None:
    rows = ROW.format(id="x", keyword="internalerror>", package="pytest")
    assert isinstance(read(tmp_path, rows.replace('printed_by = "pytest"', "")), Nothing)
    assert isinstance(read(tmp_path, rows, Nothing("the job runs elsewhere")), Nothing)


def test_an_interpreter_that_does_not_answer_is_no_answer(tmp_path: Path) -> None:
    rows = ROW.format(id="x", keyword="internalerror>", package="pytest")
    with pytest.raises(CouldNotLook):
        read(tmp_path, rows, Installed("/bin/false", {"pytest": "9"}))
