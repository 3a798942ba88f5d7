"""The ping of `[notify] heartbeat`: after a tick that saw the whole run, and after no other."""

from collections.abc import Iterator

import pytest

from services.channel_servers import WebService, web_service
from stories import WAIT, Story
from wording import mentions

SECRET_UUID = "h1dden-uuid"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebService]:
    with web_service() as server:
        monkeypatch.setenv("PING", f"http://{server.place}/{SECRET_UUID}")
        yield server


@pytest.mark.thorough
def test_a_tick_that_saw_the_run_pings_and_no_other(
    story: Story,
    service: WebService,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    story.sign(notify={"heartbeat": "PING"})
    story.run_first_job(WAIT)
    assert service.deliveries == []
    story.tick()
    good = story.tick()
    assert service.deliveries == [(f"/{SECRET_UUID}", None)] * 2

    # another clone looks on: its ping would hide that this one is gone
    story.clone("elsewhere").tick()
    assert len(service.deliveries) == 2

    # a service that refuses is a warning, and changes nothing else
    service.fault = 503
    capsys.readouterr()
    assert story.tick() == good
    assert mentions(capsys.readouterr().out, "heartbeat", "not sent", "PING", "503")
    service.fault = None

    # what it could not see, it does not vouch for
    metrics = story.root / "metrics.jsonl"
    record = metrics.read_bytes()
    metrics.unlink()
    metrics.mkdir()
    story.tick()
    metrics.rmdir()
    metrics.write_bytes(record)
    assert len(service.deliveries) == 2

    texts = [p.read_text(errors="replace") for p in story.state.rglob("*") if p.is_file()]
    assert not any(SECRET_UUID in text for text in (*texts, capsys.readouterr().out))


@pytest.mark.thorough
def test_the_doctor_sends_a_ping_only_when_it_is_asked_to(
    story: Story, service: WebService, capsys: pytest.CaptureFixture[str]
) -> None:
    story.sign(notify={"heartbeat": "PING"})
    story.init()
    story.herorun("doctor", "tiny")
    assert service.deliveries == []
    assert "PING" in capsys.readouterr().out
    story.herorun("doctor", "tiny", "--send-test")
    assert service.deliveries == [(f"/{SECRET_UUID}", None)]


@pytest.mark.thorough
def test_a_variable_that_is_not_set_stops_the_launch(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PING", raising=False)
    story.sign(notify={"heartbeat": "PING"})
    story.init()
    assert story.launch() == 1
