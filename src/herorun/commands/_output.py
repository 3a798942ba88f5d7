"""Prints the outcome of an order, and of a calculation."""

from typing import Any

import click


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

        self.facts = tuple(line.strip() for line in message.splitlines())
        lines = [f"herorun: {self.heading}", *(f"  {output.clean(fact)}" for fact in self.facts)]
        click.echo("\n".join(lines), err=True)


def show_lines(outcome: Any, as_json: bool) -> int:
    """Prints the outcome, line by line or as one JSON document."""
    from herorun import output

    if as_json:
        output.show_json(outcome.document())
    else:
        out = output.console()
        for line in outcome.lines():
            text = output.clean(line)
            body = text.lstrip(" ")
            output.hang(out, text[: len(text) - len(body)], body)
    return int(outcome.code)
