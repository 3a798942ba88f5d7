"""A command that a screen proposes works where the present one was typed."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from screens.collection import all_screens
from screens.rendering import render

SCREENS = {screen.name: screen for screen in all_screens()}
PROPOSALS = re.compile(r"(?:`|next: )herorun\s+(.*?)\s+(?=tiny|herorun/tiny/)")


@pytest.mark.parametrize(
    "name",
    [
        *("launch-running", "launch-audit", "verify-unknown", "verify-seal-unknown"),
        *("seal-milestone", "init-created", "init-again", "init-unpushed", "trust-unproven"),
    ],
)
def test_it_has_the_folder_that_was_typed(name: str, tmp_path: Path) -> None:
    screen = SCREENS[name]
    text = render(replace(screen, argv=f"-C {tmp_path} {screen.argv}"), tmp_path)
    proposals = PROPOSALS.findall(text)
    assert proposals, text
    assert [each for each in proposals if not each.startswith("-C ")] == []
