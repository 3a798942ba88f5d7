"""Requests to a file system that is slow, that blocks, or whose errors hold secrets."""

import threading
import time
from typing import Any

import pytest
from fsspec.asyn import AsyncFileSystem

from herorun.stores import _fsspec
from herorun.stores._fsspec import Requests


async def answer(_: Any) -> str:
    return "well"


async def blocking(_: Any) -> None:
    time.sleep(0.5)  # as a client does that asks for its credentials in between


async def failing(_: Any) -> None:
    raise RuntimeError("refused at https://user:hunter2hunter2@host/x\nand more")


def file_system() -> AsyncFileSystem:
    return AsyncFileSystem(skip_instance_cache=True)


def test_a_file_system_is_opened_once_and_only_when_it_is_used() -> None:
    file_systems: list[AsyncFileSystem] = []

    def opening() -> AsyncFileSystem:
        file_systems.append(file_system())
        return file_systems[-1]

    requests = Requests(opening, 5)
    assert file_systems == []
    assert [requests.ask("gs://b", answer) for _ in range(2)] == ["well", "well"]
    assert len(file_systems) == 1


def test_a_client_that_is_never_ready_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fsspec, "OPENING", 0.1)
    never = threading.Event()
    with pytest.raises(OSError, match=r"gs://b.*ready.*0\.1s"):
        Requests(never.wait, 5).ask("gs://b", answer)
    never.set()


def test_a_client_that_blocks_its_own_loop_is_a_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fsspec, "GRACE", 0.1)
    with pytest.raises(TimeoutError, match=r"gs://b.*within.*0\.1s"):
        Requests(file_system, 0.1).ask("gs://b", blocking)


def test_an_error_is_one_line_that_says_where_and_no_secret() -> None:
    with pytest.raises(OSError, match=r"^gs://b/x: RuntimeError: refused at .* and more$") as error:
        Requests(file_system, 5).ask("gs://b/x", failing)
    assert "hunter2" not in str(error.value)
