"""The words of shell commands in a text, read without running them."""

import re
from collections.abc import Iterator

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
