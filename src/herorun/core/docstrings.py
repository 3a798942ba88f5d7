"""Docstrings that are printed: their lines end at column 100, those of a page or screen do not."""

from herorun.core.lazy_regex import lazy_regex

# A line that continues the one above it: neither is empty, and it begins no part of its own.
_GOES_ON = lazy_regex(r"(?<!\n)\n(?!\n|\Z|Why:|Fix:|Source:|[ \t]|[-*|] |```|\d+\. )")


def unwrap(doc: str) -> str:
    """The text with each of its paragraphs on one line; lists, tables and indented lines stay as
    they are, and so does what a line of three backticks encloses.

    >>> unwrap("The sum of\\nall steps.\\n\\nWhy: a\\nreason.\\nFix: wait.")
    'The sum of all steps.\\n\\nWhy: a reason.\\nFix: wait.'
    """
    parts = doc.split("```")
    return "```".join(part if at % 2 else _GOES_ON.sub(" ", part) for at, part in enumerate(parts))
