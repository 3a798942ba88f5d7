"""Which of the contract's channels can be used from here; nothing is sent to find out."""

import pytest

from herorun.core.evidence import ChannelState, Nothing
from herorun.core.ports import Channels, Place
from herorun.notifiers import channel
from herorun.sources.channels import read_channels


def one(name: str) -> channel.AppriseChannel:
    return channel.connect(
        channel.Options(variable=name), Place("tiny", "state", "/data/tiny", ".")
    )


def test_each_channel_with_what_is_wrong_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOD", "json://127.0.0.1:1/x")
    monkeypatch.setenv("STRANGE", "nope://x")
    monkeypatch.delenv("UNSET", raising=False)
    state = read_channels(Channels(tuple(map(one, ("GOOD", "STRANGE", "UNSET")))))
    assert state == ChannelState(
        {
            "GOOD": "",
            "STRANGE": "STRANGE holds no address that apprise knows",
            "UNSET": "UNSET is not set, or is empty",
        }
    )


def test_a_contract_without_channels() -> None:
    assert isinstance(read_channels(Channels()), Nothing)
