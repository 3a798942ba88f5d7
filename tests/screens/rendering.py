"""A command's screen as text: the real command prints it, and what it would have read is given."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from unittest.mock import patch

import herorun
from builders import NOON
from herorun import cli
from herorun.system.terminal import fit

WIDTH = 80  # columns


@dataclass(frozen=True)
class Screen:
    """`given` replaces what the command asks for, by its full name: a function there answers with
    the value. Without any the command runs in the folder `home` of the test.
    """

    name: str  # of its file: the command, and the state
    argv: str
    answers: Mapping[str, Any] = field(default_factory=dict)
    home: Callable[[Path], None] | None = None  # fills the folder
    environment: Mapping[str, str] = field(default_factory=dict)
    keys: str = ""  # at a terminal; without it there is none to ask


class Terminal(io.StringIO):
    """A terminal without colours."""

    def isatty(self) -> bool:
        return True


class Keyboard(Terminal):
    """Its lines appear behind the question, as on a terminal."""

    def __init__(self, text: str, screens: Sequence[io.StringIO]) -> None:
        super().__init__(text)
        self.screens = screens

    def readline(self, size: int | None = -1, /) -> str:
        line = super().readline(size)
        for screen in self.screens:
            if not f"\n{screen.getvalue()}".endswith("\n"):
                screen.write(line)
        return line


@cache
def _import_all() -> None:
    """A module that is first imported under a patch would keep the stand-in for good."""
    for module in walk_packages(herorun.__path__, "herorun."):
        if module.name.startswith(("herorun.commands.", "herorun.operations.")):
            import_module(module.name)


def fit_at_work(home: Path, text: str, columns: int) -> str:
    return fit(text.replace(str(home), "/work"), columns)


def render(screen: Screen, home: Path) -> str:
    """The command line, both streams and the exit code, at the clock of the tests."""
    _import_all()
    if screen.home:
        screen.home(home)
    out, err = Terminal(), Terminal()
    with ExitStack() as stack:
        environment = {"COLUMNS": str(WIDTH), "LINES": "40", "TERM": "dumb", "NO_COLOR": "1"}
        own = {name: value for name, value in os.environ.items() if "HERORUN" not in name}
        environment |= screen.environment
        stack.enter_context(patch.dict(os.environ, own | environment, clear=True))
        terminal = Keyboard(screen.keys, (out, err)) if screen.keys else io.StringIO()
        stack.enter_context(patch("sys.stdin", terminal))
        stack.enter_context(patch("herorun.system.clock.now", lambda: NOON))
        # The length of a folder's name differs by machine: it must not decide where a line breaks.
        stack.enter_context(patch("herorun.system.terminal.fit", partial(fit_at_work, home)))
        for target, value in screen.answers.items():
            answer = value if callable(value) else lambda *_, value=value, **__: value
            stack.enter_context(patch(target, answer))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(chdir(home))
        code = cli.run(screen.argv.split())
    parts = [f"$ herorun {screen.argv}\n", out.getvalue()]
    if err.getvalue():
        parts.append(f"--- standard error\n{err.getvalue()}")
    text = "".join(parts).replace(str(home), "/work")
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join([*lines, f"--- exit code {code}", ""])
