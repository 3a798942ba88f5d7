"""Words to one command. The exit codes, and the only error handler."""

import errno
import os
import signal
import sys
from typing import Any

import click

from herorun import __version__

COMPLETE = "_HERORUN_COMPLETE"  # what the shell asks by, as `herorun completion` prints it
# These change nothing anywhere, so that `[tool.herorun] run` may stand in for a RUN that was not named.
LOOKING = ("doctor", "goodput", "preflight", "report", "status", "watch")


class Commands(click.Group):
    """One command a module of `herorun.commands`, imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from herorun import commands

        names = {name.removesuffix(".py") for path in commands.__path__ for name in os.listdir(path)}
        return sorted(name.replace("_", "-") for name in names if not name.startswith(("_", ".")))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from importlib import import_module

        if name not in self.list_commands(ctx):
            return None
        module: Any = import_module(f"herorun.commands.{name.replace('-', '_')}")
        command: click.Command = module.command
        return _with_completion(command) if COMPLETE in os.environ else command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from herorun.commands._usage import unknown_word

            raise click.UsageError(f"{error.message} {unknown_word(self, ctx, args[0])}".rstrip()) from None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="herorun")
@click.option("-C", "start", default=".", metavar="DIR", help="Work as if started in DIR.")
@click.option("-q", "--quiet", is_flag=True, help="Only what is open or went wrong, and the verdict.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also what was read and how long it took, on standard error."
)
@click.pass_context
def herorun(ctx: click.Context, start: str, quiet: bool, verbose: bool) -> None:
    """Govern expensive training runs: gate the launch, prove what runs, babysit, recover, record, seal.

    \b
    Example:
      herorun init grug && herorun preflight grug && herorun launch grug
    """
    ctx.obj = start
    _set_voice(quiet, verbose)
    if ctx.invoked_subcommand in LOOKING:
        ctx.default_map = _defaults(start, ctx.invoked_subcommand)


def _set_voice(quiet: bool, verbose: bool) -> None:
    """For this process; only what is asked for is imported."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    bar = not quiet and sys.stderr is not None and sys.stderr.isatty()
    if not (quiet or verbose or bar or "herorun.system.voice" in sys.modules):
        return
    from herorun.system import voice

    voice.begin(quiet)
    if verbose:
        voice.be_verbose(lambda words: click.echo(f"herorun: {_clean(words)}", err=True))
    if bar:
        from herorun.commands._bar import Bar

        voice.show_progress(Bar())


def _defaults(start: str, command: str) -> dict[str, Any]:
    """What `[tool.herorun]` says of a command, as click takes it; what was typed goes before it."""
    from pathlib import Path

    from herorun.system.settings import read_settings

    run = read_settings(Path(start)).run
    return {command: {"run": run, "runs": run}} if run else {}


def _with_completion(command: click.Command) -> click.Command:
    from herorun.commands._completing import completing

    return completing(command)


def main() -> None:
    """The console script. Ends the process with DESIGN's exit codes and never with a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    _any_output()
    if asked := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(herorun, {}, "herorun", COMPLETE, asked)
    before = _documents()
    try:
        result = herorun.main(argv, prog_name="herorun", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        code, words = _misused(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("herorun: interrupted.", err=True)
        return 130
    except (BrokenPipeError, SystemExit):  # which click makes of it in most places
        return _unread()
    except Exception as error:
        _take_the_bar_away()
        code, words = _explain(error)
    else:
        return result if isinstance(result, int) else 0
    finally:
        _take_the_bar_away()
    return _tell(words, code, as_json="--json" in argv and _documents() == before)


def _misused(error: click.ClickException) -> tuple[int, str]:
    helped: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.1 has none
    if isinstance(error, helped) or not isinstance(error, click.UsageError):
        error.show()
        return error.exit_code, ""
    from herorun.commands._usage import in_words

    return error.exit_code, in_words(error)


def _documents() -> int:
    """How many JSON documents this process has printed."""
    screen = sys.modules.get("herorun.screen")
    return screen.documents if screen else 0


def _tell(words: str, code: int, as_json: bool) -> int:
    """What went wrong, on standard error; and as the one document, where one was asked for and none was printed."""
    words = _clean(words)
    if words:
        click.echo(words, err=True)
    if words and as_json:
        from herorun.screen import show_json

        try:
            show_json({"error": words.removeprefix("herorun: "), "exit_code": code})
            sys.stdout.flush()
        except BrokenPipeError:
            return _unread()
    return code


def _take_the_bar_away() -> None:
    """Whatever ended the command: a bar that stays hides the cursor, and what is said after it."""
    if voice := sys.modules.get("herorun.system.voice"):
        voice.over()


def _unread() -> int:
    """The reader is gone, as of `| head`: so are we, quietly, with the exit code that other programs have then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE


def _any_output() -> None:
    """A closed or an ASCII output must not stop an act halfway."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _explain(error: Exception) -> tuple[int, str]:
    from herorun.core.errors import HerorunError, in_words
    from herorun.core.scrub import scrub

    if isinstance(error, HerorunError):
        return error.exit_code, f"herorun: {scrub(str(error))}"
    if isinstance(error, OSError):
        words = f"{in_words(error)}. Nothing was lost; {_advice(error)}."
        return 3, f"herorun: {scrub(words)}"
    words = f"herorun: internal error: {type(error).__name__}: {scrub(str(error))}."
    if os.environ.get("HERORUN_DEBUG"):
        click.echo(_clean(words), err=True)
        raise error
    return 3, f"{words}\nPlease report it; HERORUN_DEBUG=1 shows where it happened."


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space there, then try again"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "make it accessible to this user, then try again"
    return "try again"


def _clean(text: str) -> str:
    """No terminal escapes from whatever the error quotes."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
