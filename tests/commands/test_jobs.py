"""`herorun jobs`."""

from pathlib import Path

import pytest

from herorun.cli import run
from herorun.operations.record.session import change_jobs, current_session
from wording import mentions


def test_an_empty_registry_is_not_watched_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["-C", str(tmp_path), "jobs", "watch", "--session", "s1"]
    assert run(argv) == 0
    assert mentions(capsys.readouterr().out, "s1", "active_jobs.json")


@pytest.mark.parametrize("query_time", ["2026-01-01 11:58", ""])
def test_a_listed_status_has_its_time_if_it_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], query_time: str
) -> None:
    session = current_session(tmp_path, "s1")
    entry = {"type": "slurm", "id": "4711", "last_status": "RUNNING", "last_queried": query_time}
    change_jobs(session, lambda _: [entry])
    assert run(["-C", str(tmp_path), "jobs", "list", "--session", "s1"]) == 0
    assert mentions(capsys.readouterr().out, "4711", "RUNNING", query_time or "unknown")
