"""Why an instance ended, from the end of its own log."""

from pathlib import Path
from typing import Any

from builders import a_contract, a_job
from herorun.core.evidence import Job, JobState, Nothing, Triage
from herorun.core.ports import Place
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


class Log:
    """A scheduler as far as this source knows it: the end of a log."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def tail(self, instance: str, lines: int) -> str:
        if self.text is None:
            raise FileNotFoundError(instance)
        return "".join(self.text.splitlines(keepends=True)[-lines:])


def read(text: str | None, job: Job, top: Path = Path("."), own: str | None = None) -> Triage | Nothing:
    scheduler: Any = Log(text)
    contract = a_contract(babysit={"catalogue": own})
    return read_triage(scheduler, job, contract, Place("tiny", str(top), "/data/tiny", str(top)))


def test_a_bug_is_told_with_its_place() -> None:
    found = read(BUG, a_job(JobState.FAILED, exit_code=1))
    assert isinstance(found, Triage)
    assert (found.failure_class, found.file, found.line) == ("code-bug-small", "/export/train.py", 7)
    assert found.excerpt.startswith("TypeError: forward()") and found.fingerprint


def test_the_same_failure_has_the_same_fingerprint_at_another_step() -> None:
    job = a_job(JobState.FAILED, exit_code=1)
    first, second = read(BUG, job), read("step 9 loss 2.1\n" * 3 + BUG.replace("2.5", "2.4"), job)
    assert isinstance(first, Triage) and isinstance(second, Triage)
    assert first.fingerprint == second.fingerprint


def test_a_log_that_says_nothing_is_unknown() -> None:
    found = read("step 3 loss 2.5\n", a_job(JobState.FAILED, signal="SIGKILL"))
    assert isinstance(found, Triage) and found.failure_class == "unknown" and not found.needs_person


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
    found = read(BUG, a_job(JobState.FAILED, exit_code=1), tmp_path, "ops/own.toml")

    assert isinstance(found, Triage) and found.failure_class == "data"


def test_a_file_that_broke_meanwhile_leaves_ours(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("= 1")
    found = read(BUG, a_job(JobState.FAILED, exit_code=1), tmp_path, "own.toml")

    assert isinstance(found, Triage) and found.failure_class == "code-bug-small"
