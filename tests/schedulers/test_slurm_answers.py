"""What squeue and sacct say together: recorded from Slurm 22.05, and lines of that shape for what
cannot be brought about.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Search, Unknown
from herorun.schedulers._slurm import parse as slurm_parse
from herorun.schedulers._slurm.client import new_separator
from herorun.schedulers._slurm.parse import SEPARATOR, SlurmRow, Tag, log_in, tag_in
from herorun.schedulers._slurm.state import (
    Accounting,
    judge_slurm,
    live_jobs,
    needs_accounting,
    ours,
)
from herorun.schedulers._slurm.state_names import STATES, slurm_state_of
from herorun.schedulers._submission_record import SubmissionRecord
from wording import mentions

RECORDINGS = Path(__file__).parents[1] / "recordings" / "slurm"
RUN, OTHER = "a" * 16, "c" * 16
AT = datetime(2026, 11, 21, 22, tzinfo=UTC)
NOTHING = SubmissionRecord()
# What a stand-in pipes such lines through: the columns parted as they were asked for.
AS_ASKED = """\
for word; do case $word in Job*ID:*) p=${word#*:} p=${p%%,*} ;; --delimiter=*) p=${word#*=} ;; esac; done
sed "s/$(printf '\\037')/$p/g"
"""  # noqa: E501  # a text that is read as it stands
TAG = Tag(RUN, "b" * 12, int(AT.timestamp()))


def squeue(word: str, number: str = "71", **changes: object) -> str:
    """A line of squeue for tiny-1."""
    fields = {
        "id": number, "name": "tiny-1", "user": "ada", "word": word, "code": "0", "restarts": "0",
        "submitted": int(AT.timestamp()), "started": int(AT.timestamp()) + 5, "ended": int(AT.timestamp()) + 60,  # noqa: E501  # one entry of a table, or one recorded value
        "nodes": "1", "where": "n1", "comment": TAG.comment, "reason": "None", **changes,
    }  # fmt: skip
    return SEPARATOR.join(str(value) for value in fields.values()) + SEPARATOR


def sacct(word: str, number: str = "71", **changes: object) -> str:
    """And of sacct, which keeps no comment."""
    fields = {
        "id": number, "name": "tiny-1", "user": "ada", "word": word, "code": "0:0",
        "submitted": int(AT.timestamp()), "started": int(AT.timestamp()) + 5, "ended": int(AT.timestamp()) + 60,  # noqa: E501  # one entry of a table, or one recorded value
        "nodes": "1", "where": "n1", "reason": "None", "comment": "",
        "line": (
            "sbatch --parsable --job-name=tiny-1 "
            f"--comment={TAG.comment} --export=NONE"
        ), **changes,
    }  # fmt: skip
    return SEPARATOR.join(str(value) for value in fields.values())


def squeue_rows(text: str) -> tuple[SlurmRow, ...]:
    return slurm_parse.squeue_rows(text, SEPARATOR)


def sacct_rows(text: str) -> tuple[SlurmRow, ...]:
    return slurm_parse.sacct_rows(text, SEPARATOR)


def search_of(
    queue: list[str],
    books: list[str] | Accounting,
    submission: SubmissionRecord = NOTHING,
    since: datetime | None = AT,
    name: str = "tiny-1",
) -> Search:
    rows = ours(squeue_rows("\n".join(queue)), name, RUN, submission, since)
    accounting = (
        books if isinstance(books, Accounting) else Accounting(sacct_rows("\n".join(books)))
    )
    return judge_slurm(
        name, rows, ours(accounting.rows, name, RUN, submission, since), accounting, submission
    )


def job(
    queue: list[str], books: list[str] | Accounting, submission: SubmissionRecord = NOTHING
) -> Job:
    answer = search_of(queue, books, submission)
    assert isinstance(answer, Found), answer
    return answer.job


# --- recorded -------------------------------------------------------------------------------------

WORDS = dict(
    reversed(line.split(" ", 1))
    for line in (RECORDINGS / "situations.txt").read_text().splitlines()
)


def recorded_job(what: str) -> Job:
    queue = (RECORDINGS / "squeue-22.05.txt").read_text().splitlines()
    books = (RECORDINGS / "sacct-22.05.txt").read_text().splitlines()
    answer = search_of(queue, books, since=None, name=WORDS[what])
    assert isinstance(answer, Found), answer
    return answer.job


@pytest.mark.parametrize(
    ("what", "state", "raw", "reason"),
    [
        ("requeued", JobState.PENDING, "PENDING", "BeginTime"),
        ("requeued and held", JobState.PENDING, "PENDING", "job requeued in held state"),
        ("preempted and requeued", JobState.PENDING, "PENDING", "Resources"),
        ("lost and requeued", JobState.PENDING, "PENDING", "BeginTime"),
        ("suspended", JobState.RUNNING, "SUSPENDED", ""),
        ("dependency never", JobState.PENDING, "PENDING", "DependencyNeverSatisfied"),
        ("step out of memory", JobState.SUCCEEDED, "COMPLETED", ""),
    ],
)
def test_a_recorded_situation_is_reported(
    what: str, state: JobState, raw: str, reason: str
) -> None:
    record = recorded_job(what)
    assert (record.state, record.raw, record.reason) == (state, raw, reason)


def test_a_log_that_cannot_be_opened_is_reported_in_words() -> None:
    record = recorded_job("output lost")
    assert (record.state, record.exit_code, record.signal) == (JobState.FAILED, None, None)
    assert mentions(record.reason, "open")


def test_the_parts_of_an_array_and_of_a_heterogeneous_job_are_counted() -> None:
    assert [
        (recorded_job(what).tasks, recorded_job(what).running_tasks)
        for what in ("array", "heterogeneous")
    ] == [
        (2, 1),
        (2, 2),
    ]


def test_a_job_that_slurm_dropped_for_its_dependency_is_not_stopped_by_hand() -> None:
    dropped_job = recorded_alone("dropped")
    assert (dropped_job.state, dropped_job.stopped_by_hand) == (JobState.UNSCHEDULABLE, False)


def recorded_alone(what: str) -> Job:
    """As when accounting has caught up."""
    lines = (RECORDINGS / "squeue-22.05.txt").read_text().splitlines()
    (mine,) = [line for line in lines if f"{SEPARATOR}{WORDS[what]}{SEPARATOR}" in line]
    answer = search_of(
        [mine],
        [sacct("CANCELLED", mine.split(SEPARATOR)[0], name=WORDS[what])],
        since=None,
        name=WORDS[what],
    )
    assert isinstance(answer, Found)
    return answer.job


# --- two answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["PREEMPTED", "NODE_FAIL", "REQUEUED", "COMPLETED", "FAILED", "TIMEOUT"]
)
@pytest.mark.parametrize("lives", ["PENDING", "RUNNING", "COMPLETING", "CONFIGURING"])
def test_a_job_that_squeue_calls_live_has_not_ended(word: str, lives: str) -> None:
    assert job([squeue(lives)], [sacct(word)]).state.live


@pytest.mark.parametrize("books", [[], [sacct("RUNNING")], [sacct("PENDING")], [sacct("REQUEUED")]])
def test_an_end_that_sacct_does_not_know_yet_is_none(books: list[str]) -> None:
    slurm_job = job([squeue("COMPLETED")], books)
    assert (slurm_job.state, slurm_job.raw) == (JobState.RUNNING, "COMPLETED")
    assert "accounting" in slurm_job.reason


def test_an_end_is_sure_once_both_say_so_or_squeue_has_forgotten_it() -> None:
    assert job([squeue("COMPLETED")], [sacct("COMPLETED")]).state is JobState.SUCCEEDED
    assert job([], [sacct("COMPLETED")]).state is JobState.SUCCEEDED


def test_an_end_without_accounting_in_reach_is_unknown() -> None:
    slurm_job = job(
        [squeue("FAILED", code=256)], Accounting(silent="sacct failed: Connection refused")
    )
    assert slurm_job.state is JobState.UNKNOWN
    assert "squeue says FAILED" in slurm_job.reason and "Connection refused" in slurm_job.reason


def test_where_no_accounting_is_kept_squeue_is_believed() -> None:
    slurm_job = job([squeue("FAILED", code=35072)], Accounting(is_disabled=True))
    assert (slurm_job.state, slurm_job.exit_code) == (JobState.FAILED, 137)


def test_what_sacct_calls_live_and_squeue_does_not_know_is_unknown() -> None:
    slurm_job = job([], [sacct("RUNNING")])
    assert slurm_job.state is JobState.UNKNOWN and mentions(slurm_job.reason, "squeue", "71")


def test_a_job_that_nobody_knows_is_absent_unless_it_was_taken() -> None:
    assert search_of([], []) == Absent()
    search = search_of([], [], SubmissionRecord(True, "71"))
    assert isinstance(search, Unknown) and search.forgotten
    unread_search = search_of(
        [], Accounting(silent="sacct failed: down"), SubmissionRecord(True, "71")
    )
    assert isinstance(unread_search, Unknown) and not unread_search.forgotten


def test_without_accounting_a_forgotten_job_is_gone_and_one_that_may_never_have_been_is_unsure() -> (  # noqa: E501  # its name is the sentence
    None
):
    answer = job([], Accounting(is_disabled=True), SubmissionRecord(True, "71"))
    assert answer.state is JobState.GONE and mentions(answer.reason, "keeps", "accounting")
    assert isinstance(search_of([], Accounting(is_disabled=True), SubmissionRecord(True)), Unknown)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["ZOMBIE", "REVOKED", "", "completed", "RUNNING+"])
def test_an_unknown_word_is_unknown_wherever_it_stands(word: str) -> None:
    assert slurm_state_of(word) is JobState.UNKNOWN
    assert job([squeue(word)], []).state is JobState.UNKNOWN
    assert job([], [sacct(word)]).state is JobState.UNKNOWN


@pytest.mark.parametrize("word", STATES)
def test_every_known_word_is_kept_as_it_was(word: str) -> None:
    slurm_job = job([squeue(word)], [sacct(word)])
    assert (slurm_job.state, slurm_job.raw) == (STATES[word], word)


def test_cancelled_by_somebody_is_cancelled_by_their_number_until_it_is_looked_up() -> None:
    assert job([], [sacct("CANCELLED by 1003")]).stopped_by == "uid 1003"


def test_our_own_stop_is_recognised_from_the_comment_or_from_what_was_kept() -> None:
    stop_comment = Tag(RUN, "b" * 12, 1, "ada lovelace@box").comment
    assert (
        job([squeue("CANCELLED", comment=stop_comment)], [sacct("CANCELLED by 0")]).stopped_by
        == "ada lovelace@box"
    )
    assert (
        job([], [sacct("CANCELLED by 0")], SubmissionRecord(True, "71", "ada@box")).stopped_by
        == "ada@box"
    )


@pytest.mark.parametrize(("code", "told_as"), [("0:0", 128), ("9:0", 9), ("78:0", 78)])
def test_an_exit_code_from_sacct_alone_may_lack_128_and_says_so(code: str, told_as: int) -> None:
    slurm_job = job([], [sacct("FAILED", code=code)])
    assert slurm_job.exit_code == told_as and mentions(slurm_job.reason, "sacct", "exit")


def test_a_job_that_a_deadline_took_from_the_queue_was_never_placed() -> None:
    """Slurm 22.05 gives it an exit code of 1, and squeue a start at its end."""
    waiting_fields = {"where": "", "reason": "DeadLine"}
    books = [sacct("DEADLINE", code="1:0", started="None", where="None assigned")]
    slurm_job = job([squeue("DEADLINE", code=256, **waiting_fields)], books)
    assert (slurm_job.state, slurm_job.raw, slurm_job.reason) == (
        JobState.UNSCHEDULABLE,
        "DEADLINE",
        "DeadLine",
    )
    assert (slurm_job.started, slurm_job.exit_code) == (None, None)
    assert job([], books).state is JobState.UNSCHEDULABLE
    ran = job([squeue("DEADLINE", code=15)], [sacct("DEADLINE", code="0:15")])
    assert (ran.state, ran.started) == (JobState.TIMED_OUT, AT + timedelta(seconds=5))


def test_a_signal_from_sacct_is_a_signal() -> None:
    assert job([squeue("FAILED", code=9)], [sacct("FAILED", code="0:9")]).signal == "SIGKILL"
    assert job([squeue("FAILED", code=11)], [sacct("FAILED", code="0:11")]).signal == "SIGSEGV"


def test_times_that_have_not_come_are_none_and_the_others_are_utc() -> None:
    slurm_job = job([squeue("PENDING", started="N/A", ended="NONE")], [])
    assert (slurm_job.submitted, slurm_job.started, slurm_job.ended) == (AT, None, None)


# --- whose job ------------------------------------------------------------------------------------


def test_names_are_matched_whole_and_another_run_of_the_name_is_not_ours() -> None:
    lines = [
        squeue("RUNNING", name="tiny-11"),
        squeue("RUNNING", comment=Tag(OTHER, "b" * 12, 1).comment),
    ]
    assert search_of(lines, []) == Absent()


def test_a_job_without_our_comment_is_ours_only_by_the_number_that_was_kept() -> None:
    lines = [squeue("RUNNING", comment="(null)")]
    assert search_of(lines, []) == Absent()
    assert job(lines, [], SubmissionRecord(True, "71")).id == "71"


@pytest.mark.parametrize(("state", "ours"), [("RUNNING", True), ("COMPLETED", False)])
def test_a_live_job_of_the_number_that_was_kept_is_ours_by_any_clock(
    state: str, ours: bool
) -> None:
    """This clock was three hours ahead when it was launched; a number of an ended one may have come
    round again.
    """
    answer = search_of([squeue(state)], [], SubmissionRecord(True, "71"), AT + timedelta(hours=3))
    assert isinstance(answer, Found) is ours
    assert search_of([squeue(state)], [], NOTHING, AT + timedelta(hours=3)) == Absent()


def test_what_slurm_kept_of_a_submission_that_it_refused_is_no_job() -> None:
    assert (
        search_of([squeue("FAILED", code=256, where="", reason="BadConstraints")], []) == Absent()
    )
    assert search_of([], [sacct("FAILED", code="1:0", where="None assigned")]) == Absent()


def test_a_number_that_came_round_again_is_another_job() -> None:
    """sacct gave the old job 1 for the new one for some seconds after a controller had lost its
    state.
    """
    long_before = int((AT - timedelta(days=3)).timestamp())
    assert search_of([], [sacct("COMPLETED", submitted=long_before)]) == Absent()


def test_of_two_jobs_of_one_name_the_live_one_counts_and_two_live_ones_are_a_question() -> None:
    assert job([squeue("RUNNING", "70"), squeue("CANCELLED", "71")], []).id == "70"
    answer = search_of([squeue("RUNNING", "70"), squeue("PENDING", "71")], [])
    assert isinstance(answer, Unknown) and "70" in answer.why and "71" in answer.why


def test_accounting_is_asked_only_of_what_does_not_live() -> None:
    assert not needs_accounting(squeue_rows(squeue("PENDING")))
    assert needs_accounting(squeue_rows(squeue("COMPLETED"))) and needs_accounting(())


def test_live_jobs_are_those_that_may_live() -> None:
    rows = squeue_rows(
        "\n".join([squeue("COMPLETED", "70"), squeue("RUNNING", "71"), squeue("WHAT", "72")])
    )
    assert [job.id for job in live_jobs(rows)] == ["71", "72"]


def test_a_federated_number_and_what_a_site_adds_are_read() -> None:
    (row,) = squeue_rows(squeue("RUNNING", "134217729"))
    assert isinstance(row, SlurmRow) and row.id == "134217729"
    assert tag_in(f"site: billed to x; {TAG.comment}") == TAG


# --- what is no answer ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["The cluster is down for maintenance.", "<html>", f"71{SEPARATOR}tiny-1{SEPARATOR}RUNN"],
)
def test_an_answer_that_is_no_list_of_jobs_is_no_empty_queue(text: str) -> None:
    for read in (squeue_rows, sacct_rows):
        with pytest.raises(CouldNotLook, match="something"):
            read(text)


def test_a_line_break_in_somebodys_job_name_does_not_blind_us() -> None:
    names = [
        row.name
        for row in squeue_rows(
            "\n".join([squeue("RUNNING", "5", name="two\n\nlines"), squeue("RUNNING")])
        )
    ]
    assert names == ["two\n\nlines", "tiny-1"]


def test_a_job_name_that_holds_whole_rows_forges_none() -> None:
    """It was there before the question, and so cannot know what parts the columns of its answer."""
    parted_name = f"{SEPARATOR}0123456789abcdef"
    for line, read in ((squeue, slurm_parse.squeue_rows), (sacct, slurm_parse.sacct_rows)):
        forging = line("RUNNING", "5", name="NAME").replace(SEPARATOR, parted_name)
        forged_name = f"odd\n{line('COMPLETED')}\n{line('FAILED', '9')}"
        text = "\n".join(
            [forging.replace("NAME", forged_name), line("RUNNING").replace(SEPARATOR, parted_name)]
        )
        assert [(row.id, row.word) for row in read(text, parted_name)] == [
            ("5", "RUNNING"),
            ("71", "RUNNING"),
        ]


def test_no_two_questions_part_their_columns_alike() -> None:
    assert new_separator() != new_separator() and len(new_separator()) == 17


def test_a_log_that_a_jobs_name_reports_is_not_read() -> None:
    text = "JobId=7 JobName={}\n   UserId=ada(7) GroupId=ada(7)\n   StdOut=/x/{}.log\n   Power=\n"
    assert log_in(text.format("tiny", "100%%")) == "/x/100%.log"
    assert log_in(text.format("x\n   StdOut=/etc/passwd\n   y=", "1")) == log_in("") == ""


def test_what_gave_way_to_a_submission_at_the_same_time_is_not_how_the_instance_ended() -> None:
    queue = [squeue("COMPLETED"), squeue("CANCELLED", "72")]
    books = [sacct("COMPLETED"), sacct("CANCELLED by 0", "72")]
    assert (job(queue, books).id, job(queue, books).state) == ("71", JobState.SUCCEEDED)
    assert (
        job(queue, books, SubmissionRecord(True, "72")).state is JobState.CANCELLED
    )  # as this machine knows
