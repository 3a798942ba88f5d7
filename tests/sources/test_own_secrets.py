"""The babysitter's own environment: names, never values."""

from typing import Any

import pytest

from builders import a_contract
from herorun.core.evidence import Nothing, OwnSecrets
from herorun.core.ports import Place
from herorun.schedulers import local
from herorun.sources.own_secrets import read_own_secrets


def scheduler() -> Any:
    return local.connect(local.Options(), Place("tiny", "state", "/data/tiny", "."))


def test_which_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET_HERE", "hush")
    monkeypatch.setenv("EMPTY_HERE", "")
    monkeypatch.delenv("UNSET_HERE", raising=False)
    contract = a_contract(command={"secrets": ["SET_HERE", "EMPTY_HERE", "UNSET_HERE"]})

    assert read_own_secrets(contract, scheduler()) == OwnSecrets(frozenset({"SET_HERE"}))


def test_none_are_needed_or_they_travel_otherwise() -> None:
    assert isinstance(read_own_secrets(a_contract(), scheduler()), Nothing)
    elsewhere = scheduler()
    elsewhere.secrets_source = "the runtime environment of the cluster"
    contract = a_contract(command={"secrets": ["SET_HERE"]})
    assert isinstance(read_own_secrets(contract, elsewhere), Nothing)
