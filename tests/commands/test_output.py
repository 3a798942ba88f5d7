"""A closed or an ASCII output stops no act halfway."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from herorun.screen import console
from herorun.screen.findings import show_findings
from stories import SLUG, Story

SOURCES = str(Path(__file__).parents[2] / "src")


def launched_through(story: Story, shell: str, **env: str) -> int:
    story.init()
    line = f'"{sys.executable}" -m herorun -C "{story.work}" launch {SLUG} --no-babysit {shell}'
    told = {**os.environ, "PYTHONPATH": SOURCES, **env}
    return subprocess.run(["sh", "-c", line], env=told, capture_output=True, check=False).returncode


@pytest.mark.thorough
def test_a_closed_output_is_no_failure(story: Story) -> None:
    assert launched_through(story, ">&-") == 0
    story.ended()
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_an_ascii_output_is_no_failure(story: Story) -> None:
    assert launched_through(story, "", PYTHONIOENCODING="ascii") == 0
    story.ended()
    assert len(story.starts) == 1


def unseen(check: str, subject: str, message: str) -> dict[str, Any]:
    same = {"outcome": "unknown", "waiver": None, "details": [], "fix": f"mend {check}"}
    return {**same, "check": check, "subject": subject, "message": message}


def test_what_one_reason_hides_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """As at a seal, where each alert that could not be looked for is a finding of its own."""
    alerts = [unseen("open-alerts", name, f"{name}: no answer") for name in ("crashed", "wedged", "blind")]
    show_findings(console(), [unseen("surviving-job", "tiny-1", "no answer"), *alerts])
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [
        f"? {'surviving-job':<30}no answer",
        "and so, for the same reason: open-alerts (crashed, wedged, blind)",
    ]
