"""The folder after -C, which every command on the screen needs. In JSON a command is as it is typed
in the run's repository.
"""

from herorun.core.proposed_command import HERE, command_in_folder, in_folder

folder = HERE  # as the person typed it; the command line sets it


def be_in(typed_folder: str) -> None:
    """Set the folder at a command's start, because a process may run several commands."""
    global folder
    folder = typed_folder


def as_typed(text: str) -> str:
    """A message, whose commands in backticks work where the person typed the present one."""
    return text if folder == HERE else in_folder(text, folder)


def command_as_typed(command: str) -> str:
    """The same of a command without backticks."""
    return command if folder == HERE else command_in_folder(command, folder)
