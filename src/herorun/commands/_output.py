"""Prints the outcome of an order, and of a calculation, and the command to type next."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path


def show(outcome: Any, as_json: bool) -> int:
    """Prints the outcome, for people or as one JSON document; warnings go to standard error."""
    from herorun import output

    if as_json:
        output.show_json(outcome.document())
    else:
        output.show_line(f"{outcome.run.slug}: {output.clean(outcome.message)}")
    if not as_json:
        for warning in outcome.warnings:
            output.show_note(output.clean(warning))
    return int(outcome.code)


class ShownBeforeResult:
    """What people must read before an order is carried out: printed at once on standard error, and
    part of the document afterwards.
    """

    def __init__(self, heading: str) -> None:
        self.heading = heading
        self.facts: tuple[str, ...] = ()

    def __call__(self, message: str) -> None:
        from herorun import output
        from herorun.output.text_width import as_typed

        self.facts = tuple(line.strip() for line in message.splitlines())
        texts = [as_typed(output.shorten_hashes(output.clean(fact))) for fact in self.facts]
        click.echo("\n  ".join([f"herorun: {self.heading}", *texts]), err=True)


def show_lines(outcome: Any, as_json: bool) -> int:
    """Prints the outcome, line by line or as one JSON document."""
    from herorun import output

    if as_json:
        output.show_json(outcome.document())
    else:
        for line in outcome.lines():
            output.show_line(output.shorten_hashes(output.clean(line)))
    return int(outcome.code)


def propose_command(start: str, *argv: str) -> str:
    """A command of herorun, as a person types it who typed the present one."""
    from shlex import join

    from herorun.core.proposed_commands import herorun_argv

    return join(herorun_argv(start, argv))


def repeat_typed_command() -> str:
    """The command line as it was typed, to be repeated."""
    from shlex import join

    from herorun.core.redaction.scrub import scrub

    return scrub(join(["herorun", *click.get_current_context().meta.get("herorun.argv", ())]))


def typed_path(start: str, path: "Path") -> str:
    """The path as it is typed where the person stands, which `-C` does not say."""
    from os.path import relpath
    from pathlib import Path

    text = relpath(path.resolve(), Path.cwd()) if start == "." else str(path.resolve())
    return f"./{text}" if text.startswith("-") else text  # never an option of another program
