"""Text as Markdown that makes no link, image, mention or heading of what it quotes."""

import re
from collections.abc import Mapping

from herorun.core.lazy_regex import lazy_regex

_LINK = lazy_regex(r"\](?=[(\[])")  # what makes a link or an image of the words before it


_TAG = lazy_regex(r"<(?=[A-Za-z/!?])")


# `#12`, `owner/name#12`, `GH-12`
_ISSUE_NUMBER = lazy_regex(r"(?<!&)#(?=\d)|\bGH-(?=\d)", re.IGNORECASE)


_BLOCK = lazy_regex(r"^( {0,3})(?=#{1,6}\s|`{3}|~{3}|={3}|-{3}|>|\||\[[^\]\n]*\]:)", re.MULTILINE)


def one_line(text: str, most: int = 2000) -> str:
    """Text from outside as one harmless line of Markdown: no line breaks, control characters or
    HTML.
    """
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    flat = flat.replace("<", "&lt;").replace(">", "&gt;")
    flat = _LINK.sub("]\u200b", flat)
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def defuse_mentions(text: str) -> str:
    """Text from outside for an issue: it pages no account and links no other issue, whatever stands
    in a log line.
    """
    return _ISSUE_NUMBER.sub("\\g<0>\u200b", re.sub(r"@(?=[\w-])", "@\u200b", text))


def without_markup(text: str) -> str:
    """The same without links, images, HTML and blocks: what a check says may quote a log, a file or
    a name.
    """
    return _BLOCK.sub("\\1\u200b", _TAG.sub("&lt;", _LINK.sub("]\u200b", defuse_mentions(text))))


_HANDLE = lazy_regex(r"@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:/[A-Za-z0-9_.-]{1,100})?(?![\w/-])")


def unescape_brackets(text: str) -> str:
    """Angle brackets as they were before `without_markup` and `one_line`, for plain text.

    >>> unescape_brackets(without_markup("loss <nan> by @bob")) == "loss <nan> by @\u200bbob"
    True
    """
    return text.replace("&lt;", "<").replace("&gt;", ">")


def quote_line(text: str) -> str:
    """What a person or a job wrote, as one line of a post: it pages no account, and contains no
    link and no end of a block.
    """
    return without_markup(one_line(text))


def mention_dri(dri: str) -> str:
    """The DRI in a post, who is to be paged by the handle that the name begins with, and nobody
    else by the rest.
    """
    handle = _HANDLE.match(dri)
    return handle[0] + quote_line(dri[handle.end() :]) if handle else quote_line(dri)


def mentioning(dri: str, text: str) -> str:
    """A whole post that pages nobody but the DRI: its body may come from a record that others can
    push. An address such as user@machine pages nobody, and stays.

    >>> mentioning("@ana", "@ana, ask @bob at bob@box") == "@ana, ask @\u200bbob at bob@box"
    True
    """
    handle = _HANDLE.match(dri)
    ours = handle[0].lower() if handle else ""

    def checked(match: re.Match[str]) -> str:
        return match[0] if match[0].lower() == ours else f"@\u200b{match[0][1:]}"

    return re.sub(r"(?<![\w])@[\w-]+(?:/[\w.-]+)?", checked, text)


def code(text: str) -> str:
    """An inline code span that its content cannot close."""
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else "�" for c in text).split())
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def bullets(lines: Mapping[str, str], order: tuple[str, ...] = ()) -> str:
    """`- Name: value`, the ordered names first (also where they are empty), then the rest as they
    come.
    """
    names = [*order, *(name for name in lines if name not in order)]
    return "\n".join(f"- {one_line(name)}: {lines.get(name, '')}".rstrip() for name in names)
