"""Parses a command line and runs that command. Holds the exit codes and the only error handler."""

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

import click

from herorun import __version__
from herorun.commands import SuggestingGroup

COMPLETE = "_HERORUN_COMPLETE"  # what the shell asks by, as `herorun completion` prints it
SIGNAL_RETRY_DELAY = 0.05  # seconds until an interruption that was lost comes again
SHORT = 200_000  # objects that a command makes, and keeps, before it looks for garbage


class Commands(SuggestingGroup):
    """The commands by family; each is a module of `herorun.commands`, imported when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from herorun.commands._families import visible

        return list(visible())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from herorun.commands._families import command_named

        return command_named(name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["herorun.argv"] = tuple(args)  # for `commands._output.repeat_typed_command`
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from herorun.commands._families import write_families

        write_families(formatter)


def _propose_for(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from herorun.commands._global_options import propose_for

    propose_for(value)
    return value


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="-C, -q and -v work before a command and after it.",
)
@click.version_option(__version__, "--version", prog_name="herorun")
@click.option(
    "-C",
    "start",
    default=".",
    metavar="DIR",
    is_eager=True,
    callback=_propose_for,
    help="Work as if started in DIR.",
)
@click.option(
    "-q", "--quiet", is_flag=True, help="Leave out progress, plans, next steps and what passed."
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Leave nothing out; list on standard error what was read, and how long it took.",
)
@click.pass_context
def herorun(ctx: click.Context, start: str, quiet: bool, verbose: bool) -> None:
    """Govern expensive training runs: check the launch, verify the job, monitor and relaunch it,
    record and seal the run.

    \b
    Example:
      herorun init grug  # fill in and push runs/grug.toml, then init again
      herorun preflight grug && herorun launch grug
    """
    from herorun.commands._global_options import defaults, set_volume
    from herorun.system.entry_points import skip_search_for_plugins
    from herorun.system.module_finder import find_own_modules

    skip_search_for_plugins()
    find_own_modules()
    ctx.obj = start
    set_volume(ctx, quiet=quiet, verbose=verbose)
    command = ctx.invoked_subcommand or ""
    if defaults_by_name := defaults(start, command):
        ctx.default_map = {command: defaults_by_name}


def main() -> None:
    """The console script. Ends the process with DESIGN's exit codes and never with a traceback."""
    _collect_late()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # `timeout`, say: we still tell, and leave tidily
    sys.unraisablehook = _interrupted_again
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `herorun.__main__` sets it
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:])
        _nothing_left()
    except KeyboardInterrupt:  # a second one, while the first is reported
        code = 130
    _leave(code)


def _interrupted_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """An interruption in a destructor or a callback, where Python prints it and continues: it comes
    again, a moment later.
    """
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import threading

    main_thread = threading.main_thread().ident
    again = threading.Timer(SIGNAL_RETRY_DELAY, signal.pthread_kill, (main_thread, signal.SIGTERM))
    again.daemon = True
    again.start()


def _collect_late() -> None:
    """A short command keeps nearly all that it makes: looking for garbage in it only costs time.
    One that makes more than that may live for weeks, and collects as Python does.
    """
    usual = gc.get_threshold()

    def collect_normally(phase: str, info: object) -> None:
        gc.callbacks.remove(collect_normally)
        gc.set_threshold(*usual)

    gc.callbacks.append(collect_normally)
    gc.set_threshold(SHORT, *usual[1:])


def _nothing_left() -> None:
    """What could not be written was reported already; Python would try once more at its end, and
    exit with 120.
    """
    try:
        sys.stdout.flush()
    except OSError:
        _let_go()


def _leave(code: int) -> NoReturn:
    """End as Python does, but leave the memory to the kernel: Python would take every module and
    object apart first, a quarter of a short command's time.
    """
    if _awaited_threads() or sys.getprofile() or sys.gettrace():
        sys.exit(code)  # which waits for them; a profiler or a debugger has its own last words
    atexit._run_exitfuncs()
    _nothing_left()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _awaited_threads() -> bool:
    threading = sys.modules.get("threading")  # without it there are none
    return threading is not None and any(
        not thread.daemon and thread is not threading.main_thread()
        for thread in threading.enumerate()
    )


def run(argv: list[str]) -> int:
    _any_streams()
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(herorun, {}, "herorun", COMPLETE, instruction)
    before, stdout = _count_printed(), sys.stdout
    try:
        result = herorun.main(argv, prog_name="herorun", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        from herorun.commands._failures import describe_misuse

        code, message = describe_misuse(error)
    except (KeyboardInterrupt, click.Abort):
        code, message = 130, "herorun: interrupted."
    except BaseException as error:
        from herorun.core.errors import UNFORESEEN

        if not isinstance(error, UNFORESEEN):
            raise
        # of a broken pipe click makes SystemExit in most places, and then wraps the streams
        if isinstance(error, BrokenPipeError) or sys.stdout is not stdout:
            return _exit_unread()
        _take_the_bar_away()
        from herorun.commands._failures import describe_failure

        code, message = describe_failure(error)
    else:
        return result if isinstance(result, int) else 0
    finally:
        _take_the_bar_away()
    return _print_failure(message, code, as_json=_asks_for_json(argv) and _is_owed(before, code))


def _asks_for_json(argv: list[str]) -> bool:
    """Also where it is mistyped: a program that wants a document reads standard output."""
    return any(word.partition("=")[0] == "--json" for word in argv)


def _count_printed() -> tuple[int, int]:
    """How many JSON documents this process has printed, and how many of them as lines of a
    stream.
    """
    screen = sys.modules.get("herorun.output")
    return (screen.documents, screen.lines) if screen else (0, 0)


def _is_owed(before: tuple[int, int], code: int) -> bool:
    """Whether what went wrong is a document of its own: the only one, or the last line of a stream
    that failed.
    """
    documents, lines = (now - then for now, then in zip(_count_printed(), before, strict=True))
    return documents == (0 if code == 130 else lines)


def _print_failure(message: str, code: int, as_json: bool) -> int:
    """What went wrong, on standard error; and as the one document, where one was asked for and none
    was printed.
    """
    if message:
        from herorun.commands._failures import without_escapes
        from herorun.output.text_width import show_failure

        message = without_escapes(message)  # without -C: JSON is for every folder
        with suppress(OSError):  # nothing can be printed: the exit code still says it
            show_failure(message)
    if message and as_json:
        from herorun.output import show_json_line
        from herorun.schemas import FailureDocument

        try:
            show_json_line(FailureDocument(error=message.removeprefix("herorun: "), exit_code=code))
        except BrokenPipeError:
            return _exit_unread()
        except OSError:  # such as a full disk: the error is already on standard error
            _let_go()
    return code


def _take_the_bar_away() -> None:
    """Whatever ended the command: a bar that stays hides the cursor, and the messages after it."""
    if progress := sys.modules.get("herorun.system.progress"):
        progress.finish()


def _exit_unread() -> int:
    """Exit silently when the reader has closed the pipe, as `| head` does, with the usual exit code
    for that.
    """
    _let_go()
    return 128 + signal.SIGPIPE


def _let_go() -> None:
    """Drops what a closed output has not taken: it would fail again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _any_streams() -> None:
    """A closed or an ASCII output must not stop an act halfway; a closed input is an empty one."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - it lives as long as the process
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
