"""Parts of reports on runs in memory: the cards of a page, the table of runs, the exporter."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract
from herorun.core.event import Ordered, Word
from herorun.core.evidence import LeaseSeen
from herorun.core.recovery.decision import not_relaunched
from herorun.core.run_summary import RunSummary
from herorun.operations.babysit import digest_charts
from herorun.operations.report import exporter, html, overview, record_facts
from herorun.operations.report.exporter import RunExporter
from operations.in_memory import ToldRun
from operations.report.reports import a_document, a_goodput


@pytest.mark.parametrize(
    ("least", "most", "span"),
    [
        (0.5, 0.9, "50% to 90%"),
        (0.7512, 0.7514, "75.1%"),
        (0.751, 0.754, "75%"),
    ],
)
def test_the_effective_time_is_a_range_or_one_number(least: float, most: float, span: str) -> None:
    share = {"min": least, "max": most}
    goodput = a_goodput(lost_steps=1200, productive_fraction=share)
    document = a_document(goodput=goodput, checkpoint=None)
    cards = {title: value for title, value, _ in html._cards(document)}
    assert cards["Effective time"] == span
    assert (cards["Instances"], cards["Newest checkpoint"]) == ("2", "none seen")


def test_a_table_of_runs_shares_its_polls_and_shows_an_unreadable_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expectation: list[Any] = []
    polls: Any = SimpleNamespace()
    polls.expect = lambda names, start: expectation.append((names, start)) or polls

    def summary_of_run(name: str, start: Path, shared_polls: object) -> RunSummary:
        assert shared_polls is polls
        if name == "gone":
            raise OSError("it is gone")
        return RunSummary(slug=name, stage="launched")

    monkeypatch.setattr(overview, "summary_of_run", summary_of_run)
    good, unreadable = overview.run_summaries(["tiny", "gone"], Path("/lab"), polls)
    assert expectation == [(["tiny", "gone"], Path("/lab"))]
    assert (good.slug, good.error) == ("tiny", "")
    assert (unreadable.slug, unreadable.monitor) == (
        "gone",
        "stale",
    ) and "it is gone" in unreadable.error


@pytest.mark.parametrize("mine", [True, False])
def test_an_exporter_reads_the_record_of_a_run_once(
    mine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = ToldRun([])
    memory = SimpleNamespace(last_decided=SimpleNamespace(at=NOON), instances=())
    record_fold = SimpleNamespace(memory=memory, lines=7)
    run.record = SimpleNamespace(folded_memory=lambda: record_fold, unpushed_lines=2)
    run.lock = lambda name: tmp_path / name
    lease = object.__new__(LeaseSeen)
    monkeypatch.setattr(LeaseSeen, "mine", mine, raising=False)
    summary = RunSummary(slug="tiny", stage="launched")
    monkeypatch.setattr(exporter, "last_evidence", lambda run, at: {LeaseSeen: lease})
    monkeypatch.setattr(
        exporter, "stored_summary", lambda run, of, unseen_jobs: summary if of is memory else None
    )
    reading = RunExporter(tmp_path)._reading(run)
    assert (reading.summary, reading.lines, reading.unpushed) == (summary, 7, 2)
    assert (reading.lease_held, reading.running) == (mine, False)
    assert reading.cadence == a_contract().babysit.cadence


def test_a_digest_has_the_pictures_of_the_charts_that_it_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    charts = [SimpleNamespace(id=name) for name in ("loss", "memory", "throughput")]
    monkeypatch.setattr(digest_charts, "stored_curves", lambda run: object())
    monkeypatch.setattr(digest_charts, "names_for", lambda run: None)
    monkeypatch.setattr(digest_charts, "charts_of", lambda curves, names: charts)
    monkeypatch.setattr(digest_charts, "_picture", lambda chart: chart.id)
    run: Any = ToldRun([])
    assert digest_charts.pictures_of(run) == ["loss", "throughput"]


@pytest.mark.parametrize("about", ["tiny-1", "tiny-0"])
def test_a_status_has_the_answer_about_the_current_instance(
    about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = ToldRun([])
    run.record.append(Ordered(NOON, "ada", Word.DENY, (not_relaunched(about, "gate"),), "enough"))
    run.record.branch, run.closed_reason = "herorun/tiny", "closed"
    monkeypatch.setattr(record_facts, "stage_of", lambda run: "launched")
    monkeypatch.setattr(record_facts, "instance_entries", lambda memory: [])
    monkeypatch.setattr(record_facts, "_branch_on_remote", lambda run: (None, []))
    monkeypatch.setattr(record_facts, "_rejected_parts", lambda run: [])
    status = record_facts.record_facts(run, run.record.memory(), "")
    assert (status.slug, status.record, status.pushed) == ("tiny", None, False)
    if about == "tiny-1":
        assert status.answer is not None and "ada" in status.answer
    else:
        assert status.answer is None
