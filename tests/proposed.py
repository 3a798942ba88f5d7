"""Whatever command a story is proposed works when it is typed.

A command stands in what the command line prints: in backticks, or after `next`. After the
test's own body, while its world still stands, a command that the last call proposed is typed. One
story in `EACH` is tried, always the same ones;
HERORUN_TYPED=1 tries the first command of every story, HERORUN_TYPED=2 the second, and so on.
"""

import contextlib
import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from herorun.core import proposed_commands
from herorun.core.proposed_commands import in_folder

EACH = 10
# After a "then" it waits for a step of the person's own, such as a commit.
_COMMAND = re.compile(
    r"(?<!then )(?<!`)`(herorun [^`\n]+)`(?!`)"
    r"|^(?:  (?:next|goes on)  +|next: )(herorun [^(\n]+)",
    re.MULTILINE,
)
_ELSEWHERE = re.compile(r"``(herorun [^`\n]+)``")
_TO_FILL_IN = re.compile(r"\b[A-Z]{2,}\b|\.\.\.|\{|user@machine")
# What an order comes to, and what a look may find: nothing that is proposed is a wrong use.
ORDERS = frozenset(
    {
        "ack",
        "approve",
        "deny",
        "fork",
        "handoff",
        "pause",
        "relaunch",
        "rollback",
        "seal",
        "stop",
        "trust",
    }
)
ONCE = {
    "babysit": "--once",
    "launch": "--no-babysit",
    "relaunch": "--no-babysit",
    "rollback": "--no-babysit",
    "trust": "--yes",  # the answer of a person at a terminal
}

latest: dict[Path, list[str]] = {}  # by the story's home: of its last call


class Ears:
    """A stream that continues as it is, and keeps what is said."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.parts: list[str] = []

    def write(self, text: Any) -> Any:
        if isinstance(text, str):
            self.parts.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def commands_in(text: str) -> list[str]:
    """Those that could be typed as they stand; a verb alone names a command and proposes none."""
    every = dict.fromkeys(
        quoted_command or printed_command
        for quoted_command, printed_command in _COMMAND.findall(text)
    )
    return [each for each in every if not _TO_FILL_IN.search(each) and _is_whole(each.split())]


def _is_whole(argv: list[str]) -> bool:
    argv = argv[2:] if argv[1] == "-C" else argv
    return len(argv) > (3 if argv[1] == "box" else 2)


def _from_document(text: str, folder: Path) -> str:
    """A JSON document holds each check's `fix`; that of a check that passes proposes nothing. Its
    commands are as they are typed in the repository; those on the screen must have the folder.
    """
    try:
        document = json.loads(text)
    except ValueError:
        return text
    findings = document.get("findings") if isinstance(document, dict) else None
    for finding in findings if isinstance(findings, list) else ():
        if isinstance(finding, dict) and finding.get("outcome") not in ("fail", "unknown"):
            finding.pop("fix", None)
    return in_folder(json.dumps(document), str(folder))


@contextlib.contextmanager
def listening(home: Path) -> Iterator[None]:
    """While one command of a story runs. What it marks as for another clone is not typed in this
    one: on the screen the mark is gone, so it is read before.
    """
    out, err = Ears(sys.stdout), Ears(sys.stderr)
    sys.stdout, sys.stderr = out, err
    on_screen, for_elsewhere = proposed_commands.on_screen, set[str]()

    def without_marks(text: str) -> str:
        for_elsewhere.update(_ELSEWHERE.findall(text))
        return on_screen(text)

    proposed_commands.on_screen = without_marks
    try:
        yield
    finally:
        proposed_commands.on_screen = on_screen
        sys.stdout, sys.stderr = out.stream, err.stream
        texts = ("".join(ears.parts) for ears in (out, err))
        commands = (commands_in(_from_document(text, home / "work")) for text in texts)
        every = dict.fromkeys(chain.from_iterable(commands))
        latest[home] = [command for command in every if command not in for_elsewhere]


def is_tried(test: str) -> bool:
    return "HERORUN_TYPED" in os.environ or zlib.crc32(test.encode()) % EACH == 0


def type_one(story: Any) -> str:
    """What went wrong; empty where it worked, or nothing was proposed."""
    commands = latest.pop(story.home, [])
    number = int(os.environ.get("HERORUN_TYPED", "1"))
    # a test that takes the contract away after its last command bends the world by hand
    if len(commands) < number or not (story.work / "runs" / "tiny.toml").is_file():
        return ""
    command = commands[number - 1]
    _, *argv = shlex.split(command.partition(" && ")[0])  # what follows waits for its success
    if "--wait" in argv:
        at = argv.index("--wait")
        del argv[at : at + 2]  # a test has no time for it
    once = [each for verb, each in ONCE.items() if verb in argv and each not in argv]
    code = story.typed_elsewhere(*argv, *once)
    waits = (
        "--take" in argv and code == 3
    )  # another's lease is taken once it is stale, and the refusal says when
    good = code == 0 or waits if ORDERS & {*argv[:3]} else code in (0, 1, 3)
    return "" if good else f"`{command}` was proposed and ends with {code}"
