"""What the shell completes: RUN to the contracts of this repository, CHECK to the checks."""

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

VARIABLE = "_HERORUN_COMPLETE"  # click's own, by the program's name
RUNS, CHECKS = ("run", "runs"), ("check",)
MAX_BYTES = 4 << 20  # bytes of a contract


def with_completion(command: click.Command) -> click.Command:
    """The command, with shell completion of its RUN and CHECK arguments; its subcommands too."""
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.name in RUNS:
            parameter.type = RunName()
        elif isinstance(parameter, click.Argument) and parameter.name in CHECKS:
            parameter.type = CheckName()
    if isinstance(command, click.Group):
        for child in command.commands.values():
            with_completion(child)
    return command


class RunName(StringParamType):
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if "/" in incomplete:
            return [CompletionItem(incomplete, type="file")]
        start = Path(ctx.find_root().params.get("start") or ".")
        return [CompletionItem(slug) for slug in slugs_at(start) if slug.startswith(incomplete)]


class CheckName(StringParamType):
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in check_names() if name.startswith(incomplete)]


def slugs_at(start: Path) -> list[str]:
    """The runs with a contract, by listing one folder only: a person waits for the Tab key."""
    for folder in (absolute := start.absolute(), *absolute.parents):
        if (folder / ".git").exists():
            return sorted(
                path.stem for path in (folder / "runs").glob("*.toml") if _is_contract(path)
            )
    return []


def _is_contract(path: Path) -> bool:
    """Whether the file names a slug, which a config file next to the contracts does not."""
    from herorun.system.files import read_regular

    try:
        lines = read_regular(path, MAX_BYTES).decode().splitlines()
        return any(line.startswith("slug") for line in lines)
    except (OSError, ValueError):
        return False


def check_names() -> list[str]:
    """The built-in checks, by their file names, so that none is imported."""
    import herorun

    files: list[Any] = []
    for home in herorun.__path__:
        files += Path(home, "checks").glob("*/[a-z]*.py")
    return sorted({path.stem.replace("_", "-") for path in files})
