"""Parts of a seal and of its proof on a run in memory."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON, a_contract, a_receipt
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import LateReceipts, Receipt
from herorun.core.finding import Waiver
from herorun.core.journal import fold
from herorun.core.run_summary import RunSummary
from herorun.operations.seal import (
    facts,
    health,
    resume,
    statement,
    verify_checkpoint,
    verify_record,
)
from operations.in_memory import ToldRun, fails


def test_a_waiver_of_one_subject_covers_no_other_ended_alert() -> None:
    def ended_alert(subject: str) -> Alert:
        return Alert(
            check="metric-out-of-band",
            subject=subject,
            since=NOON,
            seen=NOON,
            state=AlertState.FIRING,
            message="out",
        )

    waiver = Waiver(
        "metric-out-of-band", "known", "ada", NOON + timedelta(days=1), subject="eval/loss"
    )
    run: Any = SimpleNamespace(waivers=(waiver,))
    tick: Any = SimpleNamespace(
        ended=(ended_alert("eval/loss"), ended_alert("lr")), alerts={}, at=NOON
    )
    alerts = health._list_ended_alerts(run, tick, fold([]), {})
    assert [alert.subject for alert in alerts] == ["lr"]


@pytest.mark.parametrize(("stated_step", "final"), [(900, 900), (None, None)])
def test_a_sealed_run_has_the_final_step_of_its_seal(
    stated_step: int | None, final: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_facts = {"final_step": stated_step, "reached_step": 880, "final_metrics": {"loss": 2.5}}
    monkeypatch.setattr(facts, "facts_at_seal", lambda run, memory: seal_facts)
    run: Any = SimpleNamespace(contract=a_contract())
    summary = facts.summarise_sealed(run, fold([]), RunSummary(slug="tiny", stage="sealed"))
    assert (summary.final_step, summary.step, summary.run) == (final, 880, "finished")


@pytest.mark.parametrize("here", ["0id", "other"])
def test_a_tag_is_repeated_only_if_it_is_on_the_remote_as_here(
    here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"kind": "milestone"}
    oids = {"seal-1": here}
    monkeypatch.setattr(resume, "statement_of", lambda text: old)
    monkeypatch.setattr(resume, "_states", lambda statement, memory: False)
    monkeypatch.setattr(resume, "remote_tag", lambda run, tag: "0id")
    monkeypatch.setattr(resume, "local_tag", lambda run, tag: oids.get(tag))
    monkeypatch.setattr(resume, "_same_instances", lambda statement, memory: True)
    monkeypatch.setattr(resume, "_matches_request", lambda statement, sealing: True)
    run, sealing = ToldRun([]), SimpleNamespace()

    def read() -> object:
        arguments: Any = (run, fold([]), "seal-1", "text", sealing)
        return resume._read_unfinished_statement(*arguments)

    if here == "0id":
        assert read() is old
        return
    with pytest.raises(resume.Blocked, match="seal-1"):
        read()


def test_an_instance_whose_receipt_came_late_has_checked_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: Any = ToldRun([])
    run.record.lines, run.waivers = list, ()
    evidence = {Receipt: a_receipt("tiny-2"), LateReceipts: LateReceipts((a_receipt("tiny-1"),))}
    report: Any = SimpleNamespace(evidence=evidence)
    monkeypatch.setattr(statement, "caveats", lambda **facts: [facts["verified_names"]])
    (names,) = statement._caveats(run, run.record.memory(), report, None)
    assert names == {"tiny-1", "tiny-2"}


def _a_seal(**own: Any) -> Any:
    repository = SimpleNamespace(top=Path("/lab"), remotes=lambda: {"origin": "url"})
    return SimpleNamespace(facts={"run": "tiny", **own}, repository=repository)


@pytest.mark.parametrize(("branch", "error"), [("runs/tiny", None), ("", CouldNotLook("gone"))])
def test_a_record_is_on_the_branch_of_the_contract_or_on_the_usual_one(
    branch: str, error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contract_of(seal: object) -> object:
        return fails(error)() if error else SimpleNamespace(record_branch=branch)

    places: list[Any] = []
    monkeypatch.setattr(verify_record, "contract_of", contract_of)
    monkeypatch.setattr(verify_record.Record, "discover", lambda *place: places.append(place))
    seal = _a_seal()
    verify_record.record_of(seal)
    assert places == [(seal.repository, "tiny", branch, "origin")]


def test_a_checkpoint_without_a_scheme_is_below_the_output_root_of_the_seal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verify_checkpoint, "contract_of", lambda seal: None)
    place = verify_checkpoint._store(_a_seal(output_root="/out/tiny"))._place
    assert (place.slug, place.output_root, place.repository) == ("tiny", "/out/tiny", "/lab")
    assert place.reach is None
