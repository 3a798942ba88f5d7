"""The printed catalogue is what the TOML files say, and counts for no other ones."""

import json
from pathlib import Path

import pytest

from herorun import signatures


def test_the_printed_catalogue_is_the_one_of_the_files() -> None:
    assert signatures.PRINTED.read_text(encoding="utf-8") == signatures.catalogue_json()


def test_no_toml_is_parsed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = json.loads(signatures.catalogue_json())["documents"]
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
    monkeypatch.setattr(signatures, "PRINTED", path)
    assert signatures._documents() == documents
