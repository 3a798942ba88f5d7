"""What a person is asked: the reason, and choices that can be typed as they stand."""

import shlex

import pytest
from click.testing import CliRunner

from herorun import cli
from herorun.core.notify.escalation import Option, command_of, proposal


@pytest.mark.parametrize("way", list(Option))
def test_every_choice_is_a_command_that_there_is(way: Option) -> None:
    words = shlex.split(command_of(way, "tiny", "stalled-steps[tiny-1]", 100))
    told = CliRunner().invoke(cli.herorun, [words[1], "--help"])
    assert told.exit_code == 0
    assert all(word in told.output for word in words if word.startswith("--"))


def test_an_odd_subject_cannot_leave_its_word() -> None:
    command = command_of(Option.ACK, "tiny", "full-disk[$(reboot) '; `x`]")
    assert shlex.split(command) == ["herorun", "ack", "tiny", "full-disk[$(reboot) '; `x`]"]


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        (
            proposal(Option.ACK, "tiny", "crashed[tiny-1]").command,
            ["ack", "tiny", "crashed[tiny-1]"],
        ),
        (proposal(Option.STOP, "tiny", "crashed[tiny-1]").command, ["stop", "tiny"]),
        (
            command_of(Option.FORK, "tiny", "tiny-b", 300),
            ["fork", "tiny", "tiny-b", "--from", "300"],
        ),
        (
            command_of(Option.ROLLBACK, "tiny", "crashed[tiny-1]", 300),
            ["rollback", "tiny", "--to", "300"],
        ),
    ],
)
def test_a_command_names_an_alert_and_a_checkpoint_only_where_it_takes_one(
    command: str, argv: list[str]
) -> None:
    assert shlex.split(command) == ["herorun", *argv]
