"""Messages at the width of the terminal, with commands as the person types them. In a pipe, for
programs, a line stays one line.
"""

import sys
from typing import TextIO

HERORUN = "herorun: "  # begins each message on standard error
_folder = "."  # after -C, as the person typed it; in JSON, commands are as typed in the repository


def be_in(folder: str) -> None:
    """Set the folder at a command's start, because a process may run several commands."""
    global _folder
    _folder = folder


def as_typed(text: str) -> str:
    """A message, whose commands in backticks work where the person typed the present one."""
    if (_folder == "." and "``" not in text) or "`herorun " not in text:
        return text
    from herorun.core.proposed_commands import in_folder, on_screen

    return on_screen(text if _folder == "." else in_folder(text, _folder))


def command_as_typed(command: str) -> str:
    """The same of a command without backticks."""
    if _folder == ".":
        return command
    from herorun.core.proposed_commands import command_in_folder

    return command_in_folder(command, _folder)


def show_line(text: str) -> None:
    """One message on standard output. Its lines continue with a hanging indent."""
    _write(text, sys.stdout)


def show_next_step(text: str) -> None:
    """What to do next, on standard output; -q leaves it out."""
    from herorun.system import progress

    if not progress.quiet:
        show_line(f"next: {text}")


def show_note(text: str, command: str = "") -> None:
    """One message on standard error, after the program's name; below it what a person copies, as it
    is.
    """
    _write(HERORUN + text, sys.stderr)
    if command:
        sys.stderr.write(f"{command}\n")
        sys.stderr.flush()


def show_failure(text: str) -> None:
    """What ended the command, on standard error, as it is worded."""
    _write(text, sys.stderr)


def _write(text: str, stream: TextIO) -> None:
    text = as_typed(text)
    if stream.isatty():
        from herorun.system.terminal import columns_of, fit

        text = fit(text, columns_of(stream))
    stream.write(f"{text}\n")
    stream.flush()
