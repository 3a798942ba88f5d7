"""The commands of herorun that a text proposes, with the folder that they need.

A message can go to the screen, the record and the issue, so it is written without the folder.
The screen adds the folder that the person typed.
"""

import re
import shlex
from collections.abc import Sequence

from herorun.core.lazy_regex import lazy_regex

HERE = "."
# These are the same in every folder.
_ANYWHERE = r"(?!(?:completion|demo|explain|schema)\b)[a-z]"
# A verb without an argument names a command. "There, `X`" and "`X` there" are for elsewhere.
_IN_BACKTICKS = lazy_regex(
    rf"(?<![Tt]here, `)(?<=`)herorun (?={_ANYWHERE}[a-z-]* [^`]*`"
    r"(?! (?:there\b|(?:runs )?as |on (?:the|its) machine|on \S+@)))"
)
_BARE = lazy_regex(rf"(?:(?<=: )|(?<=&& )|(?<=  )|^)herorun (?={_ANYWHERE})", re.MULTILINE)


def herorun_argv(folder: str, argv: Sequence[str]) -> list[str]:
    """`herorun ARGV` as typed elsewhere than in `folder`; "" and "." are where the person stands.

    >>> herorun_argv("/work", ["ack", "tiny"]), herorun_argv(".", ["ack", "tiny"])
    (['herorun', '-C', '/work', 'ack', 'tiny'], ['herorun', 'ack', 'tiny'])
    """
    return ["herorun", *(["-C", folder] if folder not in ("", HERE) else []), *argv]


def in_folder(text: str, folder: str) -> str:
    """The text, whose commands in backticks work where `folder` is not the current one.

    >>> in_folder("next: `herorun ack tiny`; there, `herorun babysit tiny`", "/my work")
    "next: `herorun -C '/my work' ack tiny`; there, `herorun babysit tiny`"
    """
    return _IN_BACKTICKS.sub(lambda _: _head(folder), text) if "herorun" in text else text


def command_in_folder(command: str, folder: str) -> str:
    """The same of a text that is a command itself, or ends with one after a colon or `&&`.

    >>> command_in_folder("herorun handoff tiny --take && herorun launch tiny", "work")
    'herorun -C work handoff tiny --take && herorun -C work launch tiny'
    """
    return in_folder(_BARE.sub(lambda _: _head(folder), command), folder)


def _head(folder: str) -> str:
    return f"{shlex.join(herorun_argv(folder, ()))} "
