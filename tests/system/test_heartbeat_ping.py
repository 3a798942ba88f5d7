"""One GET of a dead-man's switch, and what is said where it fails; never the secret URL."""

import re
from collections.abc import Iterator

import pytest

from herorun.system import heartbeat_ping
from herorun.system.heartbeat_ping import ping, ping_problem
from screens.notices import Notice
from services.channel_servers import WebService, web_service
from wording import mentions

SECRET_UUID = "h1dden-uuid"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebService]:
    with web_service() as server:
        monkeypatch.setenv("PING", f"http://{server.place}/{SECRET_UUID}")
        yield server


def test_it_is_one_get_of_the_url(service: WebService) -> None:
    assert ping("PING") == ""
    assert service.deliveries == [(f"/{SECRET_UUID}", None)]


@pytest.mark.parametrize("status", [404, 410, 500])
def test_an_answer_that_is_no_success_is_named(service: WebService, status: int) -> None:
    service.fault = status
    assert ping("PING") == f"PING answered {status}"


def test_a_service_that_hangs_holds_nobody_up(
    service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat_ping, "ANSWER", 0.2)
    service.fault = "hang"
    assert mentions(ping("PING"), "PING", "answer")


def test_a_name_server_that_hangs_holds_nobody_up(
    service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat_ping, "MAX_SECONDS", 0.1)
    service.fault = "hang"
    assert mentions(ping("PING"), "PING", "answer")


@pytest.mark.parametrize(
    "value",
    [
        "",
        SECRET_UUID,
        f"file:///{SECRET_UUID}",
        f"http://[{SECRET_UUID}",
    ],
)
def test_what_is_no_url_is_never_asked(
    value: str, monkeypatch: pytest.MonkeyPatch, notice: Notice
) -> None:
    monkeypatch.setenv("PING", value)
    assert ping_problem("PING") == ping("PING")
    assert ping("PING") == notice


@pytest.mark.parametrize(
    "url", [f"http://127.0.0.1:1/{SECRET_UUID}", f"http://{SECRET_UUID}.invalid:99999/"]
)
def test_nobody_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PING", url)
    assert re.match("PING (could not|holds no)", ping("PING"))
