"""A report that was made up: what a run of weeks would show, without a run."""

from array import array
from math import nan, sin
from random import Random
from typing import Any

from herorun.core.goodput.states import WallTimeState
from herorun.core.report.downsample import Trace, not_finite, strands
from herorun.operations.metrics.charts import ChartDrawing, Series
from herorun.operations.report.axes import StepAxes
from herorun.operations.report.report import RunReport
from herorun.schemas.reports import ReportDocument

SPIKE = 641  # the step of one high loss
AT = "2026-11-21T12:00:00Z"
DELAYS = ("detection", "relaunch", "human")
NO_DELAY = {"count": 0, "median": None, "max": None, "unknown": 0, "open": 0}


def curve(steps: int, start: int = 0, high: float = 2.2, seed: int = 1) -> Trace:
    """A loss that falls, with noise, and one spike where it comes by."""
    lots = Random(seed)
    values = array(
        "d",
        (high + 8 / (1 + n / (steps / 40 + 1)) + lots.gauss(0, 0.03) for n in range(start, steps)),
    )
    if start <= SPIKE < steps:
        values[SPIKE - start] = 9.5
    return Trace(seed, array("q", range(start + 1, steps + 1)), values)


def a_chart(id: str, title: str, metric: str, *traces: Trace) -> ChartDrawing:
    return ChartDrawing(
        id, title, metric, (Series(metric, tuple(strands(traces)), tuple(not_finite(traces))),)
    )


def some_charts(steps: int = 4000) -> tuple[ChartDrawing, ...]:
    """Two instances: the second one went back by a tenth."""
    first = curve(steps * 6 // 10)
    first.values[-3] = nan
    second = curve(steps, steps // 2, seed=2)
    lots, dip = Random(3), range(steps // 3, steps // 3 + steps // 60)
    norm = [
        0.4 + 0.1 * sin(n / 90) + lots.gauss(0, 0.02) + (80 if n == steps // 4 else 0)
        for n in range(steps)
    ]
    speed = [412_000 + lots.gauss(0, 4000) - (90_000 if n in dip else 0) for n in range(steps)]
    evals = [2.4 + 8 / (1 + n / (steps / 40)) for n in range(0, steps, steps // 16)]
    loss = a_chart("loss", "Loss", "train/loss", first, second)
    extra = Series("eval/loss", tuple(strands([Trace(1, range(0, steps, steps // 16), evals)])))
    return (
        ChartDrawing(loss.id, loss.title, loss.unit, (*loss.series, extra)),
        a_chart("throughput", "Throughput", "tokens_per_s", Trace(1, range(1, steps + 1), speed)),
        a_chart("norm", "Gradient norm", "grad_norm", Trace(1, range(1, steps + 1), norm)),
    )


def a_document(steps: int = 4000, **changes: Any) -> ReportDocument:
    """What `report --json` tells of it."""
    wall = {
        WallTimeState.PRODUCTIVE: 60_000.0,
        WallTimeState.CATCH_UP: 4_000.0,
        WallTimeState.DOWN: 3_000.0,
        WallTimeState.INIT: 1_500.0,
    }
    wall |= {
        WallTimeState.QUEUED: 900.0,
        WallTimeState.EVAL: 1_200.0,
        WallTimeState.CHECKPOINT: 600.0,
        WallTimeState.UNKNOWN: 800.0,
    }
    half = steps // 2
    fields = {
        "run": "tiny",
        "verdict": f"tiny is degraded at ~{steps}/{steps + 1155} steps; slow-steps fires.",
        "level": "warn",
        "state": "degraded",
        "stage": "launched",
        "monitor": "fresh",
        "generated_at": AT,
        "version": "0.1.0",
        "goal": "show the whole path",
        "dri": "@dri",
        "progress": {
            "step": steps,
            "final_step": steps + 1155,
            "text": f"~{steps}/{steps + 1155}",
        },
        "eta": {
            "earliest": "2026-11-22T03:00:00Z",
            "latest": "2026-11-22T09:30:00Z",
            "text": "2026-11-22 03:00 to 2026-11-22 09:30 UTC",
            "why": "1,155 steps are left; from the fastest to the slowest of 4 paces",
        },
        "checkpoint": {"step": steps - 10, "path": f"/data/tiny/step-{steps - 10}", "at": AT},
        "charts": [
            {
                "title": "Loss",
                "metrics": ["train/loss"],
                "newest": 2.3712,
                "points": 1,
                "not_finite": 1,
                "why": "",
            }
        ],
        "annotations": [
            {
                "kind": "launch",
                "step": 0,
                "title": "tiny-1: launch",
                "note": "launched by hand",
                "at": AT,
            },
            {
                "kind": "launch",
                "step": half,
                "title": "tiny-2: relaunch",
                "note": "after a lost node",
                "at": AT,
            },
            {
                "kind": "phase",
                "step": half // 4,
                "title": "warm-up ends",
                "note": "warm-up-end",
                "at": None,
            },
            {
                "kind": "phase",
                "step": steps * 3 // 4,
                "title": "decay",
                "note": "learning-rate",
                "at": None,
            },
            {
                "kind": "alert",
                "step": SPIKE,
                "last": SPIKE + 9,
                "title": "loss-spike",
                "note": "9.5 at step 641",
                "at": AT,
            },
            {
                "kind": "alert",
                "step": half + 350,
                "title": "slow-steps",
                "note": "22% slower",
                "at": AT,
            },
            *(
                {
                    "kind": "checkpoint",
                    "step": n,
                    "title": f"checkpoint {n}",
                    "note": "complete",
                    "at": AT,
                }
                for n in range(steps // 10, steps, steps // 10)
            ),
        ],
        "alerts": [
            an_alert(
                "loss-spike",
                "warn",
                SPIKE,
                "loss 9.5 at step 641, 31 deviations above its trend",
                AT,
            ),
            an_alert(
                "slow-steps",
                "warn",
                half + 350,
                "22% slower than its own baseline for 20 minutes",
                None,
            ),
        ],
        "instances": [
            an_instance("tiny-1", "launch", "launched by hand", None, "failed: infra"),
            an_instance(
                "tiny-2", "relaunch", "relaunch after a lost node", ["start: none -> step 2000"], ""
            ),
        ],
        "goodput": a_goodput(
            wall_seconds=sum(wall.values()),
            states={state: wall.get(state, 0.0) for state in WallTimeState},
            productive_fraction={"min": 0.833, "max": 0.844},
            lost_steps=steps // 10,
        ),
        "babysitter": "last heartbeat 12 s ago",
        "record": {"commit": "a36e2dc590dbcb46010e592cf20b7bcb23d55682", "pushed": True},
        "links": [
            a_link("Tracker", "W&B tiny", "https://example.org/lab/tiny"),
            a_link("Issue", "/run/issue.md", ""),
        ],
        "next": "",
        "file": "/run/report.html",
        "notes": ["rows as fetched until 2026-11-21 11:59 UTC"],
    }
    document = {**fields, **changes}
    marks = [{"last": None, **mark} for mark in document["annotations"]]
    return ReportDocument.model_validate({**document, "annotations": marks})


def a_goodput(**changes: Any) -> dict[str, Any]:
    """Of a run without rows and launches, but for the changes."""
    no_range = {"min": None, "max": None}
    fields: dict[str, Any] = {"run": "tiny", "states": {}, "interruptions": {}, "notes": []}
    fields |= dict.fromkeys(("wall_seconds", "max_step", "lost_steps", "unknown_losses"), 0)
    fields |= dict.fromkeys(("instances", "rows"), 0)
    fields |= dict.fromkeys(("since", "until", "mtbf", "accelerator_hours"))
    fields |= dict.fromkeys(("productive_fraction", "total_accelerator_hours", "cost"), no_range)
    return {**fields, "delays": dict.fromkeys(DELAYS, NO_DELAY), **changes}


def an_alert(
    check: str, severity: str, step: int, message: str, resolved_at: str | None
) -> dict[str, Any]:
    fields = {"check": check, "subject": "", "severity": severity, "step": step, "since": AT}
    fields |= {"last_step": step + 9, "noticed_step": step + 40}
    state = {"state": "resolved" if resolved_at else "firing", "acknowledged": False}
    return {**fields, **state, "resolved": resolved_at, "message": message}


def a_link(name: str, text: str, url: str) -> dict[str, str]:
    return {"name": name, "text": text, "url": url}


def an_instance(
    name: str, turn: str, why: str, changes: list[str] | None, end: str
) -> dict[str, Any]:
    fields = {
        "name": name,
        "kind": turn,
        "why": why,
        "job": f"{name}-4711",
        "commit": "a36e2dc590dbcb46010e",
        "command": "sh train.sh /data",
        "log": f"herorun logs tiny --instance {name}",
        "log_place": f"/data/jobs/{name}/log",
        "log_url": "",
    }
    end_fields = {"ended": AT if end else None, "end_state": end, "steps": 2400 if end else None}
    end_fields["diagnosis"] = f"{name} is {end}" if end else ""
    return {**fields, "started": AT, **end_fields, "changes": changes}


LOGBOOK = """\
# tiny

## Run Contract

- DRI: @dri
- Goal: show the whole path

## Launched Instances

### 2026-11-20 12:00 UTC - tiny-1

- Command: `sh train.sh /data`
- Git SHA: `a36e2dc`

## Event Log

### 2026-11-20 18:00 UTC - first checkpoint

- Status: tiny-1 has a complete checkpoint
"""


def a_report(steps: int = 4000, logbook: str = LOGBOOK, **changes: Any) -> RunReport:
    """One difference from the run that was made up, in the words of its document."""
    account = (
        "20h of wall time",
        "effective training time: 83.3% to 84.4%",
        "400 steps lost to restarts",
    )
    charts = changes.pop("drawn", None)
    all_charts = some_charts(steps) if charts is None else charts
    axes = changes.pop("axes", StepAxes())
    return RunReport(a_document(steps, **changes), all_charts, account, logbook, axes=axes)
