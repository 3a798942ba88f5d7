"""A closed or an ASCII output stops no act halfway."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
