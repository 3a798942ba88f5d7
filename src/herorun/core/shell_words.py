"""The words of a shell's text, read without running it."""

import shlex
from collections.abc import Iterator

from herorun.core.lazy_regex import lazy_regex

_SEPARATORS, _REDIRECTIONS = frozenset(";&|()"), frozenset("<>")
_MARKS = lazy_regex(r"[\s;&|<>()'\"]+")
_SUBSTITUTION = lazy_regex(r"\$\(|[`)]")


def shell_lines(text: str) -> Iterator[list[str]]:
    """The words of each line, without quotation marks, operators and comments; what is substituted
    in a word follows it.

    >>> list(shell_lines("cd a && exec bash 'my job.sh' --lr=1 # fast"))
    [['cd', 'a', 'exec', 'bash', 'my job.sh', '--lr=1']]
    """
    for line in _lines_of(text):
        commands = list(_commands_of(line))
        if commands:
            yield [word for command in commands for word in command]


def shell_commands(text: str) -> Iterator[list[str]]:
    """The words of each simple command.

    >>> list(shell_commands('cd a && id="$(sbatch t.sh)"'))
    [['cd', 'a'], ['id=$(sbatch t.sh)'], ['id='], ['sbatch', 't.sh']]
    """
    for line in _lines_of(text):
        yield from _commands_of(line)


def _lines_of(text: str) -> list[str]:
    return text.replace("\\\n", " ").splitlines()


def _commands_of(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    for token in [*_tokens(line), ";"]:
        if not _SEPARATORS.issuperset(token):
            words += [] if _REDIRECTIONS.issuperset(token) else [token]
        elif words:
            yield words
            for word in words:
                if "$(" in word or "`" in word:
                    yield from _commands_of(_SUBSTITUTION.sub(";", word))
            words = []


def _tokens(line: str) -> list[str]:
    """Words and operators. Of a quotation that ends on a later line the marks are dropped."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return [token for token in lexer if token]
    except ValueError:
        return [token for token in _MARKS.split(line) if token]
