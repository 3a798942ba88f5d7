"""Which of the commands in a text get the folder, and which are for elsewhere, or name a verb."""

import pytest

from herorun.core.proposed_commands import command_in_folder, elsewhere, in_folder, on_screen

HERE = "`herorun babysit tiny`"
THERE = elsewhere("herorun babysit tiny")


@pytest.mark.parametrize(
    "text",
    [
        "`herorun init` wrote it",
        "`herorun -C /other status tiny`",
        "`herorun explain dirty-tree`",
        f"start {THERE}",
        elsewhere("herorun handoff tiny --take && herorun babysit tiny"),
        "herorun stops tiny",
        "`git log` and herorun status tiny",
    ],
)
def test_these_stay(text: str) -> None:
    assert in_folder(text, "/work") == text


@pytest.mark.parametrize("words", ["{} there", "There, {}", "{} on eve@node7", "{} runs as eve@x"])
def test_no_wording_makes_a_command_one_for_elsewhere(words: str) -> None:
    text = in_folder(words.format(HERE), "/w")
    assert text == words.format("`herorun -C /w babysit tiny`")
    assert on_screen(in_folder(words.format(THERE), "/w")) == words.format(HERE)


def test_both_kinds_in_one_text() -> None:
    text = on_screen(in_folder(f"{THERE}; {HERE}; {THERE}", "/w"))
    assert text == f"{HERE}; `herorun -C /w babysit tiny`; {HERE}"


def test_a_code_block_keeps_its_backticks() -> None:
    assert on_screen("```sh\nherorun status tiny\n```") == "```sh\nherorun status tiny\n```"


def test_each_other_command_in_backticks_gets_it() -> None:
    text = "`herorun ack tiny`; `herorun stop tiny --reason 'a b'`, not `herorun ack`"
    assert in_folder(text, "../w") == (
        "`herorun -C ../w ack tiny`; `herorun -C ../w stop tiny --reason 'a b'`, not `herorun ack`"
    )


def test_a_row_of_commands_gets_it_in_each() -> None:
    text = "once it answers, repeat: herorun seal tiny\nmore: herorun explain dirty-tree"
    assert command_in_folder(text, "/w") == text.replace("herorun seal", "herorun -C /w seal")
    assert command_in_folder("herorun ack tiny", "/w") == "herorun -C /w ack tiny"
