"""What a tick prints for a person proposes a command that fits what was ticked."""

import pytest

from herorun.output.tick import show_tick
from screens.catalogue import TICKS


@pytest.mark.parametrize(
    ("ack", "command"),
    [("", "`herorun ack tiny`"), ("herorun ack --job 4711", "`herorun ack --job 4711`")],
)
def test_an_alert_that_ended_unresolved_names_the_command_that_closes_it(
    capsys: pytest.CaptureFixture[str], ack: str, command: str
) -> None:
    _, tick = TICKS["unacknowledged"]
    show_tick("tiny", tick, ack)
    text = " ".join(capsys.readouterr().out.split())
    assert "ended-unresolved:" in text and command in text
