"""Each incident, replayed: the named check fires, in time, and no other critical; without the fault
nothing does.

A folder holds `incident.toml` (what happened, its source, the contract, what must fire and by
when), `world.jsonl` and `rows.csv` (what the world said at each moment). Thresholds and cadence are
the defaults.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_tree, an_instance, healthy
from herorun import discover
from herorun.core.babysit.actions import DeleteNode, Relaunch, Stop
from herorun.core.canonical_json import digest
from herorun.core.check import AtRelaunch, Gate, evaluate
from herorun.core.contract import Contract, contract_from
from herorun.core.environment import from_shell
from herorun.core.evidence import (
    Bundle,
    BundleContent,
    Checkpoints,
    CodeFlags,
    Environment,
    Flag,
    History,
    Metrics,
    Nothing,
    Now,
    PriorLaunch,
    SourceRun,
    StartSiblings,
)
from herorun.core.gate_findings import stands_in_the_way, verdict_of
from herorun.core.plan import Plan
from herorun.core.plan.build import CLEAN, Sources, make_plan
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub_tree
from herorun.sources.checkpoints import read_checkpoints, read_start_siblings
from herorun.sources.metrics import read_metrics
from herorun.stores.layouts.levanter import Levanter
from replays import write
from replays.played import CHECKS, Replay, Seen
from replays.world import HERE, Clock, Incident, Scheduler, Store, load, tracker_of

NAMES = sorted(path.parent.name for path in HERE.glob("*/incident.toml"))
AT_LAUNCH = [name for name in NAMES if "gate" in load(name, "fault").facts]
RUNNING = [name for name in NAMES if name not in AT_LAUNCH]
INTERVENTIONS = (Relaunch, Stop, DeleteNode)


def play_part(name: str, part: str, folder: Path) -> tuple[dict[str, Any], list[Seen]]:
    incident = load(name, part)
    return incident.facts, list(Replay(incident, folder).turns())


def begins(turns: list[Seen], check: str) -> list[Any]:
    """When alerts of a check began to fire."""
    before: set[str] = set()
    alert_times = []
    for turn in turns:
        keys = {a.key for a in turn.tick.alerts.values() if a.check == check and a.firing}
        alert_times += [turn.at] if keys - before else []
        before = keys
    return alert_times


@pytest.mark.parametrize("name", RUNNING)
def test_the_named_check_fires_in_time_and_no_other_critical(name: str, tmp_path: Path) -> None:
    output, turns = play_part(name, "fault", tmp_path)
    checks = [*output.get("fires", []), *output.get("warns", [])]
    for each in checks:
        times = begins(turns, each["check"])
        assert any(each["since"] <= at <= each["by"] for at in times), (each["check"], times)
        critical = CHECKS[each["check"]].severity == "critical"
        assert critical is (each in output.get("fires", []))
    criticals = {check for turn in turns for check in turn.critical}
    assert criticals == {each["check"] for each in output.get("fires", [])}
    _assert_decided(output, turns)


def _assert_decided(fields: dict[str, Any], turns: list[Seen]) -> None:
    interventions = [
        action for turn in turns for action in turn.actions if isinstance(action, INTERVENTIONS)
    ]
    assert [type(action) for action in interventions] == [Relaunch] * {"never": 0, "once": 1}[
        fields["relaunch"]
    ]
    assert turns[-1].tick.run == fields.get("run", turns[-1].tick.run)
    assert turns[-1].tick.monitor == fields.get("monitor", "fresh")
    alert_messages = [
        alert.message for turn in turns for alert in turn.tick.alerts.values() if alert.firing
    ]
    assert fields.get("says", "") in " ".join(alert_messages)


@pytest.mark.parametrize("name", RUNNING)
def test_without_the_fault_nothing_critical_fires(name: str, tmp_path: Path) -> None:
    output, turns = play_part(name, "sound", tmp_path)

    assert {check for turn in turns for check in turn.critical} == set()
    assert not set(told_checks(output)) & {check for turn in turns for check in turn.firing}
    assert not [
        action for turn in turns for action in turn.actions if isinstance(action, INTERVENTIONS)
    ]
    assert {turn.tick.monitor for turn in turns} == {"fresh"}
    assert turns[-1].tick.run in ("healthy", "finished")


def told_checks(fields: dict[str, Any]) -> list[str]:
    return [each["check"] for each in [*fields.get("fires", []), *fields.get("warns", [])]]


# --- at the launch gate ---------------------------------------------------------------------------


def merge_fields(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {
        **base,
        **{
            k: merge_fields(base.get(k, {}), v) if isinstance(v, dict) else v
            for k, v in change.items()
        },
    }


def ask_plan(
    incident: Incident, contract: Contract, config: dict[str, Any]
) -> tuple[Plan, list[Any]]:
    """The plan that the real sources and `make_plan` come to, and what the launch gate says of
    it.
    """
    clock = Clock(incident.end)
    store, layout = Store(incident, clock), Levanter()
    history = _history(incident)
    own = read_checkpoints(contract, store, layout, history, Nothing(""))
    has_start = contract.start.from_ is not None
    beside = (
        read_start_siblings(contract, store, layout) if has_start else Nothing("no start is named")
    )
    siblings = beside if isinstance(beside, StartSiblings) else StartSiblings()
    sources = Sources("sha256:c0de", config, "config.toml", "runs/replay.toml")
    shell, bundle = (
        environment(incident, contract, clock.now),
        bundle_of(incident, contract, clock.now),
    )
    plan = make_plan(
        contract=contract,
        tree=a_tree(),
        sources=sources,
        checkpoints=own,
        siblings=siblings,
        history=history,
        snapshot=CLEAN,
        environment=shell,
        bundle=bundle,
    )
    place = Place(contract.slug, "/nowhere/at/all", contract.output.root, "/nowhere/at/all")
    metrics = read_metrics(tracker_of(incident, clock), contract, place, Now(clock.now), History())
    source = incident.facts.get("source_run")
    evidence = {
        **healthy(Gate.LAUNCH),
        Contract: contract,
        Plan: plan,
        History: history,
        Checkpoints: own,
        StartSiblings: beside,
        Metrics: metrics,
        SourceRun: SourceRun(source["slug"], tuple(source["roots"]))
        if source
        else Nothing("none is named"),
        **launched_before(incident, sources, history, shell, plan),
    }
    return plan, evaluate(discover.checks(Gate.LAUNCH), evidence)


def newest(incident: Incident, kind: str, moment: datetime) -> Any:
    until = incident.until(moment, kind)
    return until[-1][kind] if until else None


def environment(incident: Incident, contract: Contract, moment: datetime) -> Environment:
    """What the real rules let into the plan of the shell that the launch is typed in."""
    values, withheld_names = from_shell(
        newest(incident, "shell", moment) or {}, contract.command.secrets, (), True
    )
    return Environment(values, withheld_names)


def bundle_of(incident: Incident, contract: Contract, moment: datetime) -> BundleContent | Nothing:
    files = newest(incident, "bundle", moment)
    if files is None:
        return Nothing("the contract names no bundle")
    entries = {path: ("100644", oid) for path, oid in files.items()}
    return BundleContent(str(contract.runtime.bundle), digest(entries), entries)


def launched_before(
    incident: Incident, sources: Sources, history: History, shell: Environment, plan: Plan
) -> dict[Any, Any]:
    """The plan that the run was launched with, as the record holds it; only of an incident that
    tells of its world then.
    """
    facts = incident.facts
    if "reads" not in facts:
        return {}
    contract = contract_from(
        merge_fields(facts["contract"], facts.get("sound", {})), "runs/replay.toml"
    )
    began = incident.until(incident.end, "launched")[0]["at"]
    then, bundle = environment(incident, contract, began), bundle_of(incident, contract, began)
    none = History(initialised=True)
    before = make_plan(
        contract=contract,
        tree=a_tree(),
        sources=sources,
        checkpoints=Checkpoints(),
        siblings=StartSiblings(),
        history=none,
        snapshot=CLEAN,
        environment=then,
        bundle=bundle,
    )
    here = newest(incident, "shell", incident.end) or {}
    flags = tuple(Flag(name, "train.py", 7) for name in facts["reads"])
    evidence: dict[Any, Any] = {
        PriorLaunch: PriorLaunch(history.instances[-1].name, scrub_tree(before.values)),
        Environment: shell,
        CodeFlags: CodeFlags(flags, {name: here[name] for name in facts["reads"] if name in here}),
    }
    if before.bundle.value:
        evidence[Bundle] = Bundle(
            name=str(contract.runtime.bundle),
            identity=str(plan.bundle.value),
            admitted=str(before.bundle.value),
            compared=2,
        )
    return evidence


def _history(incident: Incident) -> History:
    launches = [line["launched"] for line in incident.lines if "launched" in line]
    began = [line["at"] for line in incident.lines if "launched" in line]
    past = [
        {"name": x["instance"], "root": x["root"], "began": at}
        for x, at in zip(launches, began, strict=True)
    ]
    past += incident.facts.get("instances", [])
    instances = tuple(
        an_instance(
            n + 1,
            name=each["name"],
            output_root=each["root"],
            temporary_root=each.get("temporary_root"),
            started=each["began"],
            intended=each["began"],
        )
        for n, each in enumerate(past)
    )
    return History(initialised=True, instances=instances)


def blocking(findings: list[Any]) -> set[str]:
    checks = {check.name: check for check in discover.checks(Gate.LAUNCH)}
    return {f.check for f in findings if stands_in_the_way(f, checks[f.check])}


@pytest.mark.parametrize("name", AT_LAUNCH)
def test_the_named_check_blocks_the_launch_and_no_other(name: str) -> None:
    incident = load(name, "fault")
    contract = contract_from(incident.facts["contract"], "runs/replay.toml")
    _, findings = ask_plan(incident, contract, incident.facts.get("config", {"seed": 7}))

    assert blocking(findings) == set(incident.facts["blocks"])


@pytest.mark.parametrize("name", AT_LAUNCH)
def test_without_the_fault_the_launch_is_clear(name: str) -> None:
    incident = load(name, "sound")
    facts = incident.facts
    contract = contract_from(
        merge_fields(facts["contract"], facts.get("sound", {})), "runs/replay.toml"
    )
    plan, findings = ask_plan(incident, contract, facts.get("sound_config", {"seed": 7}))

    assert blocking(findings) == set()
    checks = {check.name: check for check in discover.checks(Gate.LAUNCH)}
    assert verdict_of(findings, checks) == "clear"
    start = plan.start.value
    assert (start.path if start else None) == facts.get("starts")


@pytest.mark.parametrize("name", [name for name in AT_LAUNCH if name >= "12"])
def test_a_relaunch_by_the_babysitter_asks_about_drift_too(name: str) -> None:
    checks = {check.name: check for check in discover.checks(Gate.LAUNCH)}

    assert AtRelaunch.BLOCK in {
        checks[each].at_relaunch for each in load(name, "fault").facts["blocks"]
    }


def test_while_the_queued_gang_may_live_a_second_one_is_refused() -> None:
    """Of 08b: the live job is seen by the real source, and the launch gate blocks on it."""
    from herorun.core.evidence import LiveJobs
    from herorun.sources.jobs import read_live_jobs

    incident = load("08b-unreachable-peer", "fault")
    scheduler = Scheduler(incident, Clock(incident.end), HERE)
    live = read_live_jobs(scheduler, a_contract(), _history(incident))
    verdict = evaluate(discover.checks(Gate.LAUNCH), {**healthy(Gate.LAUNCH), LiveJobs: live})

    assert blocking(verdict) == {"live-duplicate"}


# --- the data -------------------------------------------------------------------------------------


def test_the_files_are_what_the_script_writes() -> None:
    for folder, name, text in write.written_files():
        assert (HERE / folder / name).read_text() == text, (
            f"{folder}/{name}: python tests/replays/write.py"
        )


def test_every_incident_says_what_happened_and_where_that_is_reported() -> None:
    assert set(NAMES) == set(write.WORLDS)
    assert {name[:2] for name in NAMES} == {f"{number:02}" for number in range(1, 13)}
    for name in NAMES:
        facts = load(name, "fault").facts
        source = "marin-community/marin, " if name < "10" else "an incident of the field"
        assert facts["what"] and facts["source"].startswith(source)
