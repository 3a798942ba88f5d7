"""A health check is imported when it is asked, and judges as its file does."""

import json
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from herorun import check_index
from herorun.check_index import IndexedCheck, declarations, health_checks, index_file
from herorun.core.check import Check, Gate
from herorun.discover import checks, module_names, own_checks

STEMS = module_names(f"herorun.checks.{Gate.HEALTH}")


def test_the_index_holds_what_the_files_declare() -> None:
    assert json.loads(index_file().read_text()) == declarations(STEMS, own_checks)


def test_each_health_check_is_indexed_and_has_the_fields_of_its_file() -> None:
    for stem in STEMS:
        (check,) = health_checks([stem], own_checks)
        (own,) = own_checks(import_module(f"herorun.checks.health.{stem}"))
        assert isinstance(check, IndexedCheck)
        for field in fields(Check):
            assert getattr(check, field.name) == getattr(own, field.name), (stem, field.name)
        assert check.declared_limits == own.declared_limits
        assert check.default_limits == own.default_limits
        assert (check.doc, check.severity, check.reason) == (own.doc, own.severity, own.reason)


def test_a_check_whose_evidence_is_missing_is_not_imported() -> None:
    code = (
        "import sys; from herorun.core.check import Gate, evaluate; from herorun import discover\n"
        "checks = discover.checks(Gate.HEALTH)\n"
        "assert {f.verdict.outcome for f in evaluate(checks, {}, {})} >= {'unknown'}\n"
        "print(len(checks), *(m for m in sys.modules if m.startswith('herorun.checks.health.')))"
    )
    argv = [sys.executable, "-c", code]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    count, *imported_modules = process.stdout.split()
    assert int(count) == len(STEMS)
    assert len(imported_modules) < 3, (
        imported_modules
    )  # those that judge even what could not be read


def test_a_loop_imports_all_of_them_also_where_assertions_are_off() -> None:
    code = (
        "import sys; from types import SimpleNamespace; from herorun.core.check import Gate\n"
        "from herorun import discover; from herorun.operations.babysit.loop import _import_ahead\n"
        "_import_ahead(SimpleNamespace(health_checks=discover.checks(Gate.HEALTH)))\n"
        "print(sum(name.startswith('herorun.checks.health.') for name in sys.modules))"
    )
    argv = [sys.executable, "-O", "-c", code]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert int(process.stdout) == len(STEMS)


def test_a_file_that_the_index_lacks_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("{}", "{", None):
        path = tmp_path / "index.json"
        path.write_text(text) if text else path.unlink()
        monkeypatch.setattr(check_index, "index_file", lambda path=path: path)
        (check,) = health_checks(["loss_drift"], own_checks)
        assert type(check) is Check
        assert check.name == "loss-drift"


def test_a_file_that_was_edited_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_index, "_source_digest", lambda stem: "0" * 16)
    (check,) = health_checks(["loss_drift"], own_checks)
    assert type(check) is Check


def test_all_checks_of_the_gate_are_found() -> None:
    assert [check.name for check in checks(Gate.HEALTH)] == [s.replace("_", "-") for s in STEMS]
