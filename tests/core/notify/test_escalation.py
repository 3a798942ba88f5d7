"""What a person is asked: the reason, and choices that can be typed as they stand."""

import shlex

import pytest
from click.testing import CliRunner

from herorun import cli
from herorun.core.notify.escalation import QUESTION_WAYS, Option, command_of, proposal
from screens.notices import Notice


@pytest.mark.parametrize("way", list(Option))
def test_every_choice_is_a_command_that_there_is(way: Option) -> None:
    words = shlex.split(command_of(way, "tiny", "stalled-steps[tiny-1]", 100))
    help_page = CliRunner().invoke(cli.herorun, [words[1], "--help"])
    assert help_page.exit_code == 0
    assert all(word in help_page.output for word in words if word.startswith("--"))


def test_an_odd_subject_cannot_leave_its_word() -> None:
    command = command_of(Option.ACK, "tiny", "full-disk[$(reboot) '; `x`]")
    assert shlex.split(command) == ["herorun", "ack", "tiny", "full-disk[$(reboot) '; `x`]"]


@pytest.mark.parametrize(
    ("way", "about", "argv"),
    [
        (Option.ACK, "crashed[tiny-1]", ["ack", "tiny", "crashed[tiny-1]"]),
        (Option.STOP, "crashed[tiny-1]", ["stop", "tiny"]),
        (Option.FORK, "tiny-b", ["fork", "tiny", "tiny-b", "--from", "300"]),
        (Option.ROLLBACK, "crashed[tiny-1]", ["rollback", "tiny", "--to", "300"]),
        (Option.RELAUNCH, "", ["relaunch", "tiny"]),
    ],
)
def test_a_command_names_an_alert_and_a_checkpoint_only_where_it_takes_one(
    way: Option, about: str, argv: list[str]
) -> None:
    assert shlex.split(command_of(way, "tiny", about, 300)) == ["herorun", *argv]
    if "300" not in argv and about:
        assert shlex.split(proposal(way, "tiny", about).command) == ["herorun", *argv]


@pytest.mark.parametrize("way", QUESTION_WAYS)
@pytest.mark.parametrize("ask", [True, False])
def test_an_answer_says_what_it_does(way: Option, ask: bool, notice: Notice) -> None:
    assert proposal(way, "tiny", ask=ask).effect == notice
