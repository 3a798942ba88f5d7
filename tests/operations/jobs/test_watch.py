"""The registry of a session, and the watch over it: real processes, real files, several writers."""

import itertools
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer
from herorun import cli
from herorun.core.adhoc_jobs.registry import Entry, with_entry
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.evidence import JobState
from herorun.operations.jobs import not_found_grace, watch
from herorun.operations.jobs.poll import JobStatus
from herorun.operations.jobs.watch import news_of
from herorun.operations.record import registry, session as sessions
from herorun.operations.record.session import JobSession, change_jobs, current_session, read_jobs
from herorun.schedulers._nel import confirmation
from herorun.system.files import is_locked
from jobs_alone import Alone
from screens.notices import Notice
from stories import Story, eventually, forget
from wording import mentions

HANG = "until [ -e go ]; do sleep 0.05; done"
BUG = (
    'printf \'Traceback (most recent call last):\\n  File "ptq.py", line 3, in <module>\\n    '
    "go()\\nNameError: name x is not defined\\n'; exit 1"
)


@pytest.fixture
def alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alone]:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    monkeypatch.delenv("CODEX_THREAD_ID", raising=False)
    (home / "w").mkdir()
    alone = Alone(home / "w")
    yield alone
    alone.end()
    forget()


def jobs(alone: Alone, capsys: pytest.CaptureFixture[str], *words: str) -> Answer:
    capsys.readouterr()
    code = cli.run(["-C", str(alone.folder), "jobs", *words])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    return Answer(code, output.out, output.err)


def held_jobs(alone: Alone) -> list[Entry]:
    return read_jobs(current_session(alone.folder))[0]


def test_a_registered_job_lies_in_the_seeds_place_and_git_does_not_see_it(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(HANG)
    answer = jobs(
        alone,
        capsys,
        "add",
        "local",
        alone.place(job),
        "--description",
        "calibration",
        "--no-watch",
    )
    assert answer.code == 0
    (entry,) = json.loads((alone.folder / ".claude/agents/s-1/active_jobs.json").read_text())
    assert entry["owner"] == {"agent": "claude-code", "session_id": "s-1"}
    assert (entry["type"], entry["id"], entry["description"]) == (
        "local",
        alone.place(job),
        "calibration",
    )
    assert (alone.folder / ".claude/agents/.gitignore").read_text() == "*\n"


def test_only_changes_are_reported_and_an_ended_job_is_removed_with_its_root(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    well, bad, goes = (alone.start(words) for words in ("exit 0", BUG, HANG))
    for job in (well, bad, goes):
        assert jobs(alone, capsys, "add", "local", alone.place(job), "--no-watch").code == 0
    eventually(
        lambda: all(
            alone.adapter.find(j.instance, datetime.now(UTC)).job.state.is_final
            for j in (well, bad)
        )
    )
    first = jobs(alone, capsys, "watch", "--once")
    assert first.code == 1
    assert "1 of 3 completed, 1 failed, 1 running" in first.out
    assert "ptq.py:3" in first.out
    assert "code-bug-small" in first.out
    assert [entry["id"] for entry in held_jobs(alone)] == [alone.place(goes)]
    second = jobs(alone, capsys, "watch", "--once")
    assert (second.code, second.err) == (0, "")
    assert f"local {alone.place(goes)}: RUNNING\n" in second.out  # a person who asks is answered


@pytest.mark.thorough
def test_one_watch_a_session_is_started_and_ends_with_the_last_job(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start("exit 0")
    assert mentions(jobs(alone, capsys, "add", "local", alone.place(job)).out, "watched", "process")
    session = current_session(alone.folder)
    eventually(lambda: not held_jobs(alone))
    eventually(lambda: not is_locked(session.watch_lock))
    assert session.log.read_text().count("local") == 1


def test_a_second_watch_of_a_session_does_nothing(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, text = current_session(alone.folder), list[str]()
    job = alone.start(HANG)
    registry.register(session, _entry(alone.place(job)))
    first = threading.Thread(target=watch.watch_jobs, args=(session, text.append, 0.05))
    first.start()
    eventually(lambda: bool(text))
    assert watch.watch_jobs(session, text.append, 0.05) == 0
    assert mentions(text[-1], "s-1", "watched") and str(session.log) not in text[-1]
    session.log.write_text("")  # as of a watch in the background
    assert watch.watch_jobs(session, text.append, 0.05) == 0
    assert str(session.log) in text[-1]
    (alone.folder / "go").touch()
    first.join(20)
    assert not first.is_alive()
    assert "SUCCEEDED" in text[-1] or "EXIT 0" in text[-1]


def _entry(job: str, kind: str = "local") -> Entry:
    return {"type": kind, "id": job, "last_status": ""}


def test_many_writers_lose_nothing_and_keep_what_they_do_not_know(home: Path) -> None:
    session = JobSession("s", "manual", home / ".claude/agents/s")
    change_jobs(session, lambda entries: [*entries, {**_entry("mine"), "their": {"own": 1}}])

    def write(number: int) -> None:
        for turn in range(5):
            one = _entry(f"{number}-{turn}")
            change_jobs(session, lambda entries, one=one: with_entry(entries, one))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    entries, fault = read_jobs(session)
    assert (len(entries), fault) == (21, "")
    assert entries[0]["their"] == {"own": 1}


def test_two_sessions_have_two_files(home: Path) -> None:
    one = current_session(home, env={"CLAUDE_CODE_SESSION_ID": "a"})
    two = current_session(home, env={"CODEX_THREAD_ID": "b"})
    assert (one.agent, two.agent) == ("claude-code", "codex")
    assert one.file != two.file
    assert (
        current_session(home, env={"CLAUDE_CODE_SESSION_ID": "../../x"}).folder.parent
        == one.folder.parent
    )
    terminal = current_session(home, env={})
    assert (terminal.agent, terminal.id) == ("manual", current_session(home, env={}).id)


def test_of_a_half_written_registry_the_rest_is_read_said_and_kept(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs(alone, capsys, "add", "local", alone.place(alone.start(HANG)), "--no-watch")
    session = current_session(alone.folder)
    session.file.write_bytes(session.file.read_bytes().rstrip()[:-1] + b',\n {"type": "slu')
    answer = jobs(alone, capsys, "list")
    assert (answer.code, answer.out.count("local")) == (3, 1)
    assert "half-written" in answer.err
    assert jobs(alone, capsys, "watch", "--once").code == 3
    assert jobs(alone, capsys, "list").code == 0
    (damaged_file,) = session.folder.glob("active_jobs.damaged-*")
    assert b'"slu' in damaged_file.read_bytes()


@pytest.mark.thorough
def test_what_nobody_could_see_is_no_change_and_stays(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    session = current_session(alone.folder)
    registry.register(session, {**_entry("/nowhere/jobs/x-1"), "last_status": "RUNNING"})
    answer = jobs(alone, capsys, "watch", "--once")
    assert (answer.code, answer.out) == (3, "")
    assert "/nowhere/jobs/x-1" in answer.err
    assert held_jobs(alone)[0]["last_status"] == "RUNNING"


def test_a_watch_that_never_sees_a_thing_ends_after_a_day_of_looks_whatever_the_clock_says(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, text = current_session(alone.folder), list[str]()
    registry.register(session, {**_entry("/nowhere/jobs/x-1"), "last_status": "RUNNING"})
    looks = itertools.count(1)
    monkeypatch.setattr(
        registry, "now", lambda: datetime(2026, 3, 1, tzinfo=UTC) + next(looks) * timedelta(days=2)
    )
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert watch.watch_jobs(session, text.append, 43_000.0) == 3
    assert mentions(text[-1], "3 times", "stay")
    assert len(read_jobs(session)[0]) == 1


def test_a_look_that_fails_ends_no_watch(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, text = JobSession("s", "manual", home / ".claude/agents/s"), list[str]()
    change_jobs(session, lambda entries: [_entry("71", "slurm")])
    full = OSError(28, "No space left on device", str(session.file))
    looks = iter([full, full, None])

    def look(session: JobSession) -> tuple[list[JobStatus], str]:
        if error := next(looks):
            raise error
        change_jobs(session, lambda entries: [])
        return [JobStatus(_entry("71", "slurm"), JobState.SUCCEEDED, "COMPLETED")], ""

    monkeypatch.setattr(watch, "check_jobs", look)
    assert watch.watch_jobs(session, text.append, 0.0) == 0
    failure, end = text
    assert mentions(failure, "failed", f"{session.file}", full.strerror)
    assert end == "slurm 71: COMPLETED"


def test_what_ended_at_an_earlier_look_is_counted_on() -> None:
    def seen_job(number: int, state: JobState, before: str, result: str = "") -> JobStatus:
        entry = {**_entry(str(number), "slurm"), "last_status": before}
        return JobStatus(entry, state, state.value.upper(), "", result)

    over = [seen_job(1, JobState.SUCCEEDED, "RUNNING", "MMLU-Pro: 42.3%")]
    now = [
        seen_job(2, JobState.SUCCEEDED, "RUNNING", "GSM8K: 67.1%"),
        seen_job(3, JobState.RUNNING, "RUNNING"),
        seen_job(4, JobState.PENDING, "PENDING"),
    ]
    ended_count, line = news_of(now, over)
    assert ended_count == "slurm 2: RUNNING -> SUCCEEDED: GSM8K: 67.1%"
    assert line == "2 of 4 completed (MMLU-Pro: 42.3%; GSM8K: 67.1%), 1 running, 1 pending"
    assert news_of(now[1:], over) == []  # nothing changed


def test_a_launchers_output_file_is_named_in_full_and_one_of_the_same_name_elsewhere_is_another(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        (alone.folder / folder).mkdir()
        (alone.folder / folder / "out.log").write_text("cicd_1744152200\n")
        words = (
            "-C",
            str(alone.folder / folder),
            "jobs",
            "add",
            "launcher",
            "out.log",
            "--no-watch",
        )
        assert cli.run([*words, "--session", "s-1"]) == 0
    entries = [e for f in ("one", "two") for e in read_jobs(current_session(alone.folder / f))[0]]
    assert [entry["id"] for entry in entries] == [
        str(alone.folder / f / "out.log") for f in ("one", "two")
    ]
    one, two = (JobSpec(job=str(entry["id"]), kind="launcher").slug for entry in entries)
    assert one != two
    assert cli.run(["-C", str(alone.folder / "one"), "jobs", "remove", "out.log"]) == 0
    assert read_jobs(current_session(alone.folder / "one"))[0] == []


def test_a_process_number_that_is_registered_again_is_another_job(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first process is gone, and its number has come to another one since."""
    number = str(os.getpid())
    entry = {**_entry(number), "submitted": "2026-03-01 10:00"}
    session = current_session(alone.folder)
    registry.register(session, entry)
    assert jobs(alone, capsys, "watch", "--once").code == 0
    (paths,) = (alone.folder.parent / "state" / "herorun" / "registered").glob("*/process-*")
    paths.write_text("another boot 1")
    answer = jobs(alone, capsys, "watch", "--once")
    assert (answer.code, held_jobs(alone)) == (3, []) and mentions(answer.out, "number", "another")
    registry.register(session, entry)
    assert jobs(alone, capsys, "watch", "--once").code == 0
    assert held_jobs(alone)[0]["last_status"] == "RUNNING"


def on_nel(alone: Alone, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    """nel's list holds one task of the invocation 15be12f8, which left no folder; nel says this of
    it.
    """
    programs = alone.folder / "bin"
    programs.mkdir()
    (programs / "nel").write_text(f"#!/bin/sh\necho '{status}'\n")
    (programs / "nel").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    row = {"invocation_id": "15be12f8", "job_id": "15be12f8.0", "executor": "local", "config": {}}
    fields = {
        "timestamp": datetime.now(UTC).timestamp(),
        "data": {"output_dir": str(alone.folder / "none")},
    }
    (alone.folder / "exec.jsonl").write_text(json.dumps({**row, **fields}) + "\n")
    monkeypatch.setenv("NEMO_EVALUATOR_EXEC_DB_FILE", str(alone.folder / "exec.jsonl"))


def test_what_nel_calls_an_error_and_has_left_nothing_is_taken_out_after_the_second_look(
    alone: Alone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_nel(
        alone,
        monkeypatch,
        '[{"invocation": "15be12f8", "job_id": null, "status": "error", "data": {}}]',
    )
    assert jobs(alone, capsys, "add", "nel", "15be12f8", "--no-watch").code == 0
    first = jobs(alone, capsys, "watch", "--once")
    assert (first.code, held_jobs(alone)[0]["last_status"]) == (3, "ERROR")
    soon = jobs(alone, capsys, "watch", "--once")
    assert (soon.code, soon.out, len(held_jobs(alone))) == (3, "", 1)
    monkeypatch.setattr(confirmation, "CONFIRM_AFTER", timedelta(0))
    second = jobs(alone, capsys, "watch", "--once")
    assert (second.code, held_jobs(alone)) == (3, [])
    assert mentions(second.out, "nel 15be12f8: ERROR", "'error'", "15be12f8.0")
    assert mentions(second.out, "ended", "unknown")


def test_what_is_not_in_nels_list_is_taken_out_at_the_second_look(
    alone: Alone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_nel(alone, monkeypatch, "[]")
    jobs(alone, capsys, "add", "nel", "0badc0de", "--no-watch")
    first = jobs(alone, capsys, "watch", "--once")
    assert (first.code, held_jobs(alone)[0]["last_status"]) == (3, "NOT FOUND")
    second = jobs(alone, capsys, "watch", "--once")
    assert (second.code, held_jobs(alone)) == (3, [])
    assert mentions(second.out, "0badc0de", "NOT", "list")


def test_what_its_source_does_not_know_is_given_up_after_an_hour_of_answers_and_said_once(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, text, answers = current_session(alone.folder), list[str](), itertools.count(1)
    out = alone.folder / "out.log"  # of another job, which is seen and goes on
    out.write_text("Calibration begins\n")
    registry.register(session, {**_entry(str(out), "launcher"), "last_status": "BUILDING"})
    registry.register(
        session, {**_entry(str(alone.folder / "no.log"), "launcher"), "last_status": "RUNNING"}
    )
    start = datetime.now(UTC)

    def goes_on(seconds: float) -> None:
        if seconds != watch.EVERY:
            return  # it waits for a lock
        number = next(answers)
        monkeypatch.setattr(not_found_grace, "now", lambda: start + number * timedelta(minutes=20))
        if number == 4:
            assert len(read_jobs(session)[0]) == 2  # an hour is over, and there were four answers
        if number == 6:
            watch.change_jobs(session, lambda entries: [])

    monkeypatch.setattr(not_found_grace, "now", lambda: start)
    monkeypatch.setattr(time, "sleep", goes_on)
    assert watch.watch_jobs(session, text.append) == 3
    lines = [line for line in text if "no.log" in line]
    assert mentions(lines[0], "queried") and "-> NOT FOUND" in lines[1]
    assert len(lines) == 3 and mentions(lines[2], "5 times", "1h20m", "`herorun jobs", "add")


def test_a_launchers_events_are_reported_once_and_its_export_at_the_end(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    out = alone.folder / "out.log"
    out.write_text("Launching experiment ptq_1744152200\nCalibrating: 12/512\n")
    assert jobs(alone, capsys, "add", "launcher", str(out), "--no-watch").code == 0
    first = jobs(alone, capsys, "watch", "--once")
    assert first.code == 0 and "calibration began" in first.out, first
    second = jobs(alone, capsys, "watch", "--once")  # a person who asks is answered
    assert "STARTED" in second.out and "calibration began" not in second.out

    with out.open("a") as file:
        file.write("Calibration complete\nExported model to /models/ptq-1\n")
    third = jobs(alone, capsys, "watch", "--once").out
    assert "calibration complete" in third
    assert mentions(third, "exported", "/models/ptq-1")
    with out.open("a") as file:
        file.write("Experiment Status for ptq_1744152200\n- Status: SUCCEEDED\n")
    last = jobs(alone, capsys, "watch", "--once")
    assert (last.code, held_jobs(alone)) == (0, []), last
    assert "SUCCEEDED" in last.out and "exported to /models/ptq-1" in last.out


def test_a_job_that_is_found_again_is_asked_for_again(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, folder = datetime.now(UTC), alone.folder / "kept"
    for minutes, over in ((0, False), (30, False), (59, False), (59, False), (60, True)):
        monkeypatch.setattr(
            not_found_grace, "now", lambda at=start + timedelta(minutes=minutes): at
        )
        assert not_found_grace.not_found(folder)[0] is over
    not_found_grace.reset_not_found(folder)
    assert not not_found_grace.not_found(folder)[0]


@pytest.mark.parametrize(
    "words",
    [
        ("add", "slurm", "x"),
        ("add", "pbs", "4711"),
        ("add", "ray", "ray-run-1"),
        ("add", "iris", "/a/b"),
        ("remove", "4711"),
    ],
)
def test_bad_input_is_one_sentence(
    alone: Alone, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], notice: Notice
) -> None:
    answer = jobs(alone, capsys, *words)
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert answer.err == notice


def test_jobs_are_found_again_in_the_seeds_order(
    alone: Alone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs(alone, capsys, "add", "local", alone.place(alone.start(HANG)), "--no-watch")
    programs = alone.folder / "bin"
    programs.mkdir()
    (programs / "squeue").write_text("#!/bin/sh\necho '4711|RUNNING|ptq'\n")
    (programs / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    path = alone.folder / "exec.jsonl"
    row = {"invocation_id": "15be12f8", "job_id": "15be12f8.0", "executor": "local", "config": {}}
    path.write_text(json.dumps({**row, "timestamp": datetime.now(UTC).timestamp()}) + "\n")
    monkeypatch.setenv("NEMO_EVALUATOR_EXEC_DB_FILE", str(path))
    (alone.folder / "tools/launcher/experiments/cicd/cicd_1744152200").mkdir(parents=True)
    answer = jobs(alone, capsys, "find", "--json")
    places = json.loads(answer.out)["places"]
    assert answer.code == 0
    assert [[each["job"].split()[0] for each in place["jobs"]] for place in places] == [
        ["local"],
        ["nel"],
        ["slurm"],
        ["launcher"],
    ]


@pytest.mark.thorough
def test_a_launch_in_an_agents_session_writes_itself_down(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    watch_calls: list[Any] = []
    monkeypatch.setenv("CODEX_THREAD_ID", "thread-1")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    monkeypatch.setattr(
        registry, "ensure_watch", lambda session, start: watch_calls.append(session.id)
    )
    story.run_first_job()
    session = sessions.current_session(story.work)
    (entry,) = read_jobs(session)[0]
    assert entry["owner"] == {"agent": "codex", "session_id": "thread-1"}
    assert entry["id"].endswith("/jobs/tiny-1")
    assert watch_calls == ["thread-1"]
    capsys.readouterr()
    assert story.herorun("preflight", "tiny", "--json") in (0, 1)
    findings = {f["check"]: f["outcome"] for f in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["dirty-tree"] == "pass"
