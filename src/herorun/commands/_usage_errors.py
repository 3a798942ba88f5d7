"""The answer to a mistyped command: what is wrong, an example, and which runs exist."""

from pathlib import Path
from textwrap import dedent, indent

import click

from herorun.commands._completion import RUNS, slugs_at

WORDS = {"help": "herorun --help", "version": "herorun --version"}
ONCE = (
    "There is no --once: `herorun status RUN` shows a run once, `herorun status --all` every run."
)
NO_FORCE = (
    "There is no --force: a signed waiver accepts a finding, and `herorun waive CHECK RUN` prints "
    "one."
)


def usage_message(error: click.UsageError) -> str:
    """The complete message, for standard error."""
    context = error.ctx
    message = f"herorun: {_format_error(error, context)}"
    if context is None or context.parent is None:
        return f"{message}\n`herorun --help` lists the commands."
    if isinstance(error, click.MissingParameter) and error.param and error.param.name in RUNS:
        runs = slugs_at(Path(context.obj or "."))
        message += (
            f" The runs here: {', '.join(runs)}."
            if runs
            else " No run here yet: `herorun init RUN`."
        )
    example = _example(context.command)
    example_text = f"\nFor example:\n{example}" if example else ""
    return f"{message}{example_text}\n`{context.command_path} --help` lists every option."


def _format_error(error: click.UsageError, context: click.Context | None) -> str:
    if isinstance(error, click.NoSuchOption):
        if error.option_name == "--force":
            return NO_FORCE
        if context and (context.info_name, error.option_name) == ("watch", "--once"):
            return ONCE
        if context and error.option_name == "--json" and isinstance(context.command, click.Group):
            return f"--json goes after the command: `{context.command_path} COMMAND ... --json`."
    missing = _missing(context) if isinstance(error, click.MissingParameter) and context else []
    if len(missing) > 1:
        return f"Missing: {', '.join(missing)}."
    return error.format_message()


def _missing(context: click.Context) -> list[str]:
    """All required parameters without a value, so that one message names them all."""
    values = context.params
    return [
        p.human_readable_name if isinstance(p, click.Argument) else p.opts[0]
        for p in context.command.get_params(context)
        if p.required and not values.get(p.name or "")
    ]


def _example(command: click.Command) -> str:
    """The lines below "Example:" in the command's help, up to the next empty one."""
    _, _, example = (command.help or "").partition("Example:\n")
    return indent(dedent(example.partition("\n\n")[0]).rstrip(), "  ")


def add_suggestion(
    error: click.UsageError, group: click.Group, context: click.Context, word: str
) -> click.UsageError:
    """The error of a command that does not exist, with what to type instead."""
    message = f"{error.message} {suggest_command(group, context, word)}".rstrip()
    return click.UsageError(message, error.ctx if context.parent else None)


def suggest_command(group: click.Group, context: click.Context, word: str) -> str:
    """What to type instead of a command that does not exist."""
    if word in WORDS and context.parent is None:
        return f"Type `{WORDS[word]}`."
    from herorun.core.suggestions import closest_names

    closest = closest_names(word, group.list_commands(context))
    return f"Did you mean '{closest[0]}'?" if closest else ""
