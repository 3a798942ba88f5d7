"""A launcher's output: its key events, and how it stands."""

import time

import pytest

from herorun.core.evidence import JobState
from herorun.schedulers.external._launcher_log import read_output
from wording import mentions

TABLE = """
Experiment Status for cicd_1744152200

Task 0: quantize
- Status: {}
- Executor: SlurmExecutor
- Job id: 4711
"""
STORY = """\
Launching experiment cicd_1744152200
Submitted batch job 4711
pyxis: importing docker image: nvcr.io/nvidia/tensorrt-llm
pyxis: imported docker image: nvcr.io/nvidia/tensorrt-llm
Calibrating: 12%|█| 61/512 [00:10<
Calibrating: 99%|█| 510/512 [01:10<
Calibration complete
Exporting checkpoint to /lustre/out/tiny-fp8.
"""


def test_key_events_are_reported_in_words_and_each_once() -> None:
    events = read_output(STORY + TABLE.format("RUNNING")).events
    experiment, job, container, *calibration, export_event = events
    assert (experiment, job) == ("experiment cicd_1744152200", "Slurm job 4711")
    assert mentions(container, "container", "imported")
    assert calibration == ["calibration began", "calibration complete"]
    assert mentions(export_event, "exported", "/lustre/out/tiny-fp8")


def test_the_newest_table_says_how_it_stands() -> None:
    running, ended_table = TABLE.format("RUNNING"), TABLE.format("SUCCEEDED")
    assert read_output(running).state is JobState.RUNNING
    assert read_output(running + ended_table).state is JobState.SUCCEEDED
    assert read_output(running + TABLE.format("FAILED")).word == "FAILED"


def test_of_several_tasks_one_that_lives_decides() -> None:
    both = TABLE.format("SUCCEEDED") + "\nTask 1: export\n- Status: RUNNING\n- Job id: 4712\n"
    output = read_output(both)
    assert (output.state, output.slurm) == (JobState.RUNNING, ("4711", "4712"))


def test_a_word_that_no_version_has_is_unknown_and_a_traceback_alone_no_end() -> None:
    assert read_output(TABLE.format("ZOMBIE")).state is JobState.UNKNOWN
    output = read_output("Traceback (most recent call last):\n")
    assert output.state is JobState.UNKNOWN
    assert output.failed


@pytest.mark.parametrize(
    "piece",
    ["step:" + " " * 500, "https://a/", "http://", "calibrat ", "calibrat", "export ", "9/", "- "],
)
def test_a_line_of_megabytes_holds_no_tick_up(piece: str) -> None:
    started_at = time.process_time()
    read_output(piece * (2_000_000 // len(piece)))
    assert time.process_time() - started_at < 2.0
