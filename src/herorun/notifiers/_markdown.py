"""Escapes Markdown: adds our markers, and prevents a text from forging one.

Log lines, run names and titles are data: they mention no account, close no fence and hide nothing.
"""

import re
from urllib.parse import quote

from herorun.core.canonical_json import sha256
from herorun.core.lazy_regex import lazy_regex
from herorun.core.markdown import one_line
from herorun.core.ports import Post
from herorun.core.redaction.scrub import scrub

ROBOT = "🤖"
_MARK = lazy_regex(r"^<!-- herorun key=(\S*) -->", re.MULTILINE)
_FORGED_MARKER = lazy_regex(r"<(?=!--\s*herorun\b)", re.IGNORECASE)
# Of a terminal, and those that turn the direction of what follows.
_CONTROL = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FENCE = lazy_regex(r" {0,3}(`{3,}|~{3,})")


def keys_in(text: str) -> list[str]:
    """The keys of the marks in a text, in order, as `plain_key` writes them."""
    return _MARK.findall(text)


def comments_in(page: str) -> list[str]:
    """What stands between the marks of a page, in order, without the page's own text before the
    first.
    """
    return _MARK.split(page)[2:-1:2]


def comment_of(post: Post) -> str:
    """The body behind the robot; the title in front, unless the body says it itself."""
    body = harmless(post.body).strip().removeprefix(ROBOT).strip()
    title = line_of(post.title)
    return f"{ROBOT} {body}" if title in body else f"{ROBOT} **{title}**\n\n{body}".rstrip()


def line_of(text: str) -> str:
    return one_line(scrub(text))


def harmless(body: str) -> str:
    """Markdown that can neither pass for one of our markers nor hide what comes after it."""
    text = scrub(body).replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode()
    text = _FORGED_MARKER.sub("&lt;", _CONTROL.sub("\ufffd", text))
    fence = _open_fence(text)
    return f"{text.rstrip()}\n{fence}" if fence else text


def _open_fence(text: str) -> str:
    """The fence of a code block that is not closed, as in an excerpt that was cut; empty if there
    is none.
    """
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line.strip(fence[0] + " \t"):
            fence = ""
    return fence


def format_marker(key: str) -> str:
    return f'<!-- herorun key={plain_key(key)} --><a id="{anchor(key)}"></a>'


def plain_key(key: str) -> str:
    """The key without what could end a comment or a line; two keys never look the same."""
    return quote(key, safe=":/@+,=", errors="surrogatepass")


def anchor(key: str) -> str:
    return sha256(plain_key(key).encode()).hexdigest()[:12]
