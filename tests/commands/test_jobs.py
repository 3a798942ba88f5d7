"""`herorun jobs`."""

from pathlib import Path

import pytest

from commands.answers import Answer
from herorun.cli import run
from herorun.core.evidence import JobState
from herorun.operations.jobs import discover, watch
from herorun.operations.jobs.poll import JobStatus
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


ON_BOXES = [{"type": "ssh", "id": "31337", "host": name} for name in ("box1", "box2")]


def ask(folder: Path, capsys: pytest.CaptureFixture[str], *argv: str) -> Answer:
    code = run(["-C", str(folder), "jobs", *argv, "--session", "s1"])
    out, err = capsys.readouterr()
    return Answer(code, out, err)


def test_processes_of_one_number_are_told_apart_by_their_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change_jobs(current_session(tmp_path, "s1"), lambda _: ON_BOXES)
    monkeypatch.setattr(discover, "_listings", lambda *_: ())
    statuses = [JobStatus(entry, JobState.UNKNOWN, "", "no answer") for entry in ON_BOXES]
    monkeypatch.setattr(watch, "check_jobs", lambda _: (statuses, ""))
    screens = [ask(tmp_path, capsys, "list").out, ask(tmp_path, capsys, "find").out]
    screens.append(ask(tmp_path, capsys, "watch", "--once").err)
    screens.append(
        "\n".join(watch.news_of([JobStatus(e, JobState.GONE, "GONE") for e in ON_BOXES]))
    )
    for screen in screens:
        assert mentions(screen, "31337 on box1", "31337 on box2"), screen


def test_the_proposed_command_for_the_only_job_names_its_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change_jobs(current_session(tmp_path, "s1"), lambda _: ON_BOXES[:1])
    monkeypatch.setattr(discover, "_listings", lambda *_: ())
    answer = ask(tmp_path, capsys, "find")
    assert "--scheduler ssh --job 31337 --host box1`" in answer.out + answer.err


def test_a_process_without_its_machine_is_not_registered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its number would be that of another process, on this machine."""
    answer = ask(tmp_path, capsys, "add", "ssh", "31337", "--no-watch")
    assert answer.code == 2 and "--host" in answer.err
    assert "31337" not in ask(tmp_path, capsys, "list").out
