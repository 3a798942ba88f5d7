"""`herorun jobs`."""

from pathlib import Path

import pytest

from herorun.cli import run
from wording import mentions


def test_an_empty_registry_is_not_watched_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["-C", str(tmp_path), "jobs", "watch", "--session", "s1"]
    assert run(argv) == 0
    assert mentions(capsys.readouterr().out, "s1", "active_jobs.json")
