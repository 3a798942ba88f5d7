"""-C, -q and -v, which work before a command and after it."""

import sys
from typing import Any

import click

# These commands only read, so `[tool.herorun] run` may name an omitted RUN.
READ_ONLY = (
    "checkpoints",  # of this family, `list`
    "doctor",
    "goodput",
    "logs",
    "preflight",
    "replay",
    "report",
    "status",
    "verify",
    "watch",
)
_VOLUME_KEY = "herorun.volume"  # in the context's meta: {"quiet": ..., "verbose": ...}


def with_global_options(command: click.Command) -> click.Command:
    """Adds the options to the command and its subcommands. Commands are shared within a process: a
    second call adds nothing.
    """
    if not any(parameter.name == "start_after" for parameter in command.params):
        command.params += [
            click.Option(
                ["-C", "start_after"],
                metavar="DIR",
                hidden=True,
                is_eager=True,
                expose_value=False,
                callback=_start,
            ),
            _flag("-q", "quiet"),
            _flag("-v", "verbose"),
        ]
    if isinstance(command, click.Group):
        for child in command.commands.values():
            with_global_options(child)
    return command


def _flag(short: str, name: str) -> click.Option:
    return click.Option(
        [short, f"--{name}"],
        is_flag=True,
        hidden=True,
        is_eager=True,
        expose_value=False,
        callback=_volume,
    )


def _start(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        propose_for(value)
        context.obj = value
        context.default_map = defaults(value, context.info_name or "")


def propose_for(start: str) -> None:
    """Sets the folder of the commands that this process prints; imports nothing for the usual
    one.
    """
    if start != "." or "herorun.output.text_width" in sys.modules:
        from herorun.output import text_width

        text_width.be_in(start)


def _volume(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        set_volume(context, **{str(parameter.name): True})


def set_volume(context: click.Context, **is_set: bool) -> None:
    """Sets how much this process prints; flags after the command add to those before it."""
    volume = context.meta.setdefault(_VOLUME_KEY, {"quiet": False, "verbose": False})
    volume.update(is_set)
    _apply_volume(volume["quiet"], volume["verbose"])


def _apply_volume(quiet: bool, verbose: bool) -> None:
    """Sets it for this process, importing only what the flags need."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    bar = not quiet and sys.stderr is not None and sys.stderr.isatty()
    if not (quiet or verbose or bar or "herorun.system.progress" in sys.modules):
        return
    from herorun.system import progress

    progress.reset(quiet)
    if verbose:
        from herorun.output import clean, show_note

        progress.be_verbose(lambda message: show_note(clean(message)))
    if bar:
        from herorun.commands._progress_bar import Bar

        progress.show_progress(Bar())


def defaults(start: str, command: str) -> dict[str, Any] | None:
    """The defaults of `[tool.herorun]` for a command that only reads, in click's form; typed values
    win.
    """
    if command not in READ_ONLY:
        return None
    from pathlib import Path

    from herorun.system.project_config import read_settings

    run = read_settings(Path(start)).run
    names = {"run": run, "runs": run}
    return ({"list": names} if command == "checkpoints" else names) if run else None
