"""Which command belongs to which family, and the help that shows them. Only names are listed: a
command's module is imported when it is used.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from os import environ
from os.path import dirname
from typing import Any

import click

COMPLETE = "_HERORUN_COMPLETE"  # set by the shell script that `herorun completion` prints
FAMILIES: Mapping[str, Sequence[str]] = {
    "Run": (
        "init",
        "preflight",
        "launch",
        "babysit",
        "status",
        "watch",
        "list",
        "logs",
        "report",
        "serve",
        "stop",
        "seal",
    ),
    "Decide": ("ack", "approve", "deny", "pause", "resume", "note", "waive", "trust"),
    "Recover": ("relaunch", "rollback", "fork", "handoff"),
    "Inspect": (
        "compare",
        "goodput",
        "backtest",
        "replay",
        "triage",
        "explain",
        "metrics",
        "mcp",
        "doctor",
        "checkpoints",
        "logbook",
        "verify",
    ),
    "Remote and ad-hoc jobs": ("box", "jobs"),
    "Get started": ("demo", "schema", "completion"),
}
BOX = ("patrol", "chain", "wait", "runbook", "watchers", "timer", "watchdog")
# Earlier names that still work, each with the module that implements it now.
ALIASES: Mapping[str, str] = {
    "await": "wait",
    "handbook": "runbook",
    "verify-seal": "verify_seal",
    **{name: name for name in BOX if name not in ("wait", "runbook")},
}
_SHORT_HELP = re.compile(
    r'^@click\.(?:command|group)\([^()]*\bshort_help="([^"\\]+)"\s*\)$', re.MULTILINE
)


def visible() -> Iterator[str]:
    """The commands of `herorun --help`, in its order."""
    for names in FAMILIES.values():
        yield from names


def command_named(name: str) -> click.Command | None:
    """A command of the first level, by its name or an earlier one."""
    if name not in {*visible(), *ALIASES}:
        return None
    return load(ALIASES.get(name, name))


def load(name: str) -> click.Command:
    from herorun.commands._global_options import with_global_options

    module: Any = import_module(f"herorun.commands.{name}")
    command = with_global_options(module.command)
    if COMPLETE not in environ:
        return command
    from herorun.commands._completion import with_completion

    return with_completion(command)


def short_help(name: str, width: int) -> str:
    """The command's line in the help, read from the module's text: importing all of them takes a
    third as long as importing click. If only bytecode is installed, the module is imported.
    """
    match = _SHORT_HELP.search(_text_of(name))
    return match[1] if match else load(name).get_short_help_str(width)


def _text_of(name: str) -> str:
    try:
        with open(f"{dirname(__file__)}/{name}.py", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def write_families(formatter: click.HelpFormatter) -> None:
    """One section for each family; one line for each command if the terminal has 80 columns."""
    width = max(len(name) for name in visible())
    for family, names in FAMILIES.items():
        rows = []
        for name in names:
            rows.append((name.ljust(width), short_help(name, formatter.width)))
        with formatter.section(family):
            formatter.write_dl(rows)
