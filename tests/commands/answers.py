"""What a command says, and what must hold of anything that it says."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from stories import Story

FORBIDDEN_TEXTS = ("Traceback", "internal error", "Error:", "[Errno", "None")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    def finding(self, check: str) -> Any:
        """The open finding of a check."""
        (entry,) = [
            f for f in self.document["findings"] if f["check"] == check and f["outcome"] != "pass"
        ]
        return entry


def ask(story: Story, capsys: pytest.CaptureFixture[str], *argv: str) -> Answer:
    """Run a command, and demand what is promised of every answer."""
    capsys.readouterr()
    code = story.herorun(*argv)
    output = capsys.readouterr()
    return check_answer(Answer(code, output.out, output.err), argv)


def check_answer(answer: Answer, argv: tuple[str, ...]) -> Answer:
    assert not [bad for bad in FORBIDDEN_TEXTS if bad in answer.err], answer.err
    faults = [line for line in answer.err.splitlines() if line.startswith("  ")]  # one line each
    assert len(answer.err.splitlines()) - len(faults) <= 2, answer.err
    if "--json" in argv:
        assert not answer.out or answer.document["schema"] == 1
    if answer.code in (2, 3) and not answer.out:
        assert answer.err.startswith("herorun: ")
        assert answer.err.endswith(".\n") or answer.err.endswith("\n")
    return answer
