"""Why an instance ended, from the end of its own log."""

from datetime import timedelta
from pathlib import Path

import pytest

from builders import NOON, a_contract, a_job, an_instance
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Checkpoints, Job, JobState, Nothing, Triage, Unavailable
from herorun.core.ports import Place
from herorun.core.recovery.classify import Cause, Ending, ending_of
from herorun.core.recovery.decision import is_repeated
from herorun.core.recovery.diagnosis import EndContext
from herorun.core.triage.incremental import OwnLog, follow
from herorun.sources._signatures import signature_set_of
from herorun.sources.triage import read_triage

BUG = """\
step 3 loss 2.5
Traceback (most recent call last):
  File "/export/train.py", line 12, in <module>
    main()
  File "/export/train.py", line 7, in main
    loss = model(batch)
TypeError: forward() missing 1 required positional argument: 'mask'
"""


def read(
    text: str | None, job: Job, top: Path = Path("."), own: str | None = None
) -> Triage | Nothing:
    contract, place = (
        a_contract(babysit={"signatures": own}),
        Place("tiny", str(top), "/data/tiny", str(top)),
    )
    signature_set = signature_set_of(contract, place)
    log = (
        Nothing("no log")
        if text is None
        else follow(signature_set, OwnLog(instance=job.instance), text.encode())
    )
    return read_triage(log, job, contract, place)


def test_a_bug_is_reported_with_its_place() -> None:
    evidence = read(BUG, a_job(JobState.FAILED, exit_code=1))
    assert isinstance(evidence, Triage)
    assert (evidence.failure_class, evidence.file, evidence.line) == (
        "code-bug-small",
        "/export/train.py",
        7,
    )
    assert evidence.excerpt.startswith("TypeError: forward()") and evidence.fingerprint


def test_the_same_failure_has_the_same_fingerprint_at_another_step() -> None:
    job = a_job(JobState.FAILED, exit_code=1)
    first, second = read(BUG, job), read("step 9 loss 2.1\n" * 3 + BUG.replace("2.5", "2.4"), job)
    assert isinstance(first, Triage) and isinstance(second, Triage)
    assert first.fingerprint == second.fingerprint


def test_a_log_that_says_nothing_is_unknown() -> None:
    evidence = read("step 3 loss 2.5\n", a_job(JobState.FAILED, signal="SIGKILL"))
    assert (
        isinstance(evidence, Triage)
        and evidence.failure_class == "unknown"
        and not evidence.needs_person
    )


def test_a_job_that_lives_is_not_asked_and_a_missing_log_is_nothing() -> None:
    assert isinstance(read(BUG, a_job()), Nothing)
    assert isinstance(read(None, a_job(JobState.FAILED, exit_code=1)), Nothing)


OWN = """\
[[signature]]
id = "mask"
class = "data"
role = "root"
keywords = ["mask"]
pattern = "missing 1 required positional argument: 'mask'"
advice = "The shard has no masks: make it again."
"""


def test_the_users_own_rows_are_asked_first(tmp_path: Path) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "own.toml").write_text(OWN)
    evidence = read(BUG, a_job(JobState.FAILED, exit_code=1), tmp_path, "ops/own.toml")

    assert isinstance(evidence, Triage) and evidence.failure_class == "data"


def test_a_file_that_broke_meanwhile_leaves_ours(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("= 1")
    evidence = read(BUG, a_job(JobState.FAILED, exit_code=1), tmp_path, "own.toml")

    assert isinstance(evidence, Triage) and evidence.failure_class == "code-bug-small"


def test_another_instances_log_shows_nothing() -> None:
    assert isinstance(
        seen_of(OwnLog(instance="tiny-9"), a_job(JobState.FAILED, exit_code=1)), Nothing
    )


def test_a_log_that_cannot_be_read_is_no_log_that_says_nothing() -> None:
    with pytest.raises(CouldNotLook, match="connection lost"):
        seen_of(Unavailable("connection lost"), a_job(JobState.FAILED, exit_code=1))
    assert isinstance(seen_of(Unavailable("connection lost"), a_job()), Nothing)


def seen_of(log: OwnLog | Unavailable, job: Job) -> Triage | Nothing:
    return read_triage(log, job, a_contract(), Place("tiny", ".", "/data/tiny", "."))


@pytest.mark.parametrize("shards", [("books", "poems"), ("books", "books")])
def test_unexplained_ends_are_the_same_failure(shards: tuple[str, str]) -> None:
    """Else a failure whose harmless lines differ would be relaunched again and again."""
    first, second = (_unexplained_end(n, shard) for n, shard in enumerate(shards, 1))
    assert first.cause is Cause.UNKNOWN and is_repeated(second, (first,))


def _unexplained_end(number: int, shard: str) -> Ending:
    job = a_job(JobState.FAILED, instance=f"tiny-{number}", exit_code=1)
    log = f"step 1 loss 2\nthe prefetcher of shard {shard} could not be closed\n"
    triage = read(log, job)
    assert isinstance(triage, Triage)
    scene = EndContext(triage=triage, checkpoints=Checkpoints())
    ending = ending_of(job, scene, an_instance(number), -1, NOON + timedelta(hours=number))
    assert ending is not None
    return ending
