"""Commands of herorun that a message proposes, in backticks.

A message can go to the screen, the record, the issue and JSON, so it is written without the folder
that its commands need. The screen adds the folder that the person typed, except to a command that
is for another clone or machine: it has double backticks, which mean the same in Markdown.
"""

from collections.abc import Sequence

from herorun.core.lazy_regex import lazy_regex

# These are the same in every folder.
_ANYWHERE = r"(?!(?:completion|demo|explain|schema)\b)[a-z]"
# A verb without an argument names a command, but for `herorun list`.
_IN_BACKTICKS = lazy_regex(rf"(?<=(?<!`)`)herorun (?=(?:list\b|{_ANYWHERE}[a-z-]* )[^`]*`)")
_AFTER_AND = lazy_regex(rf"(?<=&& )herorun (?={_ANYWHERE}[^`]*`(?!`))")
_BARE = lazy_regex(rf"(?m)(?:(?<=: )|(?<=&& )|(?<=  )|^)herorun (?={_ANYWHERE})")
_DOUBLE = lazy_regex(r"(?<!`)``(?!`)")


def elsewhere(command: str) -> str:
    """A command for another clone or machine, as a message has it.

    >>> in_folder(f"{elsewhere('herorun babysit tiny')}, or `herorun ack tiny` here", "/work")
    '``herorun babysit tiny``, or `herorun -C /work ack tiny` here'
    """
    return f"``{command}``"


def in_tmux(command: str) -> str:
    """A `herorun babysit` in backticks, for a person to type: unlike the babysitter that a launch
    starts, it runs in the foreground, and ends with the person's session.

    >>> in_tmux("`herorun babysit tiny`")
    'in `tmux` (otherwise it ends with your session): `herorun babysit tiny`'
    """
    return f"in `tmux` (otherwise it ends with your session): {command}"


def on_screen(text: str) -> str:
    """The text without the marks of `elsewhere`: last, after `in_folder`.

    >>> on_screen(elsewhere("herorun babysit tiny"))
    '`herorun babysit tiny`'
    """
    return _DOUBLE.sub("`", text) if "``" in text else text


def herorun_argv(folder: str, argv: Sequence[str]) -> list[str]:
    """`herorun ARGV` as typed outside `folder`; "" and "." are where the person stands.

    >>> herorun_argv("/work", ["ack", "tiny"]), herorun_argv(".", ["ack", "tiny"])
    (['herorun', '-C', '/work', 'ack', 'tiny'], ['herorun', 'ack', 'tiny'])
    """
    return ["herorun", *(["-C", folder] if folder not in ("", ".") else []), *argv]


def in_folder(text: str, folder: str) -> str:
    """The text, whose commands in backticks work where `folder` is not the current one.

    >>> in_folder("`herorun handoff tiny --take && herorun launch tiny`, `herorun list`", "w")
    '`herorun -C w handoff tiny --take && herorun -C w launch tiny`, `herorun -C w list`'
    """
    if "herorun" not in text:
        return text
    text = _IN_BACKTICKS.sub(lambda _: _head(folder), text)
    return _AFTER_AND.sub(lambda _: _head(folder), text)


def command_in_folder(command: str, folder: str) -> str:
    """The same of a text that is a command itself, or ends with one after a colon or `&&`.

    >>> command_in_folder("herorun handoff tiny --take && herorun launch tiny", "work")
    'herorun -C work handoff tiny --take && herorun -C work launch tiny'
    """
    return in_folder(_BARE.sub(lambda _: _head(folder), command), folder)


def _head(folder: str) -> str:
    from shlex import join

    return f"{join(herorun_argv(folder, ()))} "
