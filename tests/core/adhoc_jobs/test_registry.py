"""The registry's shape: what is written, what is read of a damaged one, and the line that sums
up.
"""

import json
from datetime import UTC, datetime

import pytest

from herorun.core.adhoc_jobs.registry import (
    Entry,
    entry_of,
    read_entries,
    summed_up,
    with_entry,
    with_status,
    without,
    write_entries,
)
from herorun.core.evidence import JobState
from wording import mentions

AT = datetime(2026, 3, 2, 18, 56, tzinfo=UTC)
ONE = entry_of(
    "nel",
    "15be12f8",
    AT,
    ("claude-code", "s-1"),
    {"host": "login", "user": "ada", "description": "MMLU"},
)


def test_an_entry_has_the_seeds_fields_and_no_others() -> None:
    assert ONE == {
        "type": "nel",
        "id": "15be12f8",
        "host": "login",
        "user": "ada",
        "submitted": "2026-03-02 18:56",
        "description": "MMLU",
        "last_status": "",
        "owner": {"agent": "claude-code", "session_id": "s-1"},
    }


def test_what_others_wrote_into_an_entry_stays() -> None:
    entries: list[Entry] = [{**ONE, "note": "mine", "last_status": "RUNNING"}]
    (after,) = with_entry(entries, ONE)
    assert (after["note"], after["last_status"]) == ("mine", "RUNNING")


def test_the_same_id_on_another_host_is_another_job() -> None:
    other = {**ONE, "host": "elsewhere"}
    assert with_entry([ONE], other) == [ONE, other]
    assert without([ONE, other], [("nel", "15be12f8", "login")]) == [other]
    assert with_status([ONE, other], {("nel", "15be12f8", "login"): "SUCCESS"}, AT)[1] == other


def test_a_status_has_the_time_at_which_it_was_queried() -> None:
    (after,) = with_status([ONE], {("nel", "15be12f8", "login"): "SUCCESS"}, AT)
    assert (after["last_status"], after["last_queried"]) == ("SUCCESS", "2026-03-02 18:56")


@pytest.mark.parametrize("cut", [2, 20, 120])
def test_of_a_half_written_registry_what_is_whole_is_read(cut: int) -> None:
    data = write_entries([ONE, {**ONE, "id": "abcdef01"}])
    entries, fault = read_entries(data[:-cut])
    assert entries[0] == ONE
    assert mentions(fault, "half-written")


def test_what_is_no_job_is_left_out_and_said() -> None:
    entries, fault = read_entries(json.dumps([ONE, 3, {"type": "nel"}]).encode())
    assert entries == [ONE] and mentions(fault, "2", "entries", "type", "id")
    entries, fault = read_entries(b"{}")
    assert entries == [] and mentions(fault, "no list")
    assert read_entries(b"") == ([], "")


def test_several_jobs_are_summed_up_in_one_line() -> None:
    states = [JobState.SUCCEEDED, JobState.SUCCEEDED, JobState.RUNNING, JobState.PENDING]
    assert summed_up(states) == "2 of 4 completed, 1 running, 1 pending"
    message = summed_up(states, ["MMLU-Pro: 42.3%", "GSM8K: 67.1%"])
    assert message == "2 of 4 completed (MMLU-Pro: 42.3%; GSM8K: 67.1%), 1 running, 1 pending"
    assert summed_up(states[:1]) == ""
    assert (
        summed_up([JobState.OUT_OF_MEMORY, JobState.UNKNOWN])
        == "0 of 2 completed, 1 failed, 1 unknown"
    )


def test_a_byte_that_is_no_text_hides_no_job() -> None:
    data = write_entries([ONE, {**ONE, "id": "abcdef01", "description": "?"}])
    entries, _ = read_entries(data.replace(b'"?"', b'"\xff"'))
    assert [entry["id"] for entry in entries] == ["15be12f8", "abcdef01"]
