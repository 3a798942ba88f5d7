"""Ends the server that the last of these tests leaves."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_server_stays() -> Iterator[None]:
    yield
    # its client takes a second of CPU to import, which only the tests that talk to it do
    if through_mcp := sys.modules.get("operations.through_mcp"):
        through_mcp.end_server()
