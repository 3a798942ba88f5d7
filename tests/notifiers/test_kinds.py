"""The notifiers that [notify] kinds may name, as a contract is read."""

from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.contract import Notify
from herorun.core.errors import WrongTable
from herorun.core.ports import AdapterOptions
from herorun.runs import notifiers


def _is_sendable(monkeypatch: pytest.MonkeyPatch, module: Any) -> bool:
    monkeypatch.setattr(notifiers, "adapter_module", module)
    try:
        notifiers.must_be_sendable(Notify(kinds=["pager"]))
    except WrongTable:
        return False
    return True


@pytest.mark.parametrize(("default", "is_sendable"), [("PAGER_URL", True), ("", False)])
def test_a_notifier_of_another_package_may_know_its_variable(
    default: str, is_sendable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Options(AdapterOptions):
        variable: str = default

    module = SimpleNamespace(Options=Options)
    assert _is_sendable(monkeypatch, lambda *_: module) is is_sendable


def test_a_notifier_that_cannot_be_imported_keeps_no_run_from_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raise_import_error(*_: str) -> Any:
        raise ImportError("no module named pager")

    assert _is_sendable(monkeypatch, raise_import_error)
