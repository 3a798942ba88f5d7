"""Which of the contract's channels can be used from here; nothing is sent to find out."""

import pytest

from builders import a_contract
from herorun.core.evidence import ChannelState, Nothing
from herorun.core.ports import Channels, Place
from herorun.notifiers import channel
from herorun.sources.channels import read_channels
from wording import mentions


def one(name: str) -> channel.AppriseChannel:
    return channel.connect(
        channel.Options(variable=name), Place("tiny", "state", "/data/tiny", ".")
    )


def test_each_channel_with_what_is_wrong_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOD", "json://127.0.0.1:1/x")
    monkeypatch.setenv("STRANGE", "nope://x")
    monkeypatch.delenv("UNSET", raising=False)
    state = read_channels(Channels(tuple(map(one, ("GOOD", "STRANGE", "UNSET")))), a_contract())
    problems = state.problems
    assert list(problems) == ["GOOD", "STRANGE", "UNSET"] and problems["GOOD"] == ""
    assert mentions(problems["STRANGE"], "STRANGE", "no address", "apprise")
    assert mentions(problems["UNSET"], "UNSET", "not set")


def test_a_contract_without_channels() -> None:
    assert isinstance(read_channels(Channels(), a_contract()), Nothing)


def test_the_variable_of_the_heartbeat_is_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    contract = a_contract(notify={"heartbeat": "PING"})
    monkeypatch.delenv("PING", raising=False)
    state = read_channels(Channels(), contract)
    assert list(state.problems) == ["PING"] and mentions(state.problems["PING"], "PING", "not set")
    monkeypatch.setenv("PING", "https://127.0.0.1:1/hidden")
    assert read_channels(Channels(), contract) == ChannelState({"PING": ""})
