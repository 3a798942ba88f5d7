"""Runs small Python programs on another machine: their source is sent with the query.

Nothing has to be installed there. Concurrent queries share one connection, so that a tick needs
few; one that hangs times out alone. An OSError there is raised as the same OSError here.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.remote.target import RemoteTarget
from herorun.core.untrusted_json import read_json
from herorun.system import _remote_agent
from herorun.system.process import ProcessResult

if TYPE_CHECKING:
    from herorun.system.transport import Transport

BATCH_WINDOW = 0.03  # seconds for which a query waits for others to the same machine
MIN_VERSION = (3, 8)  # of Python on the remote machine
_NOT_FOUND = 127
_BOOT = (
    "import sys, json, types\n"
    f"if sys.version_info < {MIN_VERSION}: sys.exit(126)\n"
    "order = json.loads(sys.stdin.buffer.read(int(sys.argv[1])))\n"
    "for name, source in order['modules']:\n"
    "    module = sys.modules[name] = types.ModuleType(name)\n"
    "    package, _, own = name.rpartition('.')\n"
    "    setattr(sys.modules.setdefault(package, types.ModuleType(package)), own, module)\n"
    "    exec(compile(source, name, 'exec'), module.__dict__)\n"
    "sys.modules['herorun.system._remote_agent'].answer_orders(order)\n"
)
_TOO_OLD = 126
_OTHER_FORM = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class RemoteProgram:
    """Source files to send, in the order of their dependencies; the last one has the queried
    functions.
    """

    files: tuple[tuple[str, str], ...]  # name of the module, path of its source

    @property
    def name(self) -> str:
        return self.files[-1][0]


@dataclass(kw_only=True)
class _Ask:
    program: RemoteProgram
    question: str
    arguments: Mapping[str, Any]
    timeout: float
    done: Event = field(default_factory=Event)
    answer: Any = None
    error: Exception | None = None


@contextmanager
def readable(where: str) -> Iterator[None]:
    """A context for reading an answer: an answer of an unexpected form raises `CouldNotLook`."""
    try:
        yield
    except _OTHER_FORM as error:
        raise CouldNotLook(
            f"{where} gave an answer that cannot be read ({type(error).__name__}): another "
            "program answers there, "
            "or it is damaged."
        ) from None


class RemotePython:
    """Python at the remote end of one transport."""

    def __init__(self, transport: "Transport", python: str = "python3") -> None:
        self.transport = transport
        self.python = python
        self._lock = Lock()
        self._waiting: list[_Ask] = []

    def ask(self, program: RemoteProgram, question: str, timeout: float, **arguments: Any) -> Any:
        """The result of the program's function `question` there; raises its OSError, or
        `CouldNotLook` without an answer.
        """
        ask = _Ask(program=program, question=question, arguments=arguments, timeout=timeout)
        with self._lock:
            self._waiting.append(ask)
            leads = len(self._waiting) == 1
        if leads:
            time.sleep(BATCH_WINDOW)
            with self._lock:
                together, self._waiting = self._waiting, []
            self._go(together)
        ask.done.wait()
        if ask.error is not None:
            raise ask.error
        return ask.answer

    def ask_with_input(
        self, program: RemoteProgram, question: str, timeout: float, data: bytes, **arguments: Any
    ) -> Any:
        """The same for a query with data, which it reads from its standard input. It is sent
        alone.
        """
        ask = _Ask(program=program, question=question, arguments=arguments, timeout=timeout)
        (answer,) = self._answers([ask], data)
        return self._parse_answer(answer, ask)

    def stream(
        self, program: RemoteProgram, question: str, idle: float, **arguments: Any
    ) -> Iterator[Any]:
        """The parts of a long answer, each as it comes; `CouldNotLook` after `idle` seconds without
        one.
        """
        ask = _Ask(program=program, question=question, arguments=arguments, timeout=idle)
        order = order_of([ask], idle, streams=True)
        lines = self.transport.lines(self._argv(order), idle, order)
        while True:
            try:
                line = next(lines)
            except StopIteration as end:
                self._must_have_run(end.value)
                return
            with readable(self.transport.where):
                answer = dict(json.loads(line))
            yield self._parse_answer(answer, ask)

    def _go(self, together: Sequence[_Ask]) -> None:
        try:
            for ask, answer in zip(together, self._answers(together), strict=True):
                try:
                    ask.answer = self._parse_answer(answer, ask)
                except (OSError, CouldNotLook) as error:
                    ask.error = error
        except Exception as error:  # every waiting thread must get the error
            for ask in together:
                ask.error = CouldNotLook(str(error)) if isinstance(error, CouldNotLook) else error
        finally:
            for ask in together:
                ask.done.set()

    def _answers(self, asks: Sequence[_Ask], data: bytes | None = None) -> list[dict[str, Any]]:
        within = max(ask.timeout for ask in asks)
        order = order_of(asks, within, alone=data is not None)
        answer = self.transport.run(self._argv(order), within + 2, stdin=order + (data or b""))
        self._must_have_python(answer)
        try:
            answers = read_json(answer.out)
        except ValueError:
            raise CouldNotLook(
                f"{self.transport.where} could not be asked: {answer.complaint}"
            ) from None
        if (
            isinstance(answers, list)
            and len(answers) == len(asks)
            and all(isinstance(each, dict) for each in answers)
        ):
            return answers
        raise CouldNotLook(f"{self.transport.where} did not answer every question. Try again.")

    def _argv(self, order: bytes) -> tuple[str, ...]:
        return (self.python, "-I", "-S", "-c", _BOOT, f"{len(order)}")

    def _must_have_python(self, answer: ProcessResult) -> None:
        if answer.code in (_NOT_FOUND, _TOO_OLD):
            what = "was not found" if answer.code == _NOT_FOUND else "is too old"
            raise CouldNotLook(
                f"`{self.python}` {what} on {self.transport.where}: install Python "
                f"{MIN_VERSION[0]}.{MIN_VERSION[1]} or newer there, "
                "or name it as `python` in [scheduler]."
            )

    def _must_have_run(self, answer: ProcessResult) -> None:
        self._must_have_python(answer)
        if answer.code:
            raise CouldNotLook(
                f"{self.transport.where} sent an incomplete answer: {answer.complaint}. Try again."
            )

    def _parse_answer(self, answer: Mapping[str, Any], ask: _Ask) -> Any:
        if "told" in answer:
            return answer["told"]
        if answer.get("late"):
            raise CouldNotLook(
                f"{self.transport.where} could be reached, but gave no answer within "
                f"{format_span(ask.timeout)}: a disk there may hang."
            )
        number, why, path = (answer.get(name) for name in ("errno", "why", "path"))
        if isinstance(number, int) and isinstance(path, str | None):
            raise OSError(number, str(why), path)
        raise OSError(str(why))


@cache
def remote_to(reach: RemoteTarget) -> RemotePython:
    """One object for each machine in this process, so that queries can share a connection."""
    from herorun.system.transport import transport_to

    return RemotePython(transport_to(reach.login, reach.connect), reach.python)


def order_of(
    asks: Sequence[Any], within: float, alone: bool = False, streams: bool = False
) -> bytes:
    """The data to send: each program's source once, and the queries."""
    files = dict([own_file(_remote_agent), *(file for ask in asks for file in ask.program.files)])
    questions = [
        {"module": a.program.name, "question": a.question, "given": a.arguments} for a in asks
    ]
    order = {
        "modules": [[name, source(path)] for name, path in files.items()],
        "asks": questions,
        "within": within,
        "alone": alone,
        "streams": streams,
    }
    return json.dumps(order).encode("ascii")


def own_file(module: Any) -> tuple[str, str]:
    """A module of herorun as a source file to send."""
    return str(module.__name__), str(module.__file__)


@cache
def source(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")
