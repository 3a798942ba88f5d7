"""A launch in the registry of the session that made it."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_job
from herorun.core.adhoc_jobs.registry import entry_of
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.operations.record import registry
from herorun.operations.record.session import JobSession


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobSession:
    session = JobSession("s-1", "manual", tmp_path / ".claude" / "agents" / "s-1")
    monkeypatch.setattr(registry, "session_of_launch", lambda start: session)
    monkeypatch.setattr(registry, "ensure_watch", lambda session, start: "is watched")
    return session


def listed_jobs(session: JobSession) -> list[dict[str, Any]]:
    if not session.file.exists():
        return []
    document = json.loads(session.file.read_text())
    jobs: list[dict[str, Any]] = document["jobs"] if isinstance(document, dict) else document
    return jobs


def a_run(kind: str, options: dict[str, Any], **scheduler: Any) -> Any:
    return SimpleNamespace(
        slug="tiny",
        repository=SimpleNamespace(top=Path("/work")),
        contract=SimpleNamespace(scheduler=SimpleNamespace(kind=kind, options=options)),
        scheduler=SimpleNamespace(**scheduler),
    )


def test_a_launch_is_listed_with_the_place_of_its_job(session: JobSession) -> None:
    run = a_run("slurm", {"host": "login", "time_limit": "1h"})
    registry.register_launch(run, a_job(id="4711"), "first launch")
    (entry,) = listed_jobs(session)
    assert (entry["id"], entry["type"], entry["host"]) == ("4711", "slurm", "login")
    assert "tiny" in entry["description"] and "first launch" in entry["description"]
    assert (session.folder.parent / ".gitignore").read_text() == "*\n"


def test_the_id_is_the_one_by_which_others_find_the_job(session: JobSession) -> None:
    run = a_run("local", {}, external_id=lambda job: f"/state/jobs/{job.instance}")
    registry.register_launch(run, a_job(), "first launch")
    assert [entry["id"] for entry in listed_jobs(session)] == ["/state/jobs/tiny-1"]


def test_a_job_that_nobody_finds_by_id_is_not_listed(session: JobSession) -> None:
    registry.register_launch(a_run("of_a_plug_in", {}), a_job(), "first launch")
    assert listed_jobs(session) == []


def test_where_nobody_reads_the_list_none_is_written(
    session: JobSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "session_of_launch", lambda start: None)
    registry.register_launch(a_run("slurm", {}), a_job(id="4711"), "first launch")
    assert listed_jobs(session) == []


@pytest.mark.parametrize("error", [CouldNotLook("it cannot be read"), OSError("full")])
def test_a_list_that_cannot_be_written_holds_no_launch_up(
    session: JobSession, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(session: Any, change: Any) -> None:
        raise error

    monkeypatch.setattr(registry, "change_jobs", refuse)
    registry.register_launch(a_run("slurm", {}), a_job(id="4711"), "first launch")


def test_an_id_of_the_wrong_form_is_refused(session: JobSession) -> None:
    entry = entry_of("slurm", "no number", NOON, ("manual", "s-1"), {})
    with pytest.raises(WrongUse, match="no number"):
        registry.register(session, entry)
    assert listed_jobs(session) == []


@pytest.mark.parametrize(
    ("agent", "variables"), [("manual", {registry.OWN: "s-1"}), ("claude-code", {})]
)
def test_a_session_without_a_variable_of_its_own_is_handed_on(
    tmp_path: Path, agent: str, variables: dict[str, str]
) -> None:
    assert registry.owner_variables(JobSession("s-1", agent, tmp_path)) == variables
    assert registry.owner_variables(None) == {}
