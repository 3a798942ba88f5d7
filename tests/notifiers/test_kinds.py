"""The notifiers that [notify] kinds may name, as a contract is read."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.contract import Notify
from herorun.core.errors import WrongTable
from herorun.core.ports import AdapterOptions
from herorun.runs import notifiers
from stories import SLUG, WAIT, Story
from wording import mentions


def _is_sendable(monkeypatch: pytest.MonkeyPatch, module: Any) -> bool:
    monkeypatch.setattr(notifiers, "adapter_module", module)
    try:
        notifiers.must_be_sendable(Notify(kinds=["pager"]))
    except WrongTable:
        return False
    return True


@pytest.mark.parametrize(
    ("default", "is_sendable"), [("PAGER_URL", True), (None, True), ("", False)]
)
def test_a_notifier_of_another_package_may_know_its_variable(
    default: str | None, is_sendable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Options(AdapterOptions):
        variable: str | None = default

    module = SimpleNamespace(Options=Options)
    assert _is_sendable(monkeypatch, lambda *_: module) is is_sendable


def test_a_notifier_that_cannot_be_imported_keeps_no_run_from_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raise_import_error(*_: str) -> Any:
        raise ImportError("no module named pager")

    assert _is_sendable(monkeypatch, raise_import_error)


PAGER = """
from herorun.core.ports import AdapterOptions
class Options(AdapterOptions):
    pass
class Pager:
    def post(self, post):
        return "sent"
    def find(self, key):
        return None
def connect(options, place):
    return Pager()
"""


@pytest.fixture
def pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The module of an installed package that offers the notifier `pager`."""
    facts = tmp_path / "hero_pager-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Name: hero-pager\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[herorun.notifiers]\npager = hero_pager\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "hero_pager.py"
    sys.modules.pop("hero_pager", None)


@pytest.mark.parametrize("source", ["raise ImportError('no twilio')", "def connect(): ..."])
def test_a_run_whose_notifier_cannot_be_loaded_any_more_is_monitored_and_the_fault_reported(
    story: Story, pager: Path, capsys: pytest.CaptureFixture[str], source: str
) -> None:
    pager.write_text(PAGER)
    story.order("tiny-1", WAIT)
    story.init()
    story.sign(notify={"kinds": ["pager"]})
    assert story.launch() == 0
    sys.modules.pop("hero_pager")
    pager.write_text(source)
    capsys.readouterr()
    assert story.herorun("babysit", SLUG, "--once", "--json") in {0, 1}
    assert json.loads(capsys.readouterr().out)["monitor"] == "fresh"
    assert story.herorun("preflight", SLUG) == 1
    assert mentions(capsys.readouterr().out, "missing-channel", "pager", "loaded")
