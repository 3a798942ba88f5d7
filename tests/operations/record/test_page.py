"""Pages by the real command line, over a web service on loopback: what goes out, what waits, and
what is said of it.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_contract
from herorun.core.babysit.action_key import Verb, verb_of
from herorun.core.event import Done, Event, Failed, Intended
from herorun.core.notify.page_policy import PageBudget
from herorun.notifiers.channel import AppriseChannel
from herorun.operations.babysit.tick import run_tick
from herorun.operations.record import page
from herorun.runs import watched_run
from herorun.system.clock import now
from services.channel_servers import WebService, web_service
from stories import CRASH, Story
from wording import mentions

SECRET_TOKEN = "tok3n-h1dden"
NOTIFY_TABLES: dict[str, Any] = {
    "notify": {"targets": ["ALERTS", "MAIL"]},
    "babysit": {"cadence": "1s"},
}
ASKING = NOTIFY_TABLES | {"babysit": {"cadence": "1s", "recovery": "ask"}}


@pytest.fixture
def service() -> Iterator[WebService]:
    with web_service() as server:
        yield server


@pytest.fixture
def paged_story(story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A run whose DRI, who launches it, has two channels."""
    monkeypatch.setenv("ALERTS", f"json://{service.place}/first-{SECRET_TOKEN}")
    monkeypatch.setenv("MAIL", f"json://{service.place}/second-{SECRET_TOKEN}")
    story.sign(**NOTIFY_TABLES)
    return story


def titles_of(service: WebService) -> list[str]:
    return [body["title"] for _, body in service.deliveries]


def issue(story: Story) -> str:
    return (story.state / "issue.md").read_text()


def sendings(story: Story) -> list[Event]:
    return [line.event for line in story.lines if _is_sending(line.event)]


def _is_sending(event: Event) -> bool:
    return verb_of(getattr(event, "key", "")) == Verb.PAGE


def printed_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_notifier_that_only_sends_takes_pages_too(story: Story) -> None:
    story.sign(notify={"kinds": ["terminal"]}, babysit={"cadence": "1s"})
    story.order("tiny-2", "true")
    story.run_first_job(CRASH)
    story.tick()
    keys = [event.key for event in sendings(story) if isinstance(event, Done)]
    assert keys and all("terminal" in key for key in keys), keys


def test_a_crash_and_its_relaunch_are_paged_once(paged_story: Story, service: WebService) -> None:
    paged_story.order("tiny-2", "true")
    paged_story.run_first_job(CRASH)
    assert titles_of(service) == []  # the DRI launched it
    paged_story.tick()
    paged_story.wait_for_end("tiny-2")
    (title,) = titles_of(service)
    assert mentions(title, "tiny: crashed [tiny-1] (critical); ", "Relaunch", "tiny-2")
    ((path, body),) = service.deliveries
    assert path == f"/first-{SECRET_TOKEN}"
    assert mentions(body["message"], "SIGKILL", "Relaunch requested", "Since ", " UTC")
    assert mentions(body["message"], "an hour", "`herorun status tiny`", "Issue: ")
    paged_story.tick()
    assert titles_of(service)[1:] == ["tiny: tiny-2 finished"]
    assert mentions(service.deliveries[-1][1]["message"], "an hour", "`herorun status tiny`")


@pytest.mark.thorough
def test_each_message_goes_to_the_channel_that_is_for_it(
    paged_story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER", f"json://{service.place}/third-{SECRET_TOKEN}")
    routes = {"page": ["ALERTS"], "inform": ["MAIL"], "targets": None}
    second = {"secondary": ["OTHER"], "secondary_after": "1ms"}
    paged_story.sign(**ASKING | {"notify": {**routes, **second}, "hardware": {"count": 8}})
    paged_story.run_first_job(CRASH)
    for _ in range(3):
        paged_story.tick()
    by_path: dict[str, list[str]] = {}
    for path, body in service.deliveries:
        by_path.setdefault(path.partition("-")[0], []).append(f"{body['title']} {body['message']}")
    assert mentions(by_path["/first"], "tiny: ", "crashed", "8 accelerator-hours")
    (request,) = by_path["/third"]
    assert mentions(request, "tiny: ", "not acknowledged", "crashed", "herorun ack")
    assert not any("not acknowledged" in text for text in by_path["/first"])
    assert not any("crashed" in text for text in by_path.get("/second", []))


@pytest.mark.thorough
def test_a_watch_continues_until_the_quiet_hours_end(
    paged_story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = timedelta(hours=1)
    quiet = f"{now() - hour:%H:%M}-{now() + hour:%H:%M}"
    paged_story.sign(**NOTIFY_TABLES | {"notify": {"targets": ["ALERTS"], "quiet_hours": quiet}})
    paged_story.run_first_job()
    for _ in range(3):
        assert not run_tick(*watched_run("tiny", paged_story.work)).is_complete
    assert titles_of(service) == []
    monkeypatch.setattr(page, "now", lambda: now() + 2 * hour)
    assert run_tick(*watched_run("tiny", paged_story.work)).is_complete
    assert titles_of(service) == ["tiny: tiny-1 finished"]


@pytest.mark.thorough
def test_an_escalation_names_its_reason_and_the_choices_wherever_it_is_reported(
    paged_story: Story, service: WebService
) -> None:
    paged_story.sign(**ASKING)
    paged_story.run_first_job(CRASH)
    paged_story.tick()
    (words,) = [body["message"] for _, body in service.deliveries if "Escalation" in body["title"]]
    for text in (words, issue(paged_story)):
        assert mentions(text, "decision", "next")
        assert "- `herorun approve tiny`: " in text
        assert "- `herorun deny tiny`: " in text
    assert "Issue: " in words


@pytest.mark.thorough
def test_somebody_else_launches_and_the_dri_is_notified_before(
    paged_story: Story, service: WebService
) -> None:
    paged_story.sign(**NOTIFY_TABLES, dri="@other")
    assert paged_story.init() == 0
    service.fault = 500
    assert paged_story.launch() == 1
    assert paged_story.starts == []
    service.fault = None
    assert paged_story.launch() == 0
    paged_story.wait_for_end("tiny-2")
    (title,) = titles_of(service)
    assert mentions(title, "tiny: ", "Launch requested", "tiny-2")
    paged_story.tick()
    assert not mentions(titles_of(service), "Launch requested", "tiny-1")  # it never was


@pytest.mark.thorough
def test_a_channel_that_fails_is_followed_by_the_next(
    paged_story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALERTS", f"json://127.0.0.1:1/{SECRET_TOKEN}")
    paged_story.run_first_job(CRASH)
    paged_story.tick()
    assert {path for path, _ in service.deliveries} == {f"/second-{SECRET_TOKEN}"}
    assert {e.key.split("/")[1] for e in sendings(paged_story) if isinstance(e, Failed)} == {
        "ALERTS"
    }


@pytest.mark.thorough
def test_what_reaches_nobody_is_a_finding_and_is_sent_later(
    paged_story: Story, service: WebService, capsys: pytest.CaptureFixture[str]
) -> None:
    paged_story.sign(**ASKING)
    paged_story.run_first_job(CRASH)
    service.fault = 500
    paged_story.tick()
    capsys.readouterr()
    assert paged_story.tick("--json") == 1
    observations = printed_json(capsys)
    (finding,) = [f for f in observations["findings"] if f["check"] == "undelivered-escalation"]
    assert finding["outcome"] == "fail"
    assert mentions(finding["message"], "ALERTS", "answered", "500")
    assert "undelivered-escalation" in issue(paged_story)
    assert any(doubt.startswith("undelivered: ") for doubt in observations["doubts"])
    service.fault = None
    eventually_ticked(paged_story, service)
    assert mentions(titles_of(service), "Escalation", "tiny-1")
    assert len(set(titles_of(service))) == len(titles_of(service))
    capsys.readouterr()
    paged_story.tick("--json")
    (finding,) = [
        f for f in printed_json(capsys)["findings"] if f["check"] == "undelivered-escalation"
    ]
    assert finding["outcome"] == "pass"


def eventually_ticked(story: Story, service: WebService) -> None:
    """Tick until the back-off of a second or two is over."""
    for _ in range(40):
        story.tick()
        if not story.run.record.memory().pages.waiting:
            return
    raise AssertionError(f"still waiting after {service.request_count} requests")


@pytest.mark.thorough
def test_an_interrupted_sending_is_repeated_once_and_says_so(
    paged_story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged_story.run_first_job(CRASH)
    with monkeypatch.context() as patch:
        patch.setattr(AppriseChannel, "post", _interrupt)
        assert paged_story.tick() == 130
        assert paged_story.tick() == 130
    paged_story.tick()
    crash = [
        (path, body["message"]) for path, body in service.deliveries if "crashed" in body["title"]
    ]
    ((path, _),) = crash
    assert path == f"/second-{SECRET_TOKEN}"  # the first was interrupted twice, and perhaps said it


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.thorough
def test_one_that_was_interrupted_once_says_that_it_may_be_a_repeat(
    paged_story: Story, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged_story.run_first_job(CRASH)
    with monkeypatch.context() as patch:
        patch.setattr(AppriseChannel, "post", _interrupt)
        assert paged_story.tick() == 130
    paged_story.tick()
    assert mentions(service.deliveries[0][1]["message"], "repeat")
    assert all(not mentions(body["message"], "repeat") for _, body in service.deliveries[1:])


@pytest.mark.thorough
def test_no_address_reaches_the_record_the_issue_the_state_or_the_screen(
    paged_story: Story, service: WebService, capfd: pytest.CaptureFixture[str]
) -> None:
    service.fault = 500
    paged_story.run_first_job(CRASH)
    paged_story.tick()
    paged_story.tick("--json")
    record = "\n".join(line.text for line in paged_story.run.record.lines())
    files = [
        path.read_bytes().decode(errors="replace")
        for path in paged_story.state.rglob("*")
        if path.is_file()
    ]
    for text in (record, issue(paged_story), *files, *capfd.readouterr()):
        assert SECRET_TOKEN not in text
    assert "ALERTS" in record


@pytest.mark.thorough
def test_without_channels_nothing_is_paged(story: Story) -> None:
    story.run_first_job(CRASH)
    story.tick()
    assert sendings(story) == []
    assert not any(e.event.page for e in story.run.record.lines() if isinstance(e.event, Intended))


def test_a_channel_that_cannot_be_used_stops_a_launch(
    paged_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MAIL")
    monkeypatch.setenv("ALERTS", f"nope://{SECRET_TOKEN}")
    paged_story.init()
    capsys.readouterr()
    assert paged_story.herorun("preflight", "tiny", "--json") == 1
    out = capsys.readouterr().out
    messages = {
        f["subject"]: f["message"]
        for f in json.loads(out)["findings"]
        if f["check"] == "missing-channel"
    }
    assert [*messages] == ["ALERTS", "MAIL"]
    assert mentions(messages["ALERTS"], "no address", "apprise") and mentions(
        messages["MAIL"], "not set"
    )
    assert SECRET_TOKEN not in out


@pytest.mark.thorough
def test_repeats_beyond_the_budget_are_told_of_later(
    paged_story: Story, service: WebService
) -> None:
    paged_story.sign(**ASKING | {"notify": {"targets": ["ALERTS"], "pages_per_hour": 1}})
    paged_story.run_first_job(CRASH)
    paged_story.tick()
    before = titles_of(service)
    run = paged_story.run
    reminder = Intended(
        at=now(),
        key="again/crashed[tiny-1]@2026-01-01T00:00:00Z/1",
        attempt=1,
        what="still",
        body="words",
        page="again",
    )
    run.record.append(reminder)
    paged_story.tick()
    assert titles_of(service) == before
    assert run.record.memory().pages.folded["crashed[tiny-1]"].count == 1


def test_doctor_sends_one_test_message_to_each_channel(
    paged_story: Story, service: WebService, capsys: pytest.CaptureFixture[str]
) -> None:
    paged_story.herorun("doctor", "tiny", "--json")
    assert titles_of(service) == []
    capsys.readouterr()
    paged_story.herorun("doctor", "--send-test", "--json")
    parts = {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}

    first, second = titles_of(service)
    assert first == second and mentions(first, "tiny: ", "test message")
    assert all(
        mentions(parts[name]["message"], "accepted", "message") for name in ("ALERTS", "MAIL")
    )


def test_a_channel_that_refuses_the_test_message_is_broken(
    paged_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALERTS", f"json://127.0.0.1:1/{SECRET_TOKEN}")

    assert paged_story.herorun("doctor", "tiny", "--send-test", "--json") == 1
    out = capsys.readouterr().out
    parts = {part["name"]: part for part in json.loads(out)["parts"]}
    assert (parts["ALERTS"]["status"], parts["MAIL"]["status"]) == ("failed", "ok")
    assert mentions(parts["ALERTS"]["message"], "test", "message") and SECRET_TOKEN not in out


def test_each_channel_has_the_contracts_budget_of_pages() -> None:
    contract = a_contract(notify={"pages_per_hour": 2, "pages_per_day": 9})
    run: Any = SimpleNamespace(contract=contract)
    assert page.budget(run) == PageBudget(2, 9)
