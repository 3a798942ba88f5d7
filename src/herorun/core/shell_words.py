"""Shell commands in a text: their words, read without running them, and those of herorun that a
message proposes.

A message can go to the screen, the record and the issue, so it is written without the folder that
its commands need. The screen adds the folder that the person typed.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from herorun.core.lazy_regex import lazy_regex

# Comments, words, redirections, and what ends a command. Blanks match nothing, and neither does the
# mark of a quotation that never ends. A possessive quantifier here fails in CPython 3.11.2.
_TOKEN = lazy_regex(
    r"""\#[^\n]*
    | (?P<word> (?: [^ \t\r\n;&|<>()'"\\] | \\. | '[^']*' | "(?:[^"\\]|\\.)*" )+ )
    | &?[<>]+[&|]?
    | (?P<end> [;&|()\n]+ )""",
    re.DOTALL | re.VERBOSE,
)
_QUOTATION = lazy_regex(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ESCAPE = lazy_regex(r'\\(["\\\n])')
_SUBSTITUTION = lazy_regex(r"\$\(|[`)]")


def shell_lines(text: str) -> Iterator[list[str]]:
    """The words of each line, without quotation marks, operators and comments; what is substituted
    in a word follows it, and the lines of a quotation over several follow its own.

    >>> list(shell_lines("cd a && exec bash 'my job.sh' --lr=1 # fast"))
    [['cd', 'a', 'exec', 'bash', 'my job.sh', '--lr=1']]
    """
    for commands in _lines_of(text):
        words = [word for command in commands for word in command]
        yield words
        for word in words:
            if "\n" in word:
                yield from shell_lines(word)


def shell_commands(text: str) -> Iterator[list[str]]:
    """The words of each simple command.

    >>> list(shell_commands('cd a && id="$(sbatch t.sh)"'))
    [['cd', 'a'], ['id=$(sbatch t.sh)'], ['id='], ['sbatch', 't.sh']]
    """
    for commands in _lines_of(text):
        yield from commands


def _lines_of(text: str) -> Iterator[list[list[str]]]:
    """The commands of each line that has one."""
    commands: list[list[str]] = []
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        end = match["end"]
        if match["word"]:
            words += filter(None, [_unquote(match["word"])])
        elif end:
            commands += _with_substituted(words)
            words = []
            if "\n" in end and commands:
                yield commands
                commands = []
    commands += _with_substituted(words)
    if commands:
        yield commands


def _with_substituted(words: list[str]) -> Iterator[list[str]]:
    if words:
        yield words
    for word in words:
        if "$(" in word or "`" in word:
            yield from shell_commands(_SUBSTITUTION.sub(";", word))


def _unquote(word: str) -> str:
    return _QUOTATION.sub(_content_of, word)


def _content_of(quotation: re.Match[str]) -> str:
    single, double, character = quotation.groups()
    if double is not None:
        return _ESCAPE.sub(lambda each: each[1].strip("\n"), double)
    return single if single is not None else character.strip("\n")  # a line may end in an escape


# --- proposed commands ------------------------------------------------------------------------

# These are the same in every folder.
_ANYWHERE = r"(?!(?:completion|demo|explain|schema)\b)[a-z]"
# A verb without an argument names a command, but for `herorun list`. "There, `X`" and "`X` there"
# are for elsewhere.
_IN_BACKTICKS = lazy_regex(
    rf"(?<![Tt]here, `)(?<=`)herorun (?=(?:list\b|{_ANYWHERE}[a-z-]* )[^`]*`"
    r"(?! (?:there\b|(?:runs )?as |on (?:the|its) machine|on \S+@)))"
)
_AFTER_AND = lazy_regex(rf"(?<=&& )herorun (?={_ANYWHERE}[^`]*`)")
_BARE = lazy_regex(rf"(?:(?<=: )|(?<=&& )|(?<=  )|^)herorun (?={_ANYWHERE})", re.MULTILINE)


def herorun_argv(folder: str, argv: Sequence[str]) -> list[str]:
    """`herorun ARGV` as typed elsewhere than in `folder`; "" and "." are where the person stands.

    >>> herorun_argv("/work", ["ack", "tiny"]), herorun_argv(".", ["ack", "tiny"])
    (['herorun', '-C', '/work', 'ack', 'tiny'], ['herorun', 'ack', 'tiny'])
    """
    return ["herorun", *(["-C", folder] if folder not in ("", ".") else []), *argv]


def in_folder(text: str, folder: str) -> str:
    """The text, whose commands in backticks work where `folder` is not the current one.

    >>> in_folder("next: `herorun ack tiny`; there, `herorun babysit tiny`", "/work")
    'next: `herorun -C /work ack tiny`; there, `herorun babysit tiny`'
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
    return f"{shlex.join(herorun_argv(folder, ()))} "
