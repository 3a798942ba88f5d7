"""What a person is asked to trust, and what is kept of the answer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.evidence import LaunchProof
from herorun.operations.orders import trust as module
from herorun.system.user_trust import ITEMS, LAUNCHES, REJECTIONS, read_trusted_items
from wording import mentions


def a_question(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *,
    to_prove: tuple[str, ...] = (),
    to_accept: tuple[str, ...] = (),
    seals: tuple[str, ...] = (),
    unproven: Any = None,
    closed_text: str = "",
    items: tuple[str, ...] = (),
) -> module.TrustQuestion:
    """`apply_proof` fills in what nothing proves, as it does when a run is opened."""
    contract = object()
    record = SimpleNamespace(
        fetch=lambda: None,
        unproven_seals=lambda: [(SimpleNamespace(statement_digest=each), "why") for each in seals],
    )
    run: Any = SimpleNamespace(
        slug="tiny", contract=contract, record=record, repository=SimpleNamespace(main=folder)
    )

    def apply_proof(run: Any, contract: Any) -> None:
        assert contract is run.contract
        run.to_prove, run.to_accept, run.unproven, run.closed = (
            to_prove, to_accept, unproven, closed_text,
        )  # fmt: skip

    monkeypatch.setattr(module, "open_run", lambda name, start: run)
    monkeypatch.setattr(module, "must_be_the_users", lambda contract, repository: None)
    monkeypatch.setattr(module, "apply_proof", apply_proof)
    monkeypatch.setattr(module, "list_untrusted", lambda contract, repository: items)
    monkeypatch.setattr(module, "launch_id", lambda launching: f"id of {launching}")
    return module.build_question("tiny", folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("HERORUN_TRUST", raising=False)
    return tmp_path / "work"


def test_a_run_of_which_nothing_is_doubted_asks_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    question = a_question(monkeypatch, folder)
    assert question.nothing and len(question.lines()) == 1 and not question.can_reject
    module.accept(question)
    assert read_trusted_items(folder, ITEMS) == read_trusted_items(folder, LAUNCHES) == frozenset()


@pytest.mark.parametrize(
    ("changes", "launches"),
    [
        ({"unproven": LaunchProof(("a",), ("b",))}, ("a", "b")),
        ({"closed_text": "it is closed"}, ("it is closed",)),
        ({"unproven": LaunchProof(("a",)), "closed_text": "it is closed"}, ("a",)),
    ],
)
def test_what_nothing_proves_is_asked_in_words(
    monkeypatch: pytest.MonkeyPatch, folder: Path, changes: Any, launches: tuple[str, ...]
) -> None:
    question = a_question(monkeypatch, folder, **changes)
    assert question.launches == launches and not question.nothing
    _, *entries, examine, _ = question.lines()
    assert [line.strip() for line in entries] == list(launches)
    assert mentions(examine, "logbook", "tiny", "pushed")


@pytest.mark.parametrize(
    ("changes", "forged_ids"),
    [
        ({"to_prove": ("x",), "to_accept": ("y",)}, ("id of x",)),
        ({"to_accept": ("y",)}, ("id of y",)),
        ({"to_accept": ("y",), "seals": ("s",)}, ()),
    ],
)
def test_a_rejection_is_about_what_is_bad_and_else_about_all(
    monkeypatch: pytest.MonkeyPatch, folder: Path, changes: Any, forged_ids: tuple[str, ...]
) -> None:
    question = a_question(monkeypatch, folder, **changes)
    assert question.forged == forged_ids and question.can_reject
    module.reject(question)
    assert read_trusted_items(folder, REJECTIONS) == {*forged_ids, *changes.get("seals", ())}
    assert read_trusted_items(folder, LAUNCHES) == frozenset()


def test_an_acceptance_trusts_items_and_launches_and_no_seal(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    question = a_question(
        monkeypatch, folder, items=("[gate] hook",), to_prove=("x",), to_accept=("y",), seals=("s",)
    )
    module.accept(question)
    assert read_trusted_items(folder, ITEMS) == {"[gate] hook"}
    assert read_trusted_items(folder, LAUNCHES) == {"id of x", "id of y"}
    assert read_trusted_items(folder, REJECTIONS) == frozenset()
