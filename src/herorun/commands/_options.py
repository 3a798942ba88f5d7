"""RUN, which may be omitted, and `--yes`, which orders accept."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class RunArgument(click.Argument):
    """RUN may be omitted if the repository has exactly one run, even before other arguments.

    `exact`: the argument after RUN is a new name, which may resemble that of a run.
    """

    def __init__(self, *names: Any, exact: bool = False, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self._exact = exact

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return f"'{self.human_readable_name}'"

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [f"[{self.human_readable_name}]"]

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        values = dict(opts)
        if not ctx.resilient_parsing and not values.get("job") and not values.get("every"):
            values = self._fill(ctx, values)
            if isinstance(opts, dict):  # the arguments after this one are read from it
                opts.update(values)
        return super().handle_parse_result(ctx, values, args)

    def _fill(self, ctx: click.Context, values: dict[str, Any]) -> dict[str, Any]:
        name = str(self.name)
        value = values.get(name)
        if isinstance(value, str):
            following = self._following(ctx, values)
            if following is None or _names_a_run((ctx.obj or "."), value, self._exact):
                return values
            run = only_run(ctx.obj or ".")
            return {**values, name: run, following: value} if run else values
        if isinstance(ctx.lookup_default(name), str):
            return values
        if run := only_run(ctx.obj or "."):
            return {**values, name: run}
        if not self.required and _runs(ctx.obj or "."):  # and no option names a job
            raise click.MissingParameter(ctx=ctx, param=self)
        return values

    def _following(self, ctx: click.Context, values: Mapping[str, Any]) -> str | None:
        """The argument after RUN, if it is the only other one and has no value."""
        others = [p for p in ctx.command.params if isinstance(p, click.Argument) and p is not self]
        missing = [str(p.name) for p in others if not isinstance(values.get(str(p.name)), str)]
        return missing[0] if len(others) == len(missing) == 1 else None


def _names_a_run(start: str, value: str, exact: bool) -> bool:
    """Whether the value is a run, or, unless `exact`, is meant to be one: a mistyped run must not
    be taken for the argument after RUN.
    """
    from difflib import get_close_matches

    if "/" in value or value.endswith(".toml"):
        return True
    return bool(get_close_matches(value, _runs(start), 1, 1.0 if exact else 0.75))


def only_run(start: str) -> str | None:
    """The repository's run, if it has exactly one."""
    runs = _runs(start)
    return runs[0] if len(runs) == 1 else None


def runs_hint(start: str) -> str:
    runs = _runs(start)
    return f" The runs here: {', '.join(runs)}." if runs else ""


def _runs(start: str) -> list[str]:
    """The repository's runs; none without a repository, which the command itself reports."""
    from herorun.core.errors import HerorunError
    from herorun.runs import known_slugs
    from herorun.system.git import find_repository

    try:
        return list(known_slugs(find_repository(Path(start))))
    except (HerorunError, OSError):
        return []


def yes(command: Command) -> Command:
    """Adds `--yes`, which scripts pass. It has no effect: orders ask nothing, and refuse what is
    risky.

    `checkpoints prune` has no such option: a person must type its digest.
    """
    help_text = "No effect, because nothing is asked: for scripts that pass it to every command."
    return click.option("--yes", is_flag=True, expose_value=False, help=help_text)(command)


def listen_address(listen: str, example: str) -> tuple[str, int]:
    """The host and the port of `--listen`; no host is loopback."""
    from herorun.core.errors import WrongUse

    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise WrongUse(f"--listen takes HOST:PORT, for example {example}, and not {listen!r}.")
    return host.strip("[]") or "127.0.0.1", int(port)
