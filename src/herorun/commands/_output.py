"""Prints the outcome of an order, and of a calculation."""

from typing import Any

import click


def show(told: Any, as_json: bool) -> int:
    """What was done, for people or as one JSON document; warnings go to standard error."""
    from herorun import output

    if as_json:
        output.show_json(told.document())
    else:
        output.show_line(f"{told.run.slug}: {output.clean(told.words)}")
    if not as_json:
        for warning in told.warnings:
            output.show_note(output.clean(warning))
    return int(told.code)


class SaidFirst:
    """What people must read before it is done: at once on standard error, and in the document afterwards."""

    def __init__(self, heading: str) -> None:
        self.heading = heading
        self.facts: tuple[str, ...] = ()

    def __call__(self, words: str) -> None:
        from herorun import output

        self.facts = tuple(line.strip() for line in words.splitlines())
        lines = [f"herorun: {self.heading}", *(f"  {output.clean(fact)}" for fact in self.facts)]
        click.echo("\n".join(lines), err=True)


def show_lines(told: Any, as_json: bool) -> int:
    """What was found, line by line or as one JSON document."""
    from herorun import output

    if as_json:
        output.show_json(told.document())
    else:
        out = output.console()
        for line in told.lines():
            text = output.clean(line)
            body = text.lstrip(" ")
            output.hang(out, text[: len(text) - len(body)], body)
    return int(told.code)
