"""What each check says, pinned once: `checks/<gate>.txt`, written by `make screens` from the
answers that the tests of the checks get. Numbers, digests and folders of a test are left out.
"""

import os
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from herorun.core.check import Check
from herorun.core.finding import Verdict

FOLDER = Path(__file__).parent / "checks"
WRITING = "HERORUN_WRITE_FINDINGS"  # set: collect what the tests get, in place of comparing
VALUES = (
    (r"/tmp/[^\s:,;]*", "/tmp/..."),
    (r"\b(?=\w*\d)[0-9a-f]{9,64}\b", "DIGEST"),
    (r"\d+(?:[.,:]\d+)*", "N"),
)
PinnedTexts = dict[str, set[str]]
texts_by_file: dict[str, PinnedTexts] = defaultdict(lambda: defaultdict(set))


def wording(verdict: Verdict) -> str:
    text = f"{verdict.outcome}: {verdict.message}"
    for pattern, stand_in in VALUES:
        text = re.sub(pattern, stand_in, text)
    return text.replace("\n", "\\n")


@cache
def pinned_texts(gate: str) -> PinnedTexts:
    path = FOLDER / f"{gate}.txt"
    pinned_lines: PinnedTexts = defaultdict(set)
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line.startswith("  "):
            pinned_lines[name].add(line[2:])
        else:
            name = line
    return pinned_lines


def pin_wording(check: Check, verdicts: list[Verdict]) -> None:
    """A check that has no lines yet may say anything: the next `make screens` pins it."""
    if not os.environ.get("PYTEST_CURRENT_TEST", "").startswith("tests/checks/"):
        return
    for verdict in verdicts:
        text = wording(verdict)
        if os.environ.get(WRITING):
            texts_by_file[str(check.gate)][check.name].add(text)
        elif lines := pinned_texts(str(check.gate)).get(check.name):
            assert text in lines, f"not pinned, `make screens` and read the diff: {text}"


def write_checks() -> None:
    for gate, checks in texts_by_file.items():
        blocks = [
            "\n".join([name, *(f"  {line}" for line in sorted(checks[name]))])
            for name in sorted(checks)
        ]
        (FOLDER / f"{gate}.txt").write_text("\n".join(blocks) + "\n", encoding="utf-8")
