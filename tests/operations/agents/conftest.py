"""Ends the server that the last of these tests leaves."""

from collections.abc import Iterator

import pytest

from operations.through_mcp import end_server


@pytest.fixture(scope="session", autouse=True)
def no_server_stays() -> Iterator[None]:
    yield
    end_server()
