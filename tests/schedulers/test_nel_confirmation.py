"""What a second look makes of a job that nel has lost: each test states one difference from a job
that nothing backs.
"""

import errno
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herorun.core.evidence import Job, JobState
from herorun.schedulers._nel.confirmation import (
    CONFIRM_AFTER,
    QUIET,
    EndEvidence,
    UnconfirmedEnds,
    confirm_state,
    find_last_change,
)
from herorun.schedulers._nel.jobs import NelJobs
from herorun.schedulers._nel.options import Options
from herorun.schedulers._nel.parse import NelTask, Stages
from herorun.schedulers._nel.state import JudgedTask, NoSlurmJob, local_part, slurm_part
from wording import mentions

AT = datetime(2026, 11, 21, 23, 21, tzinfo=UTC)
LATER = AT + CONFIRM_AFTER
EMPTY = EndEvidence()  # no folder, no stage file


def part(word: str, stages: Stages | None = None) -> JudgedTask:
    return local_part(
        NelTask(invocation="0a1b", id="0a1b.0", executor="local", output="/out/tiny-1", at=AT),
        word,
        stages or Stages(),
    )


def on_slurm(word: str, answer: Job | str) -> JudgedTask:
    return slurm_part(
        NelTask(invocation="0a1b", id="0a1b.0", executor="slurm", output="/out/tiny-1", at=AT),
        word,
        answer,
    )


@pytest.mark.parametrize("word", ["not_found", "error", "failed", "NOT FOUND", "ERROR"])
def test_what_has_left_nothing_is_gone_at_the_second_look_and_neither_failed_nor_well(
    word: str,
) -> None:
    first = part(word)
    assert confirm_state(first, EMPTY, AT, AT).state is JobState.UNKNOWN
    assert confirm_state(first, EMPTY, AT, LATER - timedelta(seconds=1)).state is JobState.UNKNOWN
    second = confirm_state(first, EMPTY, AT, LATER)
    assert (second.state, second.state.is_final, second.state.in_doubt) == (
        JobState.GONE,
        True,
        True,
    )
    assert (
        second.raw == word
        and "since 2026-11-21 23:21 UTC" in second.reason
        and mentions(second.reason, "ended", "unknown")
    )


@pytest.mark.parametrize("word", ["unknown", "", "COMPLETED", "done"])
def test_a_word_that_is_no_end_stays_unknown(word: str) -> None:
    assert confirm_state(part(word), EMPTY, AT, AT + timedelta(days=9)).state is JobState.UNKNOWN


@pytest.mark.parametrize(("code", "state"), [(0, JobState.SUCCEEDED), (5, JobState.FAILED)])
def test_the_exit_code_that_it_wrote_down_settles_what_nel_lost(code: int, state: JobState) -> None:
    stages = Stages(AT, AT, code)
    part_state = confirm_state(
        part("error", stages), EndEvidence(stages, has_ended=True, written_at=AT), AT, LATER
    )
    assert (part_state.state, part_state.exit_code, part_state.ended) == (state, code, AT)
    assert f"exit code {code}" in part_state.reason


def test_a_failure_against_its_own_exit_code_0_is_gone_and_no_success() -> None:
    stages = Stages(AT, AT, 0)
    assert (
        confirm_state(
            part("failed", stages), EndEvidence(stages, has_ended=True, written_at=AT), AT, LATER
        ).state
        is JobState.GONE
    )


def test_an_end_without_a_code_is_gone_at_once_at_the_second_look() -> None:
    part_state = confirm_state(
        part("failed"), EndEvidence(has_ended=True, written_at=LATER), AT, LATER
    )
    assert part_state.state is JobState.GONE and mentions(part_state.reason, "not how")


def test_what_still_writes_may_run_and_after_an_hours_silence_it_is_gone() -> None:
    first = part("error", Stages(AT))
    busy = EndEvidence(Stages(AT), written_at=AT)
    assert (
        confirm_state(first, busy, AT, AT + QUIET - timedelta(seconds=1)).state is JobState.UNKNOWN
    )
    assert confirm_state(first, busy, AT, AT + QUIET).state is JobState.GONE


def test_a_job_that_is_known_is_left_as_it_is() -> None:
    for names in (part("running", Stages(AT)), part("success", Stages(AT, AT, 0)), part("killed")):
        assert confirm_state(names, EMPTY, AT, LATER) == names


def test_slurms_own_answer_that_there_is_no_such_job_settles_its_executors() -> None:
    answer = NoSlurmJob("Slurm does not know job 71")
    part_state = confirm_state(on_slurm("failed", answer), EndEvidence(slurm=answer), AT, LATER)
    assert part_state.state is JobState.GONE and mentions(part_state.reason, "know", "71")
    silent = "the login node gave no whole answer"
    assert (
        confirm_state(
            on_slurm("failed", silent), EndEvidence(slurm=silent), AT, AT + timedelta(days=9)
        ).state
        is JobState.UNKNOWN
    )
    waits = on_slurm("pending", answer)
    assert (
        confirm_state(waits, EndEvidence(slurm=answer), AT, AT + timedelta(days=9)).state
        is JobState.PENDING
    )


# --- what is kept between the two -----------------------------------------------------------------


def test_the_first_look_is_kept_for_the_next_process_until_the_word_changes(tmp_path: Path) -> None:
    failure = part("error")
    assert UnconfirmedEnds(tmp_path / "kept").since(failure, AT) == AT
    assert UnconfirmedEnds(tmp_path / "kept").since(failure, LATER) == AT
    assert (
        UnconfirmedEnds(tmp_path / "kept").since(replace(failure, raw="not_found"), LATER) == LATER
    )
    UnconfirmedEnds(tmp_path / "kept").forget(failure)
    assert UnconfirmedEnds(tmp_path / "kept").since(failure, LATER) == LATER


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"word": "error", "since": "noon"}', '{"word": "error"}']
)
def test_a_damaged_note_makes_this_look_the_first(tmp_path: Path, text: str) -> None:
    (tmp_path / "0a1b.0.doubt.json").write_text(text)
    assert UnconfirmedEnds(tmp_path).since(part("error"), AT) == AT
    assert UnconfirmedEnds(tmp_path).since(part("error"), LATER) == AT


def test_where_nothing_can_be_kept_no_look_is_the_second(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    unconfirmed_ends = UnconfirmedEnds(tmp_path / "file" / "kept")
    assert unconfirmed_ends.since(part("error"), AT) == AT
    assert unconfirmed_ends.since(part("error"), LATER) == LATER


def test_the_newest_change_in_a_folder(tmp_path: Path) -> None:
    assert find_last_change(tmp_path / "none") is None
    log = tmp_path / "logs" / "client_stdout.log"
    log.parent.mkdir()
    log.touch()
    os.utime(log, (AT.timestamp(), AT.timestamp()))
    for folder in (log.parent, tmp_path):
        os.utime(folder, (0, 0))
    assert find_last_change(tmp_path) == AT


def test_a_file_that_goes_away_meanwhile_does_not_hide_the_others_of_its_folder(
    tmp_path: Path,
) -> None:
    """A job at work makes and moves files: it must not look as if nothing of it stirred."""
    (tmp_path / "being-moved").symlink_to("nowhere")
    (tmp_path / "client_stdout.log").touch()
    os.utime(tmp_path / "client_stdout.log", (AT.timestamp(), AT.timestamp()))
    os.utime(tmp_path, (0, 0))
    assert find_last_change(tmp_path) == AT


def test_a_folder_that_cannot_be_read_is_no_absent_one_and_settles_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").touch()  # a file in its place stands for a mount that does not answer
    with pytest.raises(NotADirectoryError):
        find_last_change(tmp_path / "out")
    jobs = NelJobs(Options(), tmp_path / "kept")
    jobs._doubts.since(part("error"), datetime.now(UTC) - CONFIRM_AFTER)
    part_state = jobs._settle(
        part("error"), lambda: EndEvidence(written_at=find_last_change(tmp_path / "out"))
    )
    assert part_state.state is JobState.UNKNOWN and os.strerror(errno.ENOTDIR) in part_state.reason
