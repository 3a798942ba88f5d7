"""What every Scheduler must do. An adapter's tests subclass `SchedulerSuite` and give it the
fixture `rig`.

```python
class TestMine(SchedulerSuite):
    @pytest.fixture
    def rig(self, tmp_path): return Rig(...)
```

`ReadsLogsOn` and `SharesLooks` are for one that can do more.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders import an_instance
from herorun.core.errors import HerorunError, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import (
    Absent,
    Found,
    LogPart,
    Scheduler,
    Submission,
    Unknown,
    missing_members,
)
from herorun.operations.report.logs import read_log
from ports.abilities import misshapen_members

WEIRD = "a b\n'\"$(echo no);*é"
SECRET = "correct-horse-battery-9f2c"


@dataclass(frozen=True)
class Rig:
    """One adapter on a back end of its own, which runs the submitted commands for real."""

    # a new adapter on the same back end, as after a restart of herorun
    connect: Callable[[], Scheduler]
    blind: Callable[[], Scheduler]  # one whose back end cannot be read, or does not answer
    traces: Callable[[], Iterable[bytes]]  # all that the adapter has written anywhere
    code: Path  # an existing folder
    slug: str = "tiny"
    patience: float = 60.0  # seconds for anything
    resolution: timedelta = timedelta(0)  # of the back end's times, which it cuts off
    admission: str = "/state/tiny/admission.json"
    env: dict[str, str] = field(default_factory=dict)
    settle_time: Callable[[], datetime] = lambda: (
        long_ago()
    )  # when an intent was made that "no such job" can answer

    def job(self, script: str, number: int = 1, **changes: object) -> Submission:
        """A submission that runs a shell script."""
        name = f"{self.slug}-{number}"
        env = {**self.env, "HERORUN_INSTANCE": name}
        return replace(Submission(name, ("sh", "-c", script), ".", env, ()), **changes)

    def submit(self, submission: Submission) -> Job:
        return self.connect().submit(submission, str(self.code), self.admission)

    def run(self, submission: Submission) -> Job:
        """Submit it and wait for its end."""
        self.submit(submission)
        return self.wait_for_end(submission.instance)

    def now(self, instance: str) -> Job:
        answer = self.connect().find(instance, long_ago())
        assert isinstance(answer, Found), answer
        return answer.job

    def wait_for_end(self, instance: str) -> Job:
        until = time.monotonic() + self.patience
        while not (job := self.now(instance)).state.is_final:
            assert time.monotonic() < until, job
            time.sleep(0.02)
        return job

    def tail(self, instance: str, lines: int = 100) -> str:
        return self.connect().tail(instance, lines)


def long_ago() -> datetime:
    return datetime.now(UTC) - timedelta(hours=1)


def reading(rig: Rig) -> Callable[..., LogPart]:
    """Its `read_log`."""
    read_log: Callable[..., LogPart] = rig.connect().read_log
    return read_log


def read_or_none(read_log: Callable[..., LogPart], instance: str) -> LogPart | None:
    """The first part that holds something."""
    try:
        part = read_log(instance, 0, 100)
    except FileNotFoundError:
        return None
    return part if part.data else None


class UnusedSchedulerSuite:
    """What holds before the first launch; also for a scheduler that runs no shell commands."""

    def test_it_has_every_member_of_its_port(self, rig: Rig) -> None:
        assert missing_members(Scheduler, rig.connect()) == ()

    def test_its_members_take_what_is_declared(self, rig: Rig) -> None:
        assert misshapen_members("schedulers", rig.connect()) == []

    def test_an_unknown_instance_is_unsure_right_after_the_intent(self, rig: Rig) -> None:
        assert isinstance(rig.connect().find("tiny-1", datetime.now(UTC)), Unknown)

    def test_nothing_is_live_before_the_first_launch(self, rig: Rig) -> None:
        assert rig.connect().live_jobs("tiny") == ()

    def test_stopping_an_unknown_job_is_an_error(self, rig: Rig) -> None:
        with pytest.raises(HerorunError, match="tiny-1"):
            rig.connect().stop("tiny-1", "ada@box")

    def test_the_log_of_an_unknown_instance_is_not_there(self, rig: Rig) -> None:
        with pytest.raises(FileNotFoundError):
            rig.tail("tiny-1")

    def test_a_back_end_that_cannot_be_read_is_neither_empty_nor_waited_for(self, rig: Rig) -> None:
        scheduler, began = rig.blind(), time.monotonic()
        assert isinstance(scheduler.find("tiny-1", long_ago()), Unknown)
        for query in (
            lambda: scheduler.live_jobs("tiny"),
            lambda: scheduler.tail("tiny-1", 5),
            lambda: scheduler.stop("tiny-1", "ada@box"),
        ):
            with pytest.raises((OSError, HerorunError)):
                query()
        assert time.monotonic() - began < rig.patience


class SchedulerSuite(UnusedSchedulerSuite):
    """The contract of `herorun.core.ports.Scheduler`."""

    def test_a_job_that_exits_with_zero_has_succeeded(self, rig: Rig) -> None:
        job = rig.run(rig.job("exit 0"))
        assert (job.instance, job.state, job.exit_code) == ("tiny-1", JobState.SUCCEEDED, 0)

    @pytest.mark.parametrize("code", [1, 3, 78])
    def test_another_exit_code_is_kept(self, rig: Rig, code: int) -> None:
        job = rig.run(rig.job(f"exit {code}"))
        assert (job.state, job.exit_code) == (JobState.FAILED, code)
        assert job.is_refused == (code == 78)

    def test_times_have_a_zone_and_are_in_order(self, rig: Rig) -> None:
        before = datetime.now(UTC)
        job = rig.run(rig.job("exit 0"))
        assert before - rig.resolution <= job.started <= job.ended <= datetime.now(UTC)

    def test_submitting_twice_is_one_job(self, rig: Rig) -> None:
        submission = rig.job("echo ran >> ran; sleep 0.2")
        first, again = rig.submit(submission), rig.submit(submission)
        rig.wait_for_end("tiny-1")
        after = rig.submit(submission)
        assert first.id == again.id == after.id
        assert after.state is JobState.SUCCEEDED
        assert (rig.code / "ran").read_text() == "ran\n"

    def test_an_unknown_instance_is_absent_once_the_intent_has_settled(self, rig: Rig) -> None:
        rig.run(rig.job("exit 0"))
        assert rig.connect().find("tiny-2", rig.settle_time()) == Absent()

    def test_names_are_matched_whole(self, rig: Rig) -> None:
        rig.submit(rig.job("sleep 30", number=11))
        scheduler = rig.connect()
        assert scheduler.find("tiny-1", rig.settle_time()) == Absent()
        assert [job.instance for job in scheduler.live_jobs("tiny")] == ["tiny-11"]
        assert (
            scheduler.live_jobs("tin")
            == scheduler.live_jobs("tiny-1")
            == scheduler.live_jobs("iny")
            == ()
        )

    def test_an_ended_job_is_not_live(self, rig: Rig) -> None:
        rig.run(rig.job("exit 0"))
        assert rig.connect().live_jobs("tiny") == ()

    def test_stop_ends_it_and_says_who_asked(self, rig: Rig) -> None:
        rig.submit(rig.job("sleep 30"))
        rig.connect().stop("tiny-1", "ada@box")
        job = rig.wait_for_end("tiny-1")
        assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")
        assert not job.has_crashed

    def test_stopping_an_ended_job_does_nothing(self, rig: Rig) -> None:
        before = rig.run(rig.job("exit 0"))
        rig.connect().stop("tiny-1", "ada@box")
        assert rig.now("tiny-1") == before

    def test_the_log_holds_both_outputs_and_tail_its_end(self, rig: Rig) -> None:
        rig.run(rig.job("echo one; echo two >&2; printf 'three \\377\\n'"))
        assert rig.tail("tiny-1") == "one\ntwo\nthree \ufffd\n"
        assert rig.tail("tiny-1", 2) == "two\nthree \ufffd\n"
        for lines, expectation in ((None, "one\ntwo\nthree \ufffd\n"), (2, "two\nthree \ufffd\n")):
            assert (
                "".join(read_log(rig.connect(), an_instance(1), lines)) == expectation
            )  # `herorun logs`

    def test_each_instance_has_its_own_log(self, rig: Rig) -> None:
        rig.run(rig.job("echo one"))
        rig.run(rig.job("echo two", number=2))
        assert (rig.tail("tiny-1"), rig.tail("tiny-2")) == ("one\n", "two\n")

    def test_the_job_is_told_what_it_is(self, rig: Rig) -> None:
        rig.run(rig.job('echo "$HERORUN_INSTANCE $HERORUN_ATTEMPT $HERORUN_ADMISSION"'))
        assert rig.tail("tiny-1") == f"tiny-1 1 {rig.admission}\n"

    def test_nothing_is_split_quoted_or_expanded_on_the_way(self, rig: Rig) -> None:
        (rig.code / WEIRD).mkdir()
        submission = rig.job(
            "", argv=("sh", "-c", 'printf "%s|" "$1" "$ODD" "$PWD"', "sh", WEIRD), cwd=WEIRD
        )
        rig.run(replace(submission, env={**submission.env, "ODD": WEIRD}))
        assert rig.tail("tiny-1") == f"{WEIRD}|{WEIRD}|{rig.code.resolve() / WEIRD}|"

    def test_a_secret_reaches_the_job_and_nothing_else(self, rig: Rig, monkeypatch, capfd) -> None:
        monkeypatch.setenv("TRAINING_TOKEN", SECRET)
        script = 'test "$TRAINING_TOKEN" = "$(echo correct)-horse-battery-9f2c" && echo same'
        submission = rig.job(script, secrets=("TRAINING_TOKEN",))
        job = rig.run(submission)
        assert rig.tail("tiny-1") == "same\n"
        assert not [trace for trace in rig.traces() if SECRET.encode() in trace]
        assert SECRET not in f"{submission} {job} {capfd.readouterr()}"

    def test_a_missing_secret_is_named_before_anything_starts(self, rig: Rig, monkeypatch) -> None:
        monkeypatch.delenv("TRAINING_TOKEN", raising=False)
        with pytest.raises(WrongUse, match="TRAINING_TOKEN"):
            rig.submit(rig.job("echo ran > ran", secrets=("TRAINING_TOKEN",)))
        assert rig.connect().find("tiny-1", rig.settle_time()) == Absent()
        assert not (rig.code / "ran").exists()


class ReadsLogsOn:
    """The contract of a scheduler with `read_log`; one without is asked for the log's end
    instead.
    """

    def test_a_log_is_read_on_from_where_the_last_part_ended(self, rig: Rig) -> None:
        read_log = reading(rig)
        # it ends within a line, and within a character
        rig.run(rig.job("printf 'one\\ntwo\\nth\\303'"))
        full = read_log("tiny-1", 0, 100)
        assert (full.data, full.offset, full.size) == (b"one\ntwo\nth\303", 11, 11)
        first = read_log("tiny-1", 0, 5)
        second = read_log("tiny-1", first.offset, 100, first.mark)
        assert (first.data, second.data, second.restarted) == (b"one\nt", b"wo\nth\303", False)
        assert read_log("tiny-1", second.offset, 100, second.mark).data == b""

    def test_no_more_of_a_log_is_read_than_was_asked_for(self, rig: Rig) -> None:
        read_log = reading(rig)
        rig.run(rig.job("yes 0123456789 | head -c 3000000"))
        part = read_log("tiny-1", 1_000_000, 64)
        assert (len(part.data), part.offset, part.size) == (64, 1_000_064, 3_000_000)
        none = read_log("tiny-1", 1_000_000, 0)
        assert (none.data, none.offset, none.size) == (b"", 1_000_000, 3_000_000)

    def test_a_log_that_grows_is_still_the_same(self, rig: Rig) -> None:
        read_log = reading(rig)
        rig.submit(rig.job("echo one; until test -e go; do sleep 0.02; done; echo two"))
        until = time.monotonic() + rig.patience
        while not (part := read_or_none(read_log, "tiny-1")):
            assert time.monotonic() < until
        (rig.code / "go").touch()
        rig.wait_for_end("tiny-1")
        after = read_log("tiny-1", part.offset, 100, part.mark)
        assert (part.data + after.data, after.restarted) == (b"one\ntwo\n", False)

    def test_what_was_read_of_another_log_is_read_again(self, rig: Rig) -> None:
        read_log = reading(rig)
        rig.run(rig.job("echo one; echo two"))
        rig.run(rig.job("echo ONE; echo TWO; echo three", number=2))
        part = read_log("tiny-1", 0, 100)
        other = read_log(
            "tiny-2", part.offset, 100, part.mark
        )  # as if it had been put in its place
        shorter = read_log("tiny-1", 1000, 100)
        assert (other.restarted, other.data) == (True, b"ONE\nTWO\nthree\n")
        assert (shorter.restarted, shorter.data) == (True, b"one\ntwo\n")

    def test_a_missing_log_cannot_be_read_on(self, rig: Rig) -> None:
        with pytest.raises(FileNotFoundError):
            reading(rig)("tiny-1", 0, 100)


class SharesLooks:
    """The contract of a scheduler with `look` and `by`; one without is asked run by run."""

    def test_a_look_that_is_shared_answers_as_the_scheduler_itself(self, rig: Rig) -> None:
        mine = rig.connect()
        rig.run(rig.job("exit 3"))
        settled_at = rig.settle_time()  # at the time of the look
        snapshot = mine.with_snapshot(
            rig.connect().snapshot({"tiny-1": long_ago(), "tiny-4": settled_at})
        )
        assert snapshot.find("tiny-1", long_ago()) == mine.find("tiny-1", long_ago())
        assert snapshot.find("tiny-4", settled_at) == Absent()
        assert snapshot.live_jobs("tiny") == () and mine.cluster == rig.connect().cluster
