"""What Iris' answers mean, in its three generations: on answers in the shapes that its own source
prints.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Place, Submission, Unknown
from herorun.schedulers import iris
from herorun.schedulers._iris.argv import (
    LIMIT,
    Generation,
    detail_argv,
    generation_of,
    list_argv,
    stop_argv,
)
from herorun.schedulers._iris.options import OWN_FLAGS, TYPED_FLAGS, Options
from herorun.schedulers._iris.parse import IrisRow, add_details, listing, log_text, submitted_id
from herorun.schedulers._iris.state import gang_of, judge_iris, root_of
from herorun.schedulers._iris.state_names import STATES, iris_state_of
from herorun.schedulers._iris.submit import run_argv, unknown_flags
from herorun.schedulers._submission_record import SubmissionRecord
from wording import mentions

RECORDINGS = Path(__file__).parents[1] / "recordings" / "iris"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
AT = datetime(2026, 9, 1, 12, tzinfo=UTC)
A, B, C = Generation
NOTHING = SubmissionRecord()
JOB = Submission("tiny-1", ("python", "train.py"), "src", {"SEED": "7"}, ("TOKEN",))


def read_recording(name: str) -> str:
    return (RECORDINGS / name).read_text()


def of(
    rows: tuple[IrisRow, ...],
    instance: str,
    gang: str | None = None,
    submission: SubmissionRecord = NOTHING,
) -> Job:
    job = f"/ada/{instance}"
    root = root_of(rows, job)
    assert root
    answer = judge_iris(instance, root, gang_of(rows, job, gang), submission, LONG_AGO, gang)
    assert isinstance(answer, Found), answer
    return answer.job


def job_of(instance: str, gang: str | None = None) -> Job:
    return of(listing(A, read_recording("list-A.json"), "").rows, instance, gang)


def family(root: str, *gang: str, **of_gang: object) -> tuple[IrisRow, ...]:
    children = (
        IrisRow(id=f"/ada/tiny-1/train_lm-{n}", word=word, submitted=AT, **of_gang)
        for n, word in enumerate(gang)
    )
    return (IrisRow(id="/ada/tiny-1", word=root, submitted=AT), *children)


# --- generations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("help_text", "generation"),
    [
        ("--state TEXT --prefix TEXT --json", A),
        ("--state --prefix", B),
        ("--state --prefix --limit INTEGER", C),
    ],
)
def test_a_generation_is_recognised_by_what_its_list_offers(
    help_text: str, generation: Generation
) -> None:
    assert generation_of(help_text) is generation


def test_a_program_that_is_no_iris_is_not_guessed_at() -> None:
    with pytest.raises(CouldNotLook, match=r"Iris.*--prefix"):
        generation_of("Usage: iris [OPTIONS]")


def test_each_generation_is_asked_in_its_own_words() -> None:
    assert list_argv(A, "ada", "tiny-1", True) == [
        "job",
        "list",
        "--json",
        "--prefix",
        "/ada/tiny-1",
    ]
    assert list_argv(A, "ada", "tiny-", False) == ["job", "list", "--json"]
    assert list_argv(B, "ada", "tiny-", False) == ["job", "list", "--prefix", "/ada/tiny-"]
    assert list_argv(C, "ada", "tiny-", False)[-2:] == ["--limit", str(LIMIT)]
    assert [detail_argv(each, "/j")[1] for each in Generation] == ["summary", "summary", "describe"]
    assert [stop_argv(each, "/j")[1] for each in Generation] == ["stop", "stop", "cancel"]


# --- coordinator and gang -------------------------------------------------------------------------


def test_a_coordinator_that_runs_while_its_gang_waits_is_not_running() -> None:
    job = job_of("tiny-1")
    assert (job.state, job.tasks, job.running_tasks) == (JobState.PENDING, 16, 0)
    assert job.raw == "JOB_STATE_RUNNING; gang JOB_STATE_PENDING"
    assert "Insufficient TPUs" in job.reason and job.started is None


def test_the_same_in_a_table() -> None:
    job = of(listing(B, read_recording("list-B.txt"), "").rows, "tiny-1")
    assert (job.state, job.running_tasks) == (JobState.PENDING, 0) and "scale-up" in job.reason


def test_a_gang_that_runs_fills_the_tasks() -> None:
    job = of(
        family("running", "running", "pending", tasks=16, counts={"running": 15, "assigned": 1}),
        "tiny-1",
    )
    assert (job.state, job.tasks, job.running_tasks) == (JobState.RUNNING, 32, 30)


def test_a_gang_called_running_whose_tasks_all_wait_waits() -> None:
    job = of(family("running", "running", tasks=4, counts={"pending": 3, "assigned": 1}), "tiny-1")
    assert (job.state, job.running_tasks) == (JobState.PENDING, 0)


def test_a_named_gang_that_is_not_there_yet_is_being_built() -> None:
    assert of(family("running"), "tiny-1", "train_lm").state is JobState.BUILDING
    assert of(family("running"), "tiny-1").state is JobState.RUNNING


def test_only_the_named_gang_counts() -> None:
    rows = (
        *family("running"),
        IrisRow(id="/ada/tiny-1/tokenize", word="running", submitted=AT),
        IrisRow(id="/ada/tiny-1/train", word="pending", submitted=AT),
    )
    assert of(rows, "tiny-1", "train").state is JobState.PENDING
    assert of(rows, "tiny-1").state is JobState.RUNNING


@pytest.mark.parametrize("word", ["failed", "killed", "succeeded", "worker_failed"])
def test_nothing_has_ended_while_a_gang_outlives_its_coordinator(word: str) -> None:
    job = of(family(word, "running"), "tiny-1")
    assert job.state is JobState.RUNNING and mentions(job.reason, "write")


def test_a_coordinator_that_ran_out_of_time_tells_what_became_of_its_gang() -> None:
    job = job_of("tiny-3")
    assert (job.state, job.raw) == (JobState.TIMED_OUT, "JOB_STATE_FAILED")
    assert "train_lm is succeeded" in job.reason


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["zombie", "", "JOB_STATE_UNSPECIFIED", "missing", "RUNNING!"])
def test_an_unknown_word_is_unknown_and_kept(word: str) -> None:
    assert iris_state_of(word) is JobState.UNKNOWN
    job = of(family(word), "tiny-1")
    assert (job.state, job.raw) == (JobState.UNKNOWN, word)


@pytest.mark.parametrize(("word", "state"), STATES.items())
def test_a_word_is_the_same_in_both_spellings(word: str, state: JobState) -> None:
    assert iris_state_of(word) is iris_state_of(f"JOB_STATE_{word.upper()}") is state


def test_out_of_memory_is_recognised_from_the_error() -> None:
    job = job_of("tiny-2")
    assert (job.state, job.exit_code) == (JobState.OUT_OF_MEMORY, 137)


def test_a_job_that_no_cluster_has_taken_says_so() -> None:
    job = job_of("tiny-11")
    assert (
        job.state is JobState.PENDING
        and "handed to cw-us-east-08a: pending_scheduling" in job.reason
    )


def test_a_job_that_was_killed_by_us_names_who_asked() -> None:
    assert (
        of(
            family("killed"), "tiny-1", submission=SubmissionRecord(True, "/ada/tiny-1", "ada@box")
        ).stopped_by
        == "ada@box"
    )
    assert of(family("killed"), "tiny-1").stopped_by is None


def test_a_lost_worker_is_a_lost_node() -> None:
    job = of(listing(B, read_recording("list-B.txt"), "").rows, "tiny-2")
    assert (job.state, job.reason) == (JobState.NODE_FAILED, "worker went away")


# --- identity -------------------------------------------------------------------------------------


def test_an_older_job_of_the_name_is_another_job() -> None:
    (root,) = family("succeeded")
    answer = judge_iris("tiny-1", root, [], SubmissionRecord(), AT + timedelta(hours=1), None)
    assert isinstance(answer, Unknown) and mentions(answer.why, "another", "name")


@pytest.mark.parametrize(("what", "ours"), [("running", True), ("succeeded", False)])
def test_a_live_job_that_was_taken_from_here_is_ours_by_any_clock(what: str, ours: bool) -> None:
    """This clock was ahead when it was launched."""
    (root, *_) = family(what)
    submission_record = SubmissionRecord(True, root.id)
    answer = judge_iris("tiny-1", root, [], submission_record, AT + timedelta(hours=1), None)
    assert isinstance(answer, Found) is ours


def test_a_time_without_a_zone_is_never_compared() -> None:
    (first, second) = listing(C, read_recording("list-C.txt"), "").rows
    assert first.submitted is None and second.submitted == datetime(
        2026, 9, 3, 23, 13, 13, tzinfo=UTC
    )
    answer = judge_iris("tiny-1", first, [], SubmissionRecord(), AT + timedelta(days=99), None)
    assert isinstance(answer, Found)


def test_names_are_matched_whole() -> None:
    rows = listing(C, read_recording("list-C.txt"), "").rows
    assert root_of(rows, "/ada/tiny-11").word == "killed"
    assert root_of(rows, "/ada/tiny") is None


# --- what is no answer ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "\n", "Loading config", "{}", "[1]", '[{"state": "x"}]', "[", "JOB"]
)
def test_an_answer_that_is_no_list_of_jobs_is_no_empty_one(text: str) -> None:
    for generation in Generation:
        with pytest.raises(CouldNotLook, match="something"):
            listing(generation, text, "")


def test_no_jobs_in_so_many_words_is_an_empty_list() -> None:
    assert listing(A, "[]\n", "").rows == listing(B, "No jobs found.\n", "").rows == ()


def test_a_source_that_failed_makes_the_list_partial() -> None:
    assert (
        "peer-08a: unreachable"
        in listing(C, "No jobs found.\n", "Warning: peer-08a: unreachable\n").partial
    )


@pytest.mark.thorough
def test_a_list_as_long_as_it_may_be_is_partial() -> None:
    rows = "\n".join(f"/ada/x-{n:05}  running  2026-09-03T23:13:13+00:00" for n in range(LIMIT))
    assert listing(C, f"JOB ID        STATE    SUBMITTED\n{rows}\n", "").partial


# --- details, logs, submission --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generation", "name"), [(A, "summary-A.json"), (B, "describe-C.txt"), (C, "describe-C.txt")]
)
def test_a_jobs_own_code_is_its_first_failing_tasks(generation: Generation, name: str) -> None:
    """The job's is 0 long after it has failed."""
    row = add_details(generation, IrisRow(id="/ada/tiny-4", word="failed"), read_recording(name))
    assert row.exit_code == 3


def test_killed_tasks_are_reported_with_the_memory_that_they_had() -> None:
    killed_answer = read_recording("summary-A.json").replace('"exit_code":3', '"exit_code":137')
    row = add_details(
        A,
        IrisRow(id="/ada/tiny-4", word="failed"),
        killed_answer.replace('"memory_peak_mb":0', '"memory_peak_mb":1990'),
    )
    assert mentions(row.reason, "1 of", "2 tasks", "SIGKILL", "1990", "MB")
    assert add_details(A, IrisRow(id="/ada/tiny-4", word="failed"), killed_answer).reason == ""


def test_a_detail_of_another_state_is_left_for_the_next_look() -> None:
    row = IrisRow(id="/ada/tiny-4", word="running")
    assert (
        add_details(C, row, read_recording("describe-C.txt"))
        == row
        == add_details(C, row, "Traceback")
    )


def test_lines_of_one_task_are_its_own_and_of_several_say_whose() -> None:
    one = "[12:00:00] task=/ada/tiny-1/0 | step 1\n[12:00:01] worker=w task=/ada/tiny-1/0 | \n"
    assert log_text(one, "/ada/tiny-1") == "step 1\n\n"
    two = "[12:00:00] task=/ada/tiny-1/0 | a\n2026-09-01T12:00:00Z /ada/tiny-1/train_lm/3: b\n"
    assert log_text(two, "/ada/tiny-1") == "0: a\ntrain_lm/3: b\n"


def test_the_submitted_job_is_the_bare_line_or_what_the_log_says() -> None:
    assert (
        submitted_id("Workspace bundle size: 13.0 MB\n/ada/tiny-1\n", "Job submitted: /ada/other")
        == "/ada/tiny-1"
    )
    assert submitted_id("", "") is None


def test_what_is_sent_names_the_job_and_ends_before_the_command() -> None:
    words = run_argv(
        JOB, Options(cluster="marin", user="ada", region=("a", "b"), time_limit="1h"), "/c", "/a"
    )
    flags = words[: words.index("--")]
    assert {
        "--job-name=tiny-1",
        "--user=ada",
        "--max-retries=0",
        "--region=a",
        "--region=b",
        "--timeout=3600",
    } <= set(flags)
    assert words[-2:] == ["python", "train.py"] and "TOKEN" not in flags


def test_restarts_by_iris_are_off_unless_the_contract_says_so() -> None:
    options = Options(cluster="marin", user="ada", restarts="backend", retries=5)
    assert "--max-retries=5" in run_argv(JOB, options, "/c", "/a")


def test_a_flag_that_this_iris_has_not_is_seen_before_it_becomes_the_command() -> None:
    words = run_argv(
        JOB, Options(cluster="marin", user="ada", arguments=("--no-sync",)), "/c", "/a"
    )
    text = "--no-wait --no-terminate-on-exit --job-name --user --max-retries"
    assert unknown_flags(words, text) == ["--no-sync"]
    assert unknown_flags(words, f"{text} --no-sync") == []


# --- the dashboard --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_cluster", "page"),
    [
        ({"controller_url": "http://head:10000/"}, "http://head:10000/job/%2Fada%2Ftiny-1"),
        ({"cluster": "marin"}, ""),
    ],
)
def test_the_page_of_a_job_is_known_where_the_address_is(
    of_cluster: dict[str, str], page: str, tmp_path: Path
) -> None:
    place = Place("tiny", str(tmp_path), "/out", "/repo")
    adapter = iris.connect(Options(user="ada", **of_cluster), place)
    assert adapter.log_page("tiny-1") == page


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"cluster": "a", "config": "/b"},
        {"cluster": "a", "surprise": 1},
        {"cluster": "-x"},
        {"cluster": "a", "user": "a/b"},
    ],
)
def test_options_that_mean_nothing_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate({"user": "ada", **fields})


@pytest.mark.parametrize("name", [*OWN_FLAGS, *TYPED_FLAGS])
def test_a_flag_that_herorun_sets_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=rf"--{name}\b.*(herorun|key)"):
        Options(cluster="marin", user="ada", arguments=(f"--{name}=x",))
