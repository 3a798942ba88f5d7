"""Finds what would reveal a secret: the values that scrubbing masks, except those that cannot be
one.
"""

import codecs
import re
from collections.abc import Iterator

from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import MASK, has_known_shape, scrub

_MAX_VALUES = 20  # values of one text that are counted separately
# What scrubbing masks to be on the safe side, and what gives no login.
_HARMLESS = lazy_regex(
    r"<.*|\[[A-Za-z_|]+\]?"  # special tokens of a vocabulary, and places to fill in
    r"|sha\d+:[0-9a-f]+"
    r"|(?:[~.]{0,2}/|\w+://)[^@\s]*"  # a path, and a URL without a user
    r"|==?[\w.<>=]*"  # a comparison, and the version of a requirement
    r"|\{+\w*\}*|\[scrubbed\]?|\*+|x+"
    r"|none|basic|bearer|oauth2?|kerberos|iam|adc|default|auto|env|netrc|anonymous|required|optional|git|hg",
    re.IGNORECASE,
)
# In Python a name after `=` or `:` is an expression, not the secret itself: `token = get_token()`,
# `password: SecretStr`.
_EXPRESSION = lazy_regex(
    r"(?::=|==?|:)(?=\s*(?:(?:await|not|lambda)\s+)?(?!(?=\w*\d)\w{16,})[A-Za-z_][\w.]*\s*"
    r"(?:[\[(,):=|+#/*}]|$|(?:if|or|and|for|in)\b))"
)
_ANNOTATION = lazy_regex(r"(?<=\w)\s*:\s*[A-Za-z_][\w.\[\], |]*=(?!=)")  # `password: str = ...`


def harmless(value: str) -> bool:
    """Whether a value that was masked for its name or its place is none that must stay private."""
    return not value or (bool(_HARMLESS.fullmatch(value)) and not has_known_shape(value))


def secrets_in(text: str) -> tuple[str, ...]:
    """The values in a text that look like secrets. Never to be shown."""
    pieces = scrub(text).split(MASK)
    if len(pieces) == 1:
        return ()
    if len(pieces) > _MAX_VALUES:
        return (text,)
    match = re.fullmatch("(.+?)".join(map(re.escape, pieces)), text, re.DOTALL)
    values = match.groups() if match else (text,)
    return tuple(value for value in values if not harmless(value))


def find_exposed_lines(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """`path:line` of every line that may hold a secret and was not there before.

    A binary file has no lines: it is named where something in it has the shape of a known kind of
    secret.
    """
    before, after = _in_utf8(before), _in_utf8(after)
    if b"\0" in after[:8000]:
        if has_known_shape(after.replace(b"\0", b"").decode("ascii", "replace")):
            yield path
        return
    old_lines = set(before.splitlines())
    for number, line in enumerate(after.splitlines(), start=1):
        if line not in old_lines and secrets_in(_as_data(path, line.decode("utf-8", "replace"))):
            yield f"{path}:{number}"


def _in_utf8(data: bytes) -> bytes:
    """Text that some systems write with two bytes a character is still text."""
    has_utf16_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16", "replace").encode("utf-8", "replace") if has_utf16_mark else data


def _as_data(path: str, line: str) -> str:
    """A line without what only names a value that is somewhere else."""
    return (
        _EXPRESSION.sub(" ", _ANNOTATION.sub(" =", line))
        if path.endswith((".py", ".pyi"))
        else line
    )
