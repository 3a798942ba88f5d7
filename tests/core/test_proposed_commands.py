"""Which of the commands in a text get the folder, and which are for elsewhere, or name a verb."""

import pytest

from herorun.core.shell_words import command_in_folder, in_folder


@pytest.mark.parametrize(
    "text",
    [
        "`herorun init` wrote it",
        "`herorun -C /other status tiny`",
        "`herorun explain dirty-tree`",
        "start `herorun babysit tiny` there",
        "There, `herorun handoff tiny --to ada@box` does it",
        "`herorun babysit tiny` on the machine that has it",
        "`herorun babysit tiny` on eve@node7",
        "`herorun babysit tiny` runs as eve@node7",
        "herorun stops tiny",
        "`git log` and herorun status tiny",
    ],
)
def test_these_stay(text: str) -> None:
    assert in_folder(text, "/work") == text


def test_each_other_command_in_backticks_gets_it() -> None:
    text = "`herorun ack tiny`; `herorun stop tiny --reason 'a b'`, not `herorun ack`"
    assert in_folder(text, "../w") == (
        "`herorun -C ../w ack tiny`; `herorun -C ../w stop tiny --reason 'a b'`, not `herorun ack`"
    )


def test_a_row_of_commands_gets_it_in_each() -> None:
    text = "once it answers, repeat: herorun seal tiny\nmore: herorun explain dirty-tree"
    assert command_in_folder(text, "/w") == text.replace("herorun seal", "herorun -C /w seal")
    assert command_in_folder("herorun ack tiny", "/w") == "herorun -C /w ack tiny"
