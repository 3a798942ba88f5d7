"""What `herorun triage` takes for a run, and what it says of one whose end nobody knows."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_job
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.triage.classes import FailureClass
from herorun.operations.health import diagnose, shared_polls
from herorun.operations.health.shared_polls import SharedPolls
from operations.in_memory import ToldRun, fails


@pytest.mark.parametrize(
    ("name", "is_run"), [("tiny", True), ("-", False), ("tiny.log", False), ("other", False)]
)
def test_standard_input_and_files_are_no_runs(
    name: str, is_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.log").touch()
    monkeypatch.setattr(diagnose, "find_repository", lambda start: None)
    monkeypatch.setattr(diagnose, "known_slugs", lambda repository: ["-", "tiny", "tiny.log"])
    assert diagnose.names_run(name, tmp_path) is is_run


@pytest.mark.parametrize(
    ("job", "kind"),
    [
        (None, FailureClass.UNKNOWN),
        (a_job(JobState.SUCCEEDED), FailureClass.NOT_A_FAILURE),
    ],
)
def test_an_end_that_nobody_knows_is_unknown_and_no_success(
    job: Job | None, kind: FailureClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = ToldRun([])
    run.closed_reason = ""
    evidence = {} if job is None else {Job: job}
    result = SimpleNamespace(ending=None)
    monkeypatch.setattr(diagnose, "watched_run", lambda name, start: (run, ""))
    monkeypatch.setattr(diagnose, "evaluate", lambda run, memory: (result, evidence))
    failure = diagnose.run_diagnosed("tiny", Path())
    assert (failure.class_, failure.role, failure.attempt) == (kind, "cascade", 1)


@pytest.mark.parametrize("error", [OSError("no such file"), CouldNotLook("git is slow")])
def test_a_run_that_cannot_be_opened_ends_no_shared_poll(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_polls, "watched_run", fails(error))
    polls = SharedPolls()
    assert polls.expect(["tiny", "other"], Path()) is polls
