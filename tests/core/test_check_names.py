"""Names of checks before they were renamed: what was written with them stays valid."""

import tomllib
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON, a_contract
from herorun import discover
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.canonical_json import canonical, digest
from herorun.core.check_names import RENAMED, current_key
from herorun.core.contract import ContractFile, locate_faults
from herorun.core.errors import WrongTable, WrongUse
from herorun.core.event import Decided, Done
from herorun.core.finding import Finding, Outcome, Waiver, failed
from herorun.core.journal.lines import read_line, write_line
from herorun.core.waivers import waiver_use, waiver_verdicts
from herorun.operations.launch.plan_file import moved_since, moving_evidence
from herorun.operations.orders.waive import propose
from herorun.runs.thresholds import check_limits
from screens.notices import Notice
from wording import mentions


def test_every_new_name_is_a_check_and_no_old_one_is() -> None:
    names = {check.name for check in discover.checks()}
    assert set(RENAMED.values()) <= names
    assert not set(RENAMED) & names


@pytest.mark.parametrize("name", sorted(RENAMED))
def test_an_old_journal_verifies_and_is_decoded_by_the_new_names(name: str) -> None:
    alert = Alert(
        check=name,
        subject="rank 3",
        since=NOON,
        seen=NOON + MINUTE,
        state=AlertState.FIRING,
        message="lost its owner",
        instance="tiny-1",
    )
    key = f"escalate/{alert.key}"
    decision = Decided(
        at=NOON, run="degraded", monitor="ok", progress="stalled", alerts=(alert,), actions=(key,)
    )
    first = write_line(decision, "")
    line = read_line(first.text, "page:1")
    assert (line.id, line.hash) == (first.id, first.hash)
    assert isinstance(line.event, Decided)
    assert line.event.alerts[0].check == RENAMED[name]
    assert line.event.actions == (f"escalate/{line.event.alerts[0].key}",)
    event = read_line(write_line(Done(NOON, key, 1), first.hash).text, "page:2").event
    assert isinstance(event, Done) and (event.key,) == line.event.actions
    assert digest(canonical(event)) != digest(canonical(Done(NOON, key, 1)))


@pytest.mark.parametrize(
    "key", ["tell/tiny-1/blind", "stop/wedged-1", "notes/blind", "wedged", "a/unblind@x"]
)
def test_what_is_no_check_in_a_key_stays(key: str) -> None:
    assert current_key(key) == key


def test_a_waiver_by_an_old_name_counts_and_is_told_the_new_one() -> None:
    waiver = Waiver("other-command", "notes", "@dri", NOON + timedelta(days=1))
    finding = Finding("command-mismatch", failed("another command"))
    assert waiver.covers(finding.check, finding.verdict, NOON)
    use = waiver_use([waiver], [finding], ["command-mismatch"], [], NOON)
    assert (use.unused, use.strange) == ((), {})
    (verdict,) = waiver_verdicts(use)
    assert mentions(verdict.message, "called", "command-mismatch")


def test_an_old_name_in_a_contract_means_the_check_of_today() -> None:
    contract = a_contract(
        babysit={"stop_on": ["wedged"], "thresholds": {"spent-learning-rate": {"rows": 7}}}
    )
    assert contract.babysit.stop_on == ("stalled-by-infrastructure",)
    assert check_limits(contract)["exhausted-learning-rate"].rows == 7


def test_an_old_name_of_a_threshold_means_the_one_of_today() -> None:
    old, new = "apart", "max_step_difference"
    contract = a_contract(babysit={"thresholds": {"repeated-crash": {old: 7}}})
    assert check_limits(contract)["repeated-crash"].max_step_difference == 7
    contract = a_contract(babysit={"thresholds": {"pending-too-long": {"never": "9m"}}})
    assert check_limits(contract)["pending-too-long"].unsatisfiable_wait == timedelta(minutes=9)
    contract = a_contract(babysit={"thresholds": {"loss-diverged": {"leap": 2, "noises": 3}}})
    limits = check_limits(contract)["loss-diverged"]
    assert (limits.leap_ratio, limits.noise_ratio, limits.leap_rows) == (2, 3, 10)
    both = a_contract(babysit={"thresholds": {"repeated-crash": {old: 7, new: 9}}})
    with pytest.raises(WrongUse, match=rf"repeated-crash.*{old}.*{new}"):
        check_limits(both)
    earlier = {"never": "9m", "unsatisfiable": "8m"}
    with pytest.raises(WrongUse, match=r"`unsatisfiable` .*`unsatisfiable_wait`"):
        check_limits(a_contract(babysit={"thresholds": {"pending-too-long": earlier}}))


@pytest.mark.parametrize(
    ("check", "old", "new", "value"),
    [
        ("buffered-output", "behind", "max_lag", timedelta(minutes=7)),
        ("clock-skew", "most", "max_skew", timedelta(minutes=7)),
        ("crash-loop", "within", "window", timedelta(minutes=7)),
        ("dead-log-pattern", "progress", "progress_bytes", 7),
        ("exhausted-learning-rate", "last", "last_share", 0.7),
        ("expiring-source", "ended", "ended_notice", timedelta(minutes=7)),
        ("expiring-source", "live", "live_notice", timedelta(minutes=7)),
        ("failing-log", "closing", "closing_time", timedelta(minutes=7)),
        ("failing-log", "longest", "max_idle", timedelta(minutes=7)),
        ("failing-log", "still", "fatal_idle", timedelta(minutes=7)),
        ("grad-norm-explosion", "at_once", "single_row_ratio", 7.0),
        ("grad-norm-explosion", "vanished", "vanished_norm", 0.7),
        ("incomplete-checkpoint", "least", "min_age", timedelta(minutes=7)),
        ("instability-precursor", "norm_noises", "norm_noise_ratio", 7.0),
        ("late-tick", "least", "min_delay", timedelta(minutes=7)),
        ("learning-rate-jump", "near_step", "near_step_change", 0.7),
        ("learning-rate-jump", "same_step", "same_step_change", 0.7),
        ("loss-above-chance", "learned", "held_times", 0.7),
        ("loss-spike", "noises", "noise_ratio", 7.0),
        ("missing-artefacts", "closing", "tracker_delay", timedelta(minutes=7)),
        ("past-final-step", "beyond", "extra_steps", 7),
        ("pending-too-long", "again", "second_wait", timedelta(minutes=7)),
        ("pending-too-long", "first", "first_wait", timedelta(minutes=7)),
        ("pending-too-long", "repeat", "repeat_wait", timedelta(minutes=7)),
        ("pending-too-long", "unsatisfiable", "unsatisfiable_wait", timedelta(minutes=7)),
        ("resume-mismatch", "after", "level_difference", 0.7),
        ("resume-mismatch", "catch_up", "median_difference", 0.7),
        ("resume-mismatch", "least_after", "least_level_rows", 7),
        ("resume-mismatch", "least_equal", "least_mean_rows", 7),
        ("resume-mismatch", "once", "max_difference", 0.7),
        ("second-writer", "after", "grace", timedelta(minutes=7)),
        ("silent-tracker", "closing", "closing_time", timedelta(minutes=7)),
        ("silent-tracker", "fresh", "max_log_age", timedelta(minutes=7)),
        ("silent-tracker", "longest", "max_idle", timedelta(minutes=7)),
        ("stale-monitor", "least", "min_idle", timedelta(minutes=7)),
        ("stale-tracker-run", "silent", "silence", timedelta(minutes=7)),
        ("stalled-by-infrastructure", "least", "min_idle", timedelta(minutes=7)),
        ("stalled-steps", "closing", "closing_time", timedelta(minutes=7)),
        ("stalled-steps", "longest", "max_idle", timedelta(minutes=7)),
        ("stuck-pending", "first", "first_wait", timedelta(minutes=7)),
        ("stuck-pending", "times", "first_wait_ratio", 7),
        ("stuck-pending", "unsatisfiable", "unsatisfiable_wait", timedelta(minutes=7)),
        ("throughput-collapse", "halved", "halved_ratio", 7.0),
        ("throughput-collapse", "unit", "unit_ratio", 7.0),
        ("throughput-leak", "deep", "deep_ratio", 7.0),
        ("tracker-alert", "recent", "max_age", timedelta(minutes=7)),
    ],
)
def test_each_earlier_name_of_a_threshold_is_read(
    check: str, old: str, new: str, value: object
) -> None:
    text = "7m" if isinstance(value, timedelta) else value
    limits = check_limits(a_contract(babysit={"thresholds": {check: {old: text}}}))[check]
    assert getattr(limits, new) == value and not hasattr(limits, old)


@pytest.mark.parametrize("check", ["repeated-crash", "pending-too-long"])
def test_the_map_of_earlier_names_is_no_threshold(check: str) -> None:
    contract = a_contract(babysit={"thresholds": {check: {"RENAMED": {}}}})
    with pytest.raises(WrongUse, match="unknown key `RENAMED`"):
        check_limits(contract)


@pytest.mark.parametrize(
    "thresholds",
    [
        {"not-finit": {"rows": 3}},
        {"not-finite": {"loss_row": 3}},
        {"silent-tracker": {"closin_time": "3h"}},
        {"silent-tracker": {"longes": "3h"}},
    ],
)
def test_a_mistyped_threshold_is_told_its_name_and_line(thresholds: Any, notice: Notice) -> None:
    contract = a_contract(babysit={"thresholds": thresholds})
    text = 'slug = "tiny"\n\n[babysit.thresholds.not-finite]\nloss_row = 3\n'
    with pytest.raises(WrongUse, match="mean") as error:
        check_limits(contract)
    assert isinstance(error.value, WrongTable)
    assert str(locate_faults([error.value], ContractFile("runs/tiny.toml", text))) == notice


@pytest.mark.parametrize("name", sorted(RENAMED))
def test_an_old_name_that_is_typed_means_the_check_of_today(name: str, tmp_path: Path) -> None:
    assert {check.name for check in discover.checks_named(name)} == {RENAMED[name]}
    assert {text.name for text in discover.check_texts(name)} == {RENAMED[name]}
    proposal = propose(name, None, tmp_path, subject=None, reason="", days=1, unknown=False)
    assert (proposal.check, tomllib.loads(proposal.toml)["waiver"][0]["check"]) == (
        RENAMED[name],
        RENAMED[name],
    )


@pytest.mark.parametrize("name", sorted(RENAMED))
def test_an_old_name_in_a_contract_or_a_record_means_the_check_of_today(name: str) -> None:
    assert a_contract(babysit={"stop_on": [name]}).babysit.stop_on == (RENAMED[name],)
    waiver = Waiver(name, "notes", "@dri", NOON + timedelta(days=1))
    assert waiver.covers(RENAMED[name], failed("it differs"), NOON)
    key = "escalate/{}[a]@2026-01-01T12:00:00Z"
    assert current_key(key.format(name)) == key.format(RENAMED[name])


def test_an_old_name_in_a_reviewed_plan_is_no_change() -> None:
    findings = [
        SimpleNamespace(check=name, open=True, verdict=failed("it differs", subject=subject))
        for name, subject in (("no-record", ""), ("outdated-checkpoint-path", "/data/step-1"))
    ]
    report = SimpleNamespace(evidence={}, findings=findings)
    answer: Any = SimpleNamespace(verdict=Outcome.FAIL, report=report)
    past = {"no-logbook": "fail", "stale-handoff[/data/step-1]": "fail"}
    reviewed_plan = {"seen": {**moving_evidence(answer), "findings": past}}
    assert moved_since(reviewed_plan, answer) == ""
    reviewed_plan["seen"]["findings"] = {"no-logbook": "unknown"}
    assert moved_since(reviewed_plan, answer).count("no-record") == 1


def test_every_check_is_found_by_the_name_of_its_file() -> None:
    every = discover.checks()
    for name in {check.name for check in every}:
        questions = [check.ask for check in every if check.name == name]
        assert [check.ask for check in discover.checks_named(name)] == questions, name
