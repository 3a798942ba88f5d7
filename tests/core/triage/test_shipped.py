"""The signatures that are installed."""

import threading
from functools import cache
from typing import Any

import pytest

from herorun import signatures
from herorun.core.triage.signatures import SignatureSet


def test_a_fleet_whose_first_ticks_come_at_once_reads_the_catalogue_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, together, real = [], threading.Barrier(4), signatures.parse

    def count_load(*args: Any) -> SignatureSet:
        calls.append(args)
        return real(*args)

    def ask() -> None:
        together.wait(30)
        _ = signatures.load_signature_set().signatures

    monkeypatch.setattr(signatures, "parse", count_load)
    for name in ("_load_shipped_set", "_rows"):
        monkeypatch.setattr(signatures, name, cache(getattr(signatures, name).__wrapped__))
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(calls) == 1
