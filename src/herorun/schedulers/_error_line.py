"""Extracts the error line of a failed Python command from its log and traceback."""

from herorun.core.lazy_regex import lazy_regex
from herorun.system.process import ProcessResult

_ERROR = lazy_regex(r"[\w.]*(?:Error|Exception|Missing\w*): ")


def error_of(answer: ProcessResult) -> str:
    """The line that begins with the error's type, or else the last line."""
    lines = [
        line.strip() for line in answer.err.decode("utf-8", "replace").splitlines() if line.strip()
    ]
    errors = [line for line in lines if _ERROR.match(line)]
    return (errors or lines or [answer.complaint])[-1]


def message_of(answer: ProcessResult) -> str:
    """The same without the error's type, for people."""
    message = error_of(answer)
    return _ERROR.sub("", message, count=1) or message
