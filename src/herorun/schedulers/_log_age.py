"""The age of a log's newest line, by the clock of the machine that has the log."""

from datetime import timedelta

from herorun.core.errors import CouldNotLook
from herorun.system.transport import Transport

_ABSENT = 44  # exit code of our own shell words
_AGE = f'test -e "$1" || exit {_ABSENT}; stat -c %Y -- "$1" && date +%s'


def file_age(transport: Transport, path: str, timeout: float) -> timedelta:
    """The time since the file last changed; FileNotFoundError without a file."""
    answer = transport.run(["sh", "-c", _AGE, "sh", path], timeout)
    if answer.code == _ABSENT:
        raise FileNotFoundError(2, "No such file", path)
    times = answer.out.decode("utf-8", "replace").split()
    if answer.code or len(times) != 2 or not all(map(str.isdigit, times)):
        raise CouldNotLook(
            f"the age of {path} on {transport.where} could not be read: {answer.complaint}"
        )
    changed_at, read_at = map(int, times)
    return timedelta(seconds=read_at - changed_at)
