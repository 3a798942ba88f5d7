"""How a run stands, from its record and one fresh look. Nothing is written."""

from pathlib import Path
from typing import Any

from herorun import discover
from herorun.acts.babysitter import last_heartbeat
from herorun.acts.turn import alert_json, judge, progress_of
from herorun.core.canonical import timestamp
from herorun.core.check import Gate
from herorun.gates import finding_json
from herorun.system.clock import now
from herorun.workspace import Run, watched_run


def status_of(name: str, start: Path) -> dict[str, Any]:
    """The shape of `babysit --once --json`, with the record's facts beside it."""
    run, drift = watched_run(name, start)
    memory = run.record.memory()
    facts: dict[str, Any] = {
        "slug": run.slug,
        "stage": _stage(run),
        "instances": [
            {"name": i.name, "job": i.job, "started": timestamp(i.started)} for i in memory.instances
        ],
        "sealed": memory.sealed.tag if memory.sealed else None,
        "record": run.record.tip,
        "pushed": run.record.tip is not None and run.record.tip == run.record.pushed,
        "babysitter": babysitter_words(run),
        "contract": drift or "as admitted",
        "unfinished": list(memory.unfinished.actions),
    }
    if not memory.instances or memory.sealed:
        quiet = {
            "run": "finished" if memory.sealed else "unknown",
            "monitor": "fresh",
            "progress": "~unknown/unknown",
        }
        return {**quiet, "findings": [], "alerts": [], "actions": [], **facts}
    seen, evidence = judge(run)
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    return {
        "run": seen.run.value,
        "monitor": seen.monitor.value,
        "progress": progress_of(evidence),
        "findings": [finding_json(f, checks[f.check]) for f in seen.findings],
        "alerts": [alert_json(a, checks[a.check].severity.value) for a in seen.alerts.values()],
        "actions": [],
        **facts,
    }


def _stage(run: Run) -> str:
    memory = run.record.memory()
    if memory.sealed:
        return "sealed"
    if memory.instances:
        return "launched"
    return "initialised" if memory.initialised else "not initialised"


def babysitter_words(run: Run) -> str:
    """Whether somebody watches: apart from how the run itself is."""
    if run.contract.babysit.declined:
        return f"declined: {run.contract.babysit.declined}"
    seen = last_heartbeat(run)
    if seen is None:
        return "none was seen on this machine"
    age = (now() - seen).total_seconds()
    stale = age > 2 * run.contract.babysit.cadence.total_seconds() + 60
    return f"{'monitor stale: ' if stale else ''}last heartbeat {age:.0f} s ago"
