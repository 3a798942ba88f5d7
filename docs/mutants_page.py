"""mutants.md, printed from `tests/surviving_mutants.txt`."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from words import page, table

FILE = Path(__file__).parents[1] / "tests" / "surviving_mutants.txt"
ROOM = re.compile(
    r"^== (\S+)\n(\d+) of (\d+) mutants.*\n(\d+) noticed.*?, (\d+) change", re.MULTILINE
)
ANSWER = re.compile(r"^= (.*)$", re.MULTILINE)
NUMBERS = ("tried", "of", "noticed", "wording", "survived", "noticed since", "no fault", "left")
INTRO = """\
A mutant is one small change of the code, such as `and` for `or`; a test should fail because of it.
`make mutate` tries a sample of the mutants of each package of `core` and `operations`, with the tests that the file names.
[`tests/surviving_mutants.txt`](../tests/surviving_mutants.txt) has each survivor with its answer.

- *Wording*: only a sentence for people changed, which snapshots of the screens pin.
- *Noticed since*: a test that exists now, or of another folder, fails because of the change.
- *No fault*: the change is of a wording, of a progress line, or of code that has changed since, or makes no difference.
- *Left*: no test that was tried notices it.
"""  # noqa: E501  # a text that is read as it stands


def mutants_page() -> str:
    rows = list(score_rows(FILE.read_text(encoding="utf-8")))
    sums = [sum(row[1][at] for row in rows) for at in range(len(NUMBERS))]
    cells = [*rows, ("all", tuple(sums))]
    numbers = ((name, *(f"{number:,}" for number in row)) for name, row in cells)
    source = "`tests/surviving_mutants.txt`"
    return page("Surviving mutants", source, [INTRO, table(("package", *NUMBERS), numbers)])


def score_rows(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The name of each package, and its numbers in the order of the columns."""
    heads = list(ROOM.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        answers = Counter(map(kind_of, ANSWER.findall(text[head.end() : end])))
        name, *numbers = head.groups()
        *counts, wording = map(int, numbers)
        by_answer = [answers["noticed"], answers["no fault"], answers["left"]]
        yield name, (*counts, wording, sum(by_answer), *by_answer)


def kind_of(answer: str) -> str:
    if answer.startswith("noticed"):
        return "noticed"
    return "left" if answer.startswith("left") else "no fault"
