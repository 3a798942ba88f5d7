"""Which of several receipts counts: one refusal of any rank is enough."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_history, a_job, an_instance
from herorun.core.babysit.cadence import FIRST_CHECK
from herorun.core.evidence import History, JobState, LateReceipts, Nothing, Now, Receipt
from herorun.core.ports import Place
from herorun.core.record.anchors import RECEIPT
from herorun.schedulers import local as scheduler
from herorun.sources.receipts import parse_receipt, read_late_receipts, read_receipt
from herorun.stores import local as store
from herorun.system.clock import now


class Bench:
    """An output root and a job's log."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / "root"
        (self.root / "_herorun" / "receipts").mkdir(parents=True)
        (home / "jobs" / "tiny-1").mkdir(parents=True)
        self.log()

    def file(self, name: str, outcome: str = "pass", **result: Any) -> None:
        (self.root / "_herorun" / "receipts" / f"{name}.json").write_text(
            receipt(outcome, **result)
        )

    def log(self, *lines: str) -> None:
        (self.home / "jobs" / "tiny-1" / "job.log").write_text(
            "".join(f"{line}\n" for line in lines)
        )

    def read(
        self, state: JobState = JobState.RUNNING, **result: datetime | None
    ) -> Receipt | Nothing:
        place = Place("tiny", str(self.home), str(self.root), "/repository")
        jobs = scheduler.connect(scheduler.Options(), place)
        files = store.connect(store.Options(), place)
        contract = a_contract(output={"root": str(self.root)})
        return read_receipt(contract, files, jobs, a_history(), a_job(state, **result), Now(now()))

    def late(self, history: History) -> LateReceipts | Nothing:
        place = Place("tiny", str(self.home), str(self.root), "/repository")
        files = store.connect(store.Options(), place)
        return read_late_receipts(a_contract(output={"root": str(self.root)}), files, history)

    @property
    def outcome(self) -> str:
        evidence = self.read()
        assert isinstance(evidence, Receipt), evidence
        return evidence.outcome


def receipt(
    outcome: str = "pass", instance: str = "tiny-1", attempt: int = 1, rank: int = 0
) -> str:
    items = [{"item": "code", "outcome": outcome, "message": "as said"}]
    fields = {
        "instance": instance,
        "attempt": attempt,
        "rank": rank,
        "outcome": outcome,
        "items": items,
    }
    return json.dumps(fields)


FOUR = tuple(an_instance(name=f"tiny-{number}") for number in (1, 2, 3, 4))


def test_late_receipts_of_several_earlier_instances_are_read_each_by_itself(bench: Bench) -> None:
    """The newest start of each counts; the current instance and those that the record knows are no
    latecomers.
    """
    for name, items in {
        "tiny-1.1": {"outcome": "fail"},
        "tiny-1.2": {"attempt": 2},
        "tiny-2.1": {"instance": "tiny-2", "outcome": "fail"},
        "tiny-3.1": {"instance": "tiny-3"},
        "tiny-4.1": {"instance": "tiny-4"},
    }.items():
        bench.file(name, **items)
    history = a_history(instances=FOUR, checked_in=frozenset({"tiny-3"}))
    late = bench.late(history)
    assert isinstance(late, LateReceipts) and late.damaged == ()
    assert [(each.instance, each.outcome) for each in late.receipts] == [
        ("tiny-2", "fail"),
        ("tiny-1", "pass"),
    ]


def test_a_damaged_late_receipt_hides_no_other(bench: Bench) -> None:
    bench.file("tiny-1.1")
    bench.file("tiny-2.1", instance="tiny-1")
    (bench.root / "_herorun" / "receipts" / "tiny-3.1.json").write_text("{")
    late = bench.late(a_history(instances=FOUR))
    assert isinstance(late, LateReceipts)
    assert [each.instance for each in late.receipts] == ["tiny-1"]
    assert [name for name, _ in late.damaged] == ["tiny-3", "tiny-2"]


def test_nothing_is_read_where_every_earlier_instance_checked_in(bench: Bench) -> None:
    one = a_history(instances=FOUR[:2], checked_in=frozenset({"tiny-1"}))
    assert isinstance(bench.late(one), Nothing)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_no_receipt_is_nothing(bench: Bench) -> None:
    assert isinstance(bench.read(), Nothing)


def test_the_newest_receipt_of_the_instance_counts(bench: Bench) -> None:
    for name, outcome in (("tiny-1.9", "fail"), ("tiny-1.10", "pass"), ("tiny-11.11", "fail")):
        bench.file(name, outcome)
    assert bench.outcome == "pass"


def test_a_refusal_of_any_rank_is_a_refusal(bench: Bench) -> None:
    bench.file("tiny-1.1")
    bench.file("tiny-1.1.rank12", "fail", rank=12)
    bench.file("tiny-1.1.rank3", "fail", rank=3)
    evidence = bench.read()
    assert isinstance(evidence, Receipt)
    assert (evidence.outcome, evidence.items) == ("fail", (("code", "fail", "as said (rank 3)"),))


def test_a_refusal_before_the_first_rank_has_written_counts(bench: Bench) -> None:
    bench.file("tiny-1.1.rank3", "fail", rank=3)
    assert bench.outcome == "fail"


def test_a_refusal_of_an_earlier_attempt_is_over(bench: Bench) -> None:
    bench.file("tiny-1.1.rank3", "fail", rank=3)
    bench.file("tiny-1.2", attempt=2)
    assert bench.outcome == "pass"


@pytest.mark.parametrize("prefix", ["", "[default3]:", "3: "])
def test_a_refusal_that_is_only_in_the_log_counts(bench: Bench, prefix: str) -> None:
    """The rank saw another root: that is why it refused."""
    bench.file("tiny-1.1")
    bench.log("starts", f"{prefix}{RECEIPT}{receipt('fail', rank=3)}", f"{RECEIPT}{receipt()}")
    assert bench.outcome == "fail"


def test_the_last_line_of_an_attempt_counts(bench: Bench) -> None:
    bench.log(
        RECEIPT + receipt("fail"), RECEIPT + receipt(), RECEIPT + receipt("fail", instance="tiny-2")
    )
    assert bench.outcome == "pass"


def test_a_cut_line_hides_nothing_where_there_are_files(bench: Bench) -> None:
    bench.log(RECEIPT + receipt()[:-5])
    with pytest.raises(ValueError, match="damaged"):
        bench.read()
    bench.file("tiny-1.1")
    assert bench.outcome == "pass"


def test_a_receipt_that_a_flood_has_carried_from_the_logs_end_is_found(bench: Bench) -> None:
    """An object store takes no receipt, and many ranks say much before the first tick."""
    bench.log("starts", RECEIPT + receipt(), *(f"rank {n} has a device" for n in range(5000)))
    assert bench.outcome == "pass"


def test_a_log_that_is_gone_hides_no_file(bench: Bench) -> None:
    (bench.home / "jobs" / "tiny-1" / "job.log").unlink()
    with pytest.raises(FileNotFoundError):
        bench.read()
    bench.file("tiny-1.1")
    assert bench.outcome == "pass"


def test_a_job_that_waits_or_just_began_has_no_log_and_one_that_runs_must(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "jobs" / "tiny-1" / "job.log").unlink()

    assert isinstance(bench.read(JobState.PENDING), Nothing)
    assert isinstance(bench.read(JobState.BUILDING), Nothing)
    assert isinstance(bench.read(JobState.RUNNING, started=now()), Nothing)
    for started_at in (None, now() - FIRST_CHECK):
        with pytest.raises(FileNotFoundError):
            bench.read(JobState.RUNNING, started=started_at)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("yesterday", None),
        (7, None),
    ],
)
def test_when_the_job_checked_in_by_its_own_clock(text: object, at: datetime | None) -> None:
    assert parse_receipt({**json.loads(receipt()), "at": text}).at == at
