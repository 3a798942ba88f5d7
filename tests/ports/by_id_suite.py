"""What every `ById` must do. An adapter's tests subclass `ByIdSuite` and give it the fixture
`rig`.

```python
class TestMine(ByIdSuite):
    @pytest.fixture
    def rig(self, tmp_path): return ByIdRig(...)
```
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from herorun import job_kinds
from herorun.core.errors import HerorunError, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, ById, Found, Unknown, missing_members
from ports.abilities import misshapen_members

LOG = "echo one; echo two"


def script(until: object) -> str:
    """A job's own: it fails once the file exists."""
    return f"{LOG}; until test -e '{until}'; do sleep 0.1; done; exit 3"


@dataclass(frozen=True)
class ByIdRig:
    """One adapter on a back end of its own, with jobs that herorun did not submit."""

    kind: str  # as in `--scheduler KIND`
    # a new adapter on the same back end, as after a restart of herorun
    connect: Callable[[], ById]
    blind: Callable[[], ById]  # one whose back end cannot be read, or does not answer
    start: Callable[[], str]  # a job that has printed `one` and `two`, and waits: its id
    end: Callable[[str], None]  # let the job of this id fail
    absent: str  # an id of the right form that no job has
    malformed_ids: tuple[str, ...]  # ids of other schedulers, and of none
    state: JobState = JobState.FAILED  # what its source says of such an end
    patience: float = 60.0  # seconds for anything

    def now(self, job: str) -> Job:
        answer = self.connect().find_job(job)
        assert isinstance(answer, Found), answer
        return answer.job

    def once(self, job: str, true: Callable[[Job], bool]) -> Job:
        """The first answer of which this is true."""
        until = time.monotonic() + self.patience
        while not true(answer := self.now(job)):
            assert time.monotonic() < until, answer
            time.sleep(0.05)
        return answer

    def start_job(self) -> str:
        """The id of a job that runs, and whose log is there."""
        job = self.start()
        self.once(job, lambda answer: answer.state is JobState.RUNNING)
        until = time.monotonic() + self.patience
        while "two" not in self._log(job):
            assert time.monotonic() < until
            time.sleep(0.05)
        return job

    def _log(self, job: str) -> str:
        try:
            return self.connect().tail(job, 100)
        except FileNotFoundError:
            return ""


class ByIdSuite:
    """The contract of `herorun.core.ports.ById`."""

    def test_it_has_every_member_of_its_port(self, rig: ByIdRig) -> None:
        assert missing_members(ById, rig.connect()) == ()

    def test_its_members_take_what_is_declared(self, rig: ByIdRig) -> None:
        assert misshapen_members("schedulers.external", rig.connect()) == []

    def test_a_job_is_live_until_it_has_ended(self, rig: ByIdRig) -> None:
        job = rig.start_job()
        live = rig.now(job)
        assert (live.id, live.state, live.ended) == (job, JobState.RUNNING, None)
        assert live.raw  # its source's own word
        rig.end(job)
        final_answer = rig.once(job, lambda answer: answer.state.is_final)
        assert (final_answer.id, final_answer.state) == (job, rig.state)
        assert final_answer.raw and final_answer.raw != live.raw

    def test_an_unknown_id_is_no_job_and_has_not_ended(self, rig: ByIdRig) -> None:
        job_kinds.must_be_id(rig.kind, rig.absent)
        assert isinstance(rig.connect().find_job(rig.absent), Absent | Unknown)

    def test_an_unknown_id_has_no_log(self, rig: ByIdRig) -> None:
        with pytest.raises(FileNotFoundError):
            rig.connect().tail(rig.absent, 5)

    def test_stopping_an_unknown_id_is_an_error(self, rig: ByIdRig) -> None:
        with pytest.raises((OSError, HerorunError)):
            rig.connect().stop(rig.absent)

    def test_an_id_of_another_form_is_refused(self, rig: ByIdRig) -> None:
        job_kinds.must_be_id(rig.kind, rig.start())
        for job in ("", "a\0b", *rig.malformed_ids):
            with pytest.raises(WrongUse):
                job_kinds.must_be_id(rig.kind, job)

    def test_a_back_end_that_cannot_be_read_is_no_answer(self, rig: ByIdRig) -> None:
        job, adapter, began = rig.start_job(), rig.blind(), time.monotonic()
        answer = adapter.find_job(job)
        assert isinstance(answer, Unknown) and answer.why, answer
        for question in (lambda: adapter.tail(job, 5), lambda: adapter.stop(job)):
            with pytest.raises((OSError, HerorunError)):
                question()
        assert time.monotonic() - began < rig.patience
        assert rig.now(job).state is JobState.RUNNING

    def test_its_log_is_read_from_the_end(self, rig: ByIdRig) -> None:
        job = rig.start_job()
        adapter = rig.connect()
        *_, one, two = adapter.tail(job, 100).splitlines()
        assert one.endswith("one") and two.endswith("two")
        assert adapter.tail(job, 1).splitlines() == [two]

    def test_the_age_of_its_log_is_one(self, rig: ByIdRig) -> None:
        job, ask = rig.start_job(), getattr(rig.connect(), "log_age", None)
        if ask is None:
            return
        # clocks that count in seconds may be one ahead
        assert timedelta(seconds=-2) < ask(job) < timedelta(seconds=rig.patience)
        with pytest.raises((OSError, HerorunError)):
            ask(rig.absent)

    def test_a_stop_ends_it_and_another_does_nothing(self, rig: ByIdRig) -> None:
        job = rig.start_job()
        rig.connect().stop(job)
        final_answer = rig.once(job, lambda answer: answer.state.is_final)
        assert final_answer.state is not JobState.SUCCEEDED
        rig.connect().stop(job)
        assert rig.now(job).state is final_answer.state

    def test_a_job_is_not_its_own_namesake(self, rig: ByIdRig) -> None:
        job, adapter = rig.start_job(), rig.connect()
        ask = getattr(adapter, "live_namesakes", None)
        adapter.find_job(job)  # some know a job's name from the first query on
        assert ask is None or job not in ask(job)
