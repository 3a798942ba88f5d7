"""A folder in which jobs that nobody planned are started, and a state folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs_alone import Alone
from stories import forget


@pytest.fixture
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alone]:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (home / "w").mkdir()
    world = Alone(home / "w")
    yield world
    world.end()
    forget()
