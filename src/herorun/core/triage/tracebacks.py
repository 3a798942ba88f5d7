"""Python's tracebacks, read line by line: each rank's own, however their lines are mixed in one
log.
"""

from dataclasses import replace

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_HEAD = lazy_regex(r"(?:^|\W)Traceback \(most recent call last\):\s*$")
_FRAME = lazy_regex(r'^\s*File "?([^"\n]{1,400})", line (\d{1,9})(?:, in ([\w<>.]{1,200}).*)?\s*$')
_EXCEPTION = lazy_regex(r"^([A-Za-z_][\w.]{0,200})(?::\s?(.*)|\s*)$")
_A_NAME = lazy_regex(  # dotted, in camel case, or with a usual end
    r"\w\.(?!py$)\w+$|[A-Z][a-z0-9]+[A-Z]|[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Timeout|Empty|Full|Fault)$"
)
_BARE = lazy_regex(
    r"^((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Fault))(?::\s(.*)|\s*)$"
)
_HANDLING = "During handling of the above exception"
_DIRECT_CAUSE = "The above exception was the direct cause"
_NOT_OURS = lazy_regex(
    r"[\\/](?:site|dist)-packages[\\/]|[\\/]lib(?:64)?[\\/]python\d|[\\/]python\d[\d.]*[\\/]lib[\\/]|^<|[\\/]bin[\\/]"
    r"|[\\/]Python\d+[\\/][Ll]ib[\\/]|[\\/]runpy\.py$|^python\d"
)
_FOLDERS = lazy_regex(r"[\\/]")
# What is printed before the traceback of an exception that ends nothing, perhaps behind a progress
# bar: by CPython (python/cpython:Python/errors.c, Modules/atexitmodule.c, Lib/logging/__init__.py;
# a thread that it ends is not meant), and by torch.compile where it continues without compiling a
# function (pytorch/pytorch:torch/_dynamo/convert_frame.py).
_IGNORED_EXCEPTION = lazy_regex(
    r"(?:^|(?:it/s|s/it|\?)[^\]]{0,40}\]\s{0,4})Exception ignored (?:in(?! thread)|on|while)\b"
    r"|^(?:Error in atexit\._run_exitfuncs:|--- Logging error ---)\s*$"
    r"|^WON'T CONVERT \S.{0,300} line \d{1,9}\s*$"
)
# The same handler then prints where the program logged: frames without an exception.
_LOGGING_ERROR, _CALL_STACK = "--- Logging error ---", "Call stack:"
# The name of a function that saves, or of Orbax's that waits for a save.
_SAVES = lazy_regex(r"(?:^|_)save|^wait_until_finished$")
# The logger by which torch.compile says all that.
_FALLS_BACK = lazy_regex(
    r"\btorch\._dynamo\.convert_frame: \[WARNING\]"
    r"|\bW\d{4} \S+ {1,7}\d{1,9} torch/_dynamo/convert_frame\.py:"
)
# Where Pillow reads a file (python-pillow/Pillow:src/PIL).
_DECODES = lazy_regex(r"[\\/]PIL[\\/](?:\w{1,40}ImagePlugin|ImageFile|_binary)\.py$")
# Where logging writes a record.
_LOGGING = lazy_regex(r"[\\/]logging[\\/](?:__init__|handlers)\.py$")
_THREAD = lazy_regex(r"[\\/](?:threading\.py|multiprocessing[\\/]\w+\.py)$")
INDENTS = " \t|~^"  # how the source under a frame begins, and what marks a place in it
_PATIENCE = 40  # lines of others between a frame and its exception


@dataclass(frozen=True)
class Frame:
    """Where it happened."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def ours(self) -> bool:
        """Whether it is the user's own code: not an installed package, the interpreter or a
        program.
        """
        return not _NOT_OURS.search(self.file)

    @property
    def site(self) -> str:
        """The same on every machine: without the folders."""
        return f"{_FOLDERS.split(self.file)[-1]}:{self.function}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Open:
    """A traceback whose exception is not there yet."""

    stream: str
    line: int
    user: Frame | None = None
    last: Frame | None = None
    files: tuple[str, ...] = ()  # the user's, two at most
    strangers: int = 0
    # the line of the exception that was being handled; of one that it was raised from, negative
    earlier: int = 0
    indent: int = 0  # blanks before its head, as where a whole log is indented
    ignored: int = 0  # exceptions that are due here, and end nothing
    call_stack: bool = False  # no exception is due
    in_thread: bool = False  # its outermost frame is a thread's, or one of multiprocessing's
    saves: bool = False  # a frame is in a function that saves


@dataclass(frozen=True, kw_only=True)
class LoggedException:
    """An exception, with or without its traceback."""

    exception: str
    message: str
    where: Frame | None = None
    one_file: bool = False
    earlier: int = 0
    traced: bool = False
    ignored: bool = False
    saves: bool = False  # raised in a function that saves
    peer_left: bool = False  # raised because another process closed a pipe
    decodes: bool = False  # raised by Pillow while it read a file
    logs: bool = False  # raised by logging while it wrote a record


def starts_traceback(content: str) -> bool:
    return "Traceback (most" in content and bool(_HEAD.search(content))


def frame_of(content: str) -> Frame | None:
    match = _FRAME.match(content)
    return Frame(match[1], int(match[2]), (match[3] or "").strip()) if match else None


def announces_ignored(content: str) -> bool:
    """Whether the traceback that follows is of an exception that Python ignores.

    >>> announces_ignored("Exception ignored in: <function Queue.__del__ at 0x7f>")
    True
    """
    # a word is found in a tenth of the time of the pattern
    return (
        "Exception ignored " in content
        or _LOGGING_ERROR in content
        or "Error in atexit." in content
        or "WON'T CONVERT " in content
    ) and bool(_IGNORED_EXCEPTION.search(content))


def begins_logging_error(content: str) -> bool:
    return content.rstrip() == _LOGGING_ERROR


def begins_call_stack(content: str) -> bool:
    return content.rstrip() == _CALL_STACK


def indent_of(content: str) -> int:
    """The blanks before the head of a traceback; where the head is missing, its frame's own two
    are none.
    """
    blanks = len(content) - len(content.lstrip(" \t"))
    return blanks if starts_traceback(content) else max(blanks - 2, 0)


def dedent_line(content: str, indent: int) -> str:
    """
    >>> dedent_line("    ValueError: x", 4), dedent_line("  ValueError: x", 4)
    ('ValueError: x', 'ValueError: x')
    """
    return content[:indent].lstrip(" \t") + content[indent:]


def handles(content: str) -> bool:
    """Whether the next traceback was raised while the last one was handled."""
    return content.lstrip().startswith(_HANDLING)


def is_chain_marker(content: str) -> bool:
    return content.lstrip().startswith((_HANDLING, _DIRECT_CAUSE))


def with_frame(traceback: Open, frame: Frame) -> Open:
    if traceback.last is None:
        count = max(traceback.ignored, 1) if _tidies_up(frame) else traceback.ignored
        in_thread = bool(_THREAD.search(frame.file))
        traceback = replace(traceback, ignored=count, in_thread=in_thread)
    if not traceback.saves and _SAVES.search(frame.function):
        traceback = replace(traceback, saves=True)
    if not frame.ours:
        return replace(traceback, last=frame, strangers=0)
    files = traceback.files
    if frame.file not in files and len(files) < 2:
        files = (*files, frame.file)
    return replace(traceback, user=frame, last=frame, files=files, strangers=0)


def _tidies_up(outermost: Frame) -> bool:
    """W&B's client prints the exception of its own clean-up at exit: the frames begin there, not in
    the program (wandb/wandb:wandb/sdk/wandb_run.py). Versions that raise it begin elsewhere.
    """
    return outermost.function == "_atexit_cleanup" and outermost.file.endswith("wandb_run.py")


def raised_by(traceback: Open, content: str) -> LoggedException | None:
    """The exception that ends the traceback, if this line is it."""
    match = None if traceback.call_stack else _EXCEPTION.match(content)
    if not match or not _A_NAME.search(match[1]):
        return None
    one_file = len(traceback.files) == 1
    return LoggedException(
        exception=match[1],
        message=match[2] or "",
        where=traceback.user,
        one_file=one_file,
        earlier=traceback.earlier,
        traced=True,
        ignored=traceback.ignored > 0
        or _closes_twice(traceback, match[2] or "")
        or falls_back(traceback.stream),
        saves=traceback.saves,
        peer_left=match[1] == "EOFError" and _reads_from_peer(traceback.last),
        decodes=traceback.last is not None
        and not traceback.saves
        and bool(_DECODES.search(traceback.last.file)),
        logs=traceback.last is not None and bool(_LOGGING.search(traceback.last.file)),
    )


def _in_connection(frame: Frame | None) -> bool:
    """A pipe of `multiprocessing`, which ends where the process at its other end has ended."""
    return frame is not None and frame.file.replace("\\", "/").endswith(
        "/multiprocessing/connection.py"
    )


def _reads_from_peer(frame: Frame | None) -> bool:
    """Also a child of `spawn` whose parent could not send it what it is to run."""
    return _in_connection(frame) or (
        frame is not None
        and frame.file.replace("\\", "/").endswith("/multiprocessing/spawn.py")
        and frame.function == "_main"
    )


def _closes_twice(traceback: Open, message: str) -> bool:
    """A connection of `multiprocessing` that a thread of its own or an object's end closes a second
    time: what still uses it fails elsewhere, with an exception of its own
    (python/cpython:Lib/multiprocessing/connection.py, `_close`).
    """
    last = traceback.last
    return (
        last is not None
        and traceback.in_thread
        and traceback.user is None
        and _in_connection(last)
        and last.function in ("_close", "close", "__del__")
        and message.startswith("[Errno 9] ")
    )


def bare(content: str) -> LoggedException | None:
    """An exception's line that stands alone, as where only the last line was kept."""
    match = _BARE.match(content)
    return LoggedException(exception=match[1], message=match[2] or "") if match else None


def falls_back(stream: str) -> bool:
    """Whether torch.compile says by these labels that it does without compiling a function."""
    return bool(_FALLS_BACK.search(stream))


def patient(traceback: Open) -> Open | None:
    """One more line of another process; too many, and the traceback is taken for torn."""
    return (
        replace(traceback, strangers=traceback.strangers + 1)
        if traceback.strangers < _PATIENCE
        else None
    )
