"""A W&B server on loopback, and a key that it takes."""

from collections.abc import Iterator

import pytest

from services.wandb_server import KEY
from services.wandb_service import Reader, WandbService, reading, running


@pytest.fixture(scope="session")
def wandb_server() -> Iterator[WandbService]:
    with running() as service:
        yield service


@pytest.fixture(scope="session")
def wandb_reader() -> Iterator[Reader]:
    with reading() as reader:
        yield reader


@pytest.fixture
def wandb(wandb_server: WandbService, monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbService]:
    """The server, empty and without faults."""
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    wandb_server.put({})
    wandb_server.heal()
    yield wandb_server
    wandb_server.heal()
