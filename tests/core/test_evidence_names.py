"""Messages name evidence in plain words, never by its type."""

import re

import pytest

from herorun.core import evidence as types
from herorun.core.evidence_log import KINDS
from herorun.core.evidence_names import NAMES, evidence_name, format_gaps
from wording import mentions


def test_every_name_is_plain_words() -> None:
    names = {kind: evidence_name(kind) for kind in KINDS}
    assert {kind: name for kind, name in names.items() if not re.fullmatch(r"[a-z' ]+", name)} == {}


def test_no_two_types_have_one_name() -> None:
    names = [evidence_name(kind) for kind in KINDS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_belongs_to_a_type(kind: str) -> None:
    assert hasattr(types, kind)


def test_gaps_name_what_was_not_read_and_each_reason_once() -> None:
    same, other = format_gaps(["Job: 503", "Metrics: gone", "JobLog: 503", "Disks: 503"])
    assert mentions(same, "job", "log", "disk", "503") and same.count("503") == 1
    assert mentions(other, "metrics", "gone")
    assert format_gaps(["Job: squeue: 503"]) == ["the job (squeue: 503)"]
    assert format_gaps(["no type", "another"]) == ["no type, another"]
    assert mentions(format_gaps(["all: distrusted"])[0], "any", "distrusted")
