"""What a page shows to be typed, and what it says the answer is. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w./-]+)`[^`\n]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+# [^'\"]*$|^#.*$")


@dataclass(frozen=True)
class Typed:
    """One command of a page; `shown` are the lines of its answer, `...` for what is left out."""

    page: str
    line: str
    answer_lines: tuple[str, ...] = ()


def commands(page: str, text: str) -> Iterator[Typed]:
    """In a block `console` what stands behind `$ `, and in a block `sh` or `bash` every line."""
    for language, code in FENCE.findall(text):
        lines = re.sub(r"\\\n\s*", "", code).splitlines()
        if language in ("sh", "bash"):
            yield from (Typed(page, bare) for line in lines if (bare := COMMENT.sub("", line)))
        if language == "console":
            starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
            for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
                yield Typed(page, COMMENT.sub("", lines[at][2:]), tuple(lines[at + 1 : end]))


def files(text: str) -> dict[str, str]:
    """The files that a page shows whole: a block behind a line that begins with the file's name and
    ends with a colon.
    """
    return dict(FILE.findall(text))


def holds_answer(expectation: tuple[str, ...], output: str) -> bool:
    """Whether the answer holds the shown lines, next to each other but for a line `...`; `...` in a
    line is anything.
    """
    parts = [
        r".*?" if line == "..." else re.escape(line).replace(r"\.\.\.", r"[^\n]*") + r"\n"
        for line in expectation
    ]
    return re.search("^" + "".join(parts), output, re.MULTILINE | re.DOTALL) is not None
