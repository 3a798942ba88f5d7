"""Channels by apprise, for real: the contract suite over a web service on loopback, then each kind
of service.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.markdown import without_markup
from herorun.core.ports import Place, Post
from herorun.core.proposed_commands import elsewhere
from herorun.notifiers import channel
from ports.notifier_suite import NotifierSuite, a_post
from services.channel_servers import Mailbox, WebService, mail_server, web_service
from wording import mentions

ADDRESS = "tok3n-h1dden"  # a part of the address that nobody may see


@pytest.fixture
def service() -> Iterator[WebService]:
    with web_service() as server:
        yield server


@pytest.fixture
def mail() -> Iterator[tuple[Mailbox, str]]:
    with mail_server() as server:
        yield server


class Bench:
    def __init__(self, folder: Path, service: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place = Place("tiny", str(folder), "/data/tiny", ".")
        self._service, self._patch = service, monkeypatch
        self.point_at(f"json://{service.place}/{ADDRESS}")

    def point_at(self, address: str) -> None:
        self._patch.setenv("ALERTS", address)

    def connect(self) -> channel.AppriseChannel:
        return channel.connect(channel.Options(variable="ALERTS"), self._place)

    def read_messages(self) -> str:
        return "\n".join(
            f"{body['title']}\n{body['message']}" for _, body in self._service.deliveries
        )

    def cut_off(self) -> None:
        self._service.server_close()
        self.point_at(f"json://127.0.0.1:1/{ADDRESS}")


@pytest.fixture
def bench(tmp_path: Path, service: WebService, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, service, monkeypatch)


class TestChannel(NotifierSuite):
    can_be_asked = False

    @pytest.fixture
    def bench(self, tmp_path: Path, service: WebService, monkeypatch: pytest.MonkeyPatch) -> Bench:
        return Bench(tmp_path, service, monkeypatch)


def complaint(bench: Bench, capfd: pytest.CaptureFixture[str]) -> str:
    """Why a post failed. Neither it nor what reached the screen says anything of the address."""
    with pytest.raises(OSError, match=r".") as error:
        bench.connect().post(a_post())
    assert ADDRESS not in repr(error.value) + "".join(capfd.readouterr())
    assert bench.connect().find(a_post().key) is None
    return str(error.value)


def test_a_webhook_gets_the_run_and_the_words(bench: Bench, service: WebService) -> None:
    bench.connect().post(a_post())
    ((path, body),) = service.deliveries
    assert path == f"/{ADDRESS}"
    assert (body["title"], body["message"]) == ("tiny: tiny-1 crashed", "It ended.")


def test_slack_gets_it(bench: Bench, service: WebService, monkeypatch: pytest.MonkeyPatch) -> None:
    from apprise.plugins.slack import NotifySlack

    monkeypatch.setattr(NotifySlack, "webhook_url", f"http://{service.place}/services")
    bench.point_at("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ")
    bench.connect().post(a_post(body="see <!channel> & <b>"))
    ((path, body),) = service.deliveries
    assert path == "/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    assert "tiny-1 crashed" in str(body)
    assert "<!channel>" not in str(body)


def test_discord_gets_it_and_pages_nobody_else(
    bench: Bench, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apprise.plugins.discord import NotifyDiscord

    monkeypatch.setattr(NotifyDiscord, "notify_url", f"http://{service.place}/api/webhooks")
    bench.point_at(
        "https://discord.com/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_jsabcdefghijkl"
    )
    end = "While the job runs: it costs.\n\nLook: `herorun status tiny`"
    bench.connect().post(a_post(body="@everyone " + "a line\n" * 2_000 + end))
    ((path, body),) = service.deliveries
    assert path.startswith("/api/webhooks/4174216298/")
    assert "tiny-1 crashed" in str(body)
    assert "@everyone" not in str(body)
    assert len(body["content"]) <= 2_000
    assert body["content"].endswith(end)


def test_what_was_escaped_for_an_issue_is_read_as_it_was(bench: Bench, service: WebService) -> None:
    bench.connect().post(a_post(body=without_markup("loss <nan>, says me@box <!channel>")))
    ((_, body),) = service.deliveries
    assert body["message"] == "loss <nan>, says me@\u200bbox <\u200b!channel>"


def test_a_command_for_another_machine_is_no_markdown(bench: Bench, service: WebService) -> None:
    bench.connect().post(a_post(body=f"{elsewhere('herorun babysit tiny')} there"))
    ((_, body),) = service.deliveries
    assert body["message"] == "`herorun babysit tiny` there"


def test_a_mail_is_sent(bench: Bench, mail: tuple[Mailbox, str]) -> None:
    box, place = mail
    bench.point_at(f"mailto://{place}/?from=run@example.org&to=dri@example.org&mode=insecure")
    bench.connect().post(a_post(body="loss < 3 & rising\n- `herorun ack tiny`"))
    ((subject, to, text),) = box.mails
    assert (subject, to) == ("tiny: tiny-1 crashed", ["dri@example.org"])
    assert "herorun ack tiny" in text


def test_a_mail_that_is_refused_is_not_said(
    bench: Bench, mail: tuple[Mailbox, str], capfd: pytest.CaptureFixture[str]
) -> None:
    box, place = mail
    box.refuses = True
    bench.point_at(f"mailto://{place}/?from={ADDRESS}@example.org&to=dri@example.org&mode=insecure")
    assert mentions(complaint(bench, capfd), "ALERTS", "accept")


def test_a_service_that_fails_names_its_answer(
    bench: Bench, service: WebService, capfd: pytest.CaptureFixture[str]
) -> None:
    service.fault = 500
    assert mentions(complaint(bench, capfd), "ALERTS", "answered", "500")
    service.fault = None
    bench.connect().post(a_post())
    assert len(service.deliveries) == 1


def test_a_service_that_is_not_there(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    bench.point_at(f"json://127.0.0.1:1/{ADDRESS}")
    assert mentions(complaint(bench, capfd), "reached")


def test_a_service_that_hangs_is_given_up(
    bench: Bench, service: WebService, capfd: pytest.CaptureFixture[str]
) -> None:
    service.fault = "hang"
    bench.point_at(f"json://{service.place}/{ADDRESS}?rto=0.2")
    assert mentions(complaint(bench, capfd), "answer", "time")


def test_a_call_that_never_ends_is_left_behind(
    bench: Bench, service: WebService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.fault = "hang"
    monkeypatch.setattr(channel, "DEADLINE", 0.1)
    with pytest.raises(Exception, match=r"within.*0\.1s"):
        bench.connect().post(a_post())


@pytest.mark.parametrize("address", ["nope://{}", "slack://{}", "{}", "json://"])
def test_an_address_that_apprise_does_not_know_is_named_by_its_variable(
    bench: Bench, capfd: pytest.CaptureFixture[str], address: str
) -> None:
    bench.point_at(address.format(ADDRESS))
    assert mentions(bench.connect().problem(), "ALERTS", "apprise")
    assert mentions(complaint(bench, capfd), "ALERTS", "apprise")


def test_a_variable_that_is_not_set_is_a_problem(bench: Bench) -> None:
    assert bench.connect().problem() == ""
    bench.point_at("")
    assert mentions(bench.connect().problem(), "ALERTS", "empty")


def test_without_apprise_the_extra_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    assert mentions(bench.connect().problem(), "install", "`notify`")
    with pytest.raises(OSError, match="`notify`"):
        bench.connect().post(Post("k", "t", "b"))


def test_no_page_of_a_run_lies_in_a_channel(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="targets"):
        channel.connect(channel.Options(), Place("tiny", str(tmp_path), "/data/tiny", "."))
