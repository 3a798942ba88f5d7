"""The printed signatures are what the TOML files say, and count for no other ones."""

import json
from pathlib import Path

import pytest

from herorun import signatures
from herorun.core.redaction.scrub import scrub
from herorun.core.triage.incremental import OwnLog
from herorun.core.triage.parse import parse
from herorun.sources.job_log import job_log_of


def test_the_printed_catalogue_is_the_one_of_the_files() -> None:
    assert signatures.SHIPPED_FILE.read_text(encoding="utf-8") == signatures.shipped_json()


def test_no_advice_looks_like_a_secret() -> None:
    """It is scrubbed with the rest of what is shown, and a masked word is no advice."""
    advices = [row.advice for row in parse(signatures._documents()).signatures]
    assert [advice for advice in advices if scrub(advice) != advice] == []


def test_no_toml_is_parsed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = json.loads(signatures.shipped_json())["documents"]
    monkeypatch.setattr(signatures.tomllib, "loads", lambda text: pytest.fail("parsed"))
    assert signatures._documents() == documents


@pytest.mark.parametrize("text", ["{}", "[", '{"of": "another", "documents": []}', None])
def test_another_print_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    documents = signatures._documents()
    path = tmp_path / "shipped.json"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(signatures, "SHIPPED_FILE", path)
    assert signatures._documents() == documents


def test_the_shipped_rows_are_read_when_a_line_is_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    signature_set, documents = signatures._load_shipped_set.__wrapped__(), signatures._documents
    monkeypatch.setattr(signatures, "_rows", signatures._rows.__wrapped__)
    monkeypatch.setattr(signatures, "_documents", lambda: pytest.fail("read"))
    assert signature_set.digest
    assert job_log_of(signature_set, OwnLog(instance="grug-1")).overdue == ()
    monkeypatch.setattr(signatures, "_documents", documents)
    rows = parse(documents()).signatures
    assert (signature_set.signatures, signature_set.signature(rows[0].id)) == (rows, rows[0])
    assert not hasattr(signature_set, "rows")
