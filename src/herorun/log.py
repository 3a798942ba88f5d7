"""Log: one JSON line a step, for a run that reports to no tracker of its own. The tracker `jsonl`
reads it.

Standard library only, no network. Only rank 0 writes; a line is appended whole, also where several
processes write to one file, and logging never ends a training.
"""

import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from operator import index
from types import ModuleType
from typing import Any

from .checkin import rank

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # without locks, the append alone must do

_OURS = ("step", "timestamp")
_complaints: set[str] = set()  # each complaint is made once a process


def log(
    values: Mapping[str, Any],
    *,
    step: int,
    path: str | os.PathLike[str] | None = None,
) -> bool:
    """Append the numbers of one step to the run's metrics. Returns whether a line was written.

    `values` maps a metric's name to a number, or to an array or tensor of one element (shape `()`
    or `(1,)`); nested tables are read as `outer/inner`. NaN and infinity are kept. herorun
    understands `step_time` in seconds and `tokens_per_s` by their names; other metrics may have
    any unit.
    `step` counts from the contract's `[tracker] first_step`.

    A relative `path` is within the admitted output root; without `path` the line goes to the file
    that the contract's tracker reads. Without an admission only an absolute `path` is written.
    Ranks other than the first write nothing.

    A `step` that is no integer raises TypeError. A value that is no number and a file that cannot
    be written are reported once, on standard error, and the training continues.
    """
    number = index(step)
    if rank() != 0:
        return False
    target = _target(path)
    if not target:
        return False
    row = {**dict(_numbers(values)), "step": number, "timestamp": _now()}
    try:
        _append(target, (json.dumps(row, allow_nan=False) + "\n").encode())
    except OSError as error:
        _log_once(
            f"{target} cannot be written: {error.strerror or error}; the training continues "
            "without "
            "it."
        )
        return False
    return True


def _target(path: str | os.PathLike[str] | None) -> str:
    """An absolute path on this machine; if there is none, empty, with a warning."""
    stated_path = os.fspath(path) if path is not None else ""
    if os.path.isabs(stated_path):
        return stated_path
    admission = _admission(os.environ.get("HERORUN_ADMISSION", ""))
    stated_path = os.path.join(
        str(admission.get("output_root") or ""), stated_path or str(admission.get("metrics") or "")
    )
    if "://" in stated_path:
        _log_once(f"{stated_path} is no file here: give `herorun.log` a `path` on this machine.")
        return ""
    if not os.path.isabs(stated_path) or stated_path.endswith("/"):
        _log_once(
            'nothing is logged: no admission whose [tracker] kind is "jsonl" is in the '
            "environment, and no absolute `path` was given."
        )
        return ""
    return stated_path


_admissions: dict[str, dict[str, Any]] = {}


def _admission(path: str) -> dict[str, Any]:
    """Read once; one that cannot be read is check-in's to refuse."""
    if path and path not in _admissions:
        try:
            with open(path, "rb") as file:
                document = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            return {}
        _admissions[path] = document if isinstance(document, dict) else {}
    return _admissions.get(path, {})


def _numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What JSON can hold; None is no observation."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield str(name), dict(_numbers(value))
        elif str(name) not in _OURS and value is not None:
            try:
                yield str(name), _plain_number(value)
            except (TypeError, ValueError, RuntimeError, OverflowError):
                _log_once(f"{name!r} is not a number ({type(value).__name__}): it is left out.")


def _plain_number(value: Any) -> int | float | str:
    """Numbers, and what holds exactly one of them."""
    if isinstance(value, str | bytes):
        raise TypeError("a text")
    value = (
        value
        if isinstance(value, int | float)
        else value.item()
        if hasattr(value, "item")
        else value
    )
    if isinstance(value, int):  # bool is one too
        return int(value)
    number = float(value)
    if math.isnan(number):
        return "NaN"
    return number if math.isfinite(number) else "Infinity" if number > 0 else "-Infinity"


def _append(path: str, line: bytes) -> None:
    """One write at the end of the file. What a crash tore off before is closed by a line end of its
    own.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        file = os.open(path, flags, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = os.open(path, flags, 0o644)
    try:
        with _alone(file):
            end = os.fstat(file).st_size
            if end and os.pread(file, 1, end - 1) != b"\n":
                line = b"\n" + line
            if os.write(file, line) != len(line):
                raise OSError(28, "no space left for a whole line", path)
    finally:
        os.close(file)


@contextlib.contextmanager
def _alone(file: int) -> Iterator[None]:
    """Where the file system knows no locks, the append alone must do."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
    yield  # closing the file ends the lock


def _now() -> str:
    seconds, part = divmod(time.time(), 1)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(part * 1000):03d}Z"


def _log_once(message: str) -> None:
    if message not in _complaints:
        _complaints.add(message)
        print(f"herorun: log: {message}", file=sys.stderr, flush=True)


class _Callable(ModuleType):
    """Importing this module puts it where `herorun.log` stands, which people call."""

    def __call__(self, *args: Any, **options: Any) -> bool:
        return log(*args, **options)


sys.modules[__name__].__class__ = _Callable
