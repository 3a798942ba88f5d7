"""What the job's own log tells: its time, the tracker runs it names, signs of a wedge."""

import os
from pathlib import Path

import pytest

from builders import NOON, a_contract, a_history, a_job
from herorun.core.evidence import JobLog, Nothing
from herorun.core.ports import Place
from herorun.schedulers import local
from herorun.sources.job_log import read_job_log
from herorun.sources.log_reader import keep_own_log, read_own_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "jobs" / "tiny-1").mkdir(parents=True)
    return tmp_path / "jobs" / "tiny-1" / "job.log"


def read(log: Path) -> JobLog | Nothing:
    home = log.parents[2]
    scheduler = local.connect(local.Options(), Place("tiny", str(home), "/data/tiny", "."))
    place = Place("tiny", str(home), "/data/tiny", ".")
    own = read_own_log(scheduler, a_job(), a_history(), a_contract(), place)
    return own if isinstance(own, Nothing) else read_job_log(own, a_contract(), place)


def test_when_it_last_changed(log: Path) -> None:
    log.write_text("step 1\n")
    os.utime(log, (NOON.timestamp(), NOON.timestamp()))

    assert read(log) == JobLog(changed_at=NOON, size=7, step=1, stepped_at=NOON)


def test_the_tracker_runs_that_it_names_in_order_and_once(log: Path) -> None:
    log.write_text(
        "wandb: 🚀 View run tiny at: https://wandb.ai/lab/hero/runs/tiny\n"
        "wandb: 🚀 View run at http://here:8080/lab/hero/runs/tiny-2?nw=1\n"
        "wandb: 🚀 View run tiny at: https://wandb.ai/lab/hero/runs/tiny\n"
        "see https://wandb.ai/eve/hero/runs/other\n"
    )
    evidence = read(log)

    assert isinstance(evidence, JobLog)
    assert evidence.runs == ("lab/hero/tiny", "lab/hero/tiny-2")
    assert evidence.server == "https://wandb.ai"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("INFO Saving checkpoint at step 90 to gs://b/run-9975/step-90", "gs://b/run-9975/step-90"),
        (
            "PHASE: CHECKPOINT step=90 phase=commit path=gs://b/run/step-90 elapsed=3.1s",
            "gs://b/run/step-90",
        ),
        ("Saved temporary checkpoint to '/data/run/step-90'.", "/data/run/step-90"),
        ("Loading checkpoint from gs://b/run/step-90", None),
        ("Saving HF-compatible checkpoint to gs://b/hf/step-90", None),
        ("Saving checkpoint to ./out/step-90", None),
        ("saving checkpoint 90", None),
    ],
)
def test_where_it_says_that_it_saves(log: Path, line: str, path: str | None) -> None:
    log.write_text(f"step 1\n{line}\n")
    evidence = read(log)

    assert isinstance(evidence, JobLog)
    assert evidence.saves == ((path,) if path else ())


def test_signs_of_a_wedge_the_newest_five(log: Path) -> None:
    log.write_text("".join(f"{n} OwnerDiedError\nstep {n}\n" for n in range(9)))
    evidence = read(log)

    assert isinstance(evidence, JobLog)
    assert evidence.wedges == tuple(f"{n} OwnerDiedError" for n in range(4, 9))


def test_a_sign_that_the_job_has_left_far_behind_is_over(log: Path) -> None:
    log.write_text("OwnerDiedError\n" + "step 1\n" * 1999)
    assert read(log).wedges == ("OwnerDiedError",)
    log.write_text("OwnerDiedError\n" + "step 1\n" * 2000)
    assert read(log).wedges == ()


OUT_OF_MEMORY = "XlaRuntimeError: RESOURCE_EXHAUSTED: Program hbm requirement 16.30G\n"


def read_log(log: Path) -> JobLog:
    evidence = read(log)
    assert isinstance(evidence, JobLog)
    return evidence


def test_what_it_complains_of_while_it_lives_with_line_words_and_time(log: Path) -> None:
    log.write_text("step 1\n" + OUT_OF_MEMORY)
    os.utime(log, (NOON.timestamp(), NOON.timestamp()))
    (complaint,) = read_log(log).complaints

    assert (complaint.failure_class, complaint.weight, complaint.line) == (
        "hbm-exhaustion",
        "cause",
        2,
    )
    assert complaint.excerpt == OUT_OF_MEMORY.strip()
    assert complaint.since == NOON


def test_since_when_it_is_known_does_not_move_with_the_log(log: Path) -> None:
    log.write_text(OUT_OF_MEMORY)
    os.utime(log, (NOON.timestamp(), NOON.timestamp()))
    place = Place("tiny", str(log.parents[2]), "/data/tiny", ".")
    scheduler = local.connect(local.Options(), place)
    keep_own_log(place, read_own_log(scheduler, a_job(), a_history(), a_contract(), place))
    with log.open("a") as more:
        more.write("other ranks wait\n")
    (complaint,) = read_log(log).complaints

    assert complaint.since == NOON


def test_twenty_steps_after_it_say_that_it_was_survived(log: Path) -> None:
    log.write_text(OUT_OF_MEMORY + "".join(f"step {n} loss 2.5\n" for n in range(19)))
    assert read_log(log).complaints
    log.write_text(OUT_OF_MEMORY + "".join(f"step {n} loss 2.5\n" for n in range(20)))
    assert read_log(log).complaints == ()


def test_a_crowded_host_counts_for_a_while_though_steps_are_made(log: Path) -> None:
    log.write_text("warning: cpu contention detected\n" + "step 1\n" * 1999)
    contention = read_log(log).crowded
    assert contention is not None
    assert (contention.failure_class, contention.line) == ("host-contention", 1)
    log.write_text("warning: cpu contention detected\n" + "step 1\n" * 2000)
    assert read_log(log).crowded is None


HEART = """
[[signature]]
id = "heart"
class = "benign"
role = "benign"
keywords = ["heart beats"]
pattern = "heart beats"
advice = "It lives."
due_mib = 1
"""
FILLER = ("word " * 25 + "\n").encode()


def test_a_row_whose_line_is_due_and_does_not_come(log: Path) -> None:
    """Counted from the part of the log in which one came, so that the size of the log decides and
    no clock.
    """
    (log.parents[2] / "own.toml").write_text(HEART)
    place = Place("tiny", str(log.parents[2]), "/data/tiny", str(log.parents[2]))
    contract = a_contract(babysit={"signatures": "own.toml"})
    scheduler = local.connect(local.Options(), place)

    def after(more: bytes) -> JobLog:
        with log.open("ab") as file:
            file.write(more)
        own = read_own_log(scheduler, a_job(), a_history(), contract, place)
        keep_own_log(place, own)
        assert not isinstance(own, Nothing)
        return read_job_log(own, contract, place)

    half = FILLER * (600_000 // len(FILLER))
    assert after(half).matching == ()
    own_log = after(b"heart beats\n" + half)
    assert (own_log.overdue, own_log.matching) == ((), ("heart",))
    assert after(half).overdue == ()
    own_log = after(half)
    assert (own_log.overdue, own_log.matching) == ((("heart", 1 << 20, 2 * len(half)),), ())
    own_log = after(b"heart beats\n")
    assert (own_log.overdue, own_log.matching) == ((), ("heart",))


def test_no_log_is_nothing_yet(log: Path) -> None:
    assert isinstance(read(log), Nothing)
