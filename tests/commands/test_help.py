"""Every --help shows an example."""

from collections.abc import Iterator

import click
import pytest

from herorun import cli, job_kinds
from herorun.commands._adhoc import id_kinds


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield (*words, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


GROUPS = [value for value in vars(cli).values() if isinstance(value, click.Group)]


@pytest.mark.parametrize(
    "words", [words for group in GROUPS for words in commands(group)], ids=" ".join
)
def test_every_help_has_an_example(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"herorun {words[0]}" in text.partition("Example")[2]
    assert "\b" not in text  # click's mark of lines that it must not join, on a line of its own


def test_the_help_of_babysit_lists_the_kinds_of_the_registry() -> None:
    assert id_kinds() == ", ".join(job_kinds.kinds())
