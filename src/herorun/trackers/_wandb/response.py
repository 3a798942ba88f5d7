"""Turns the answer of the W&B process into evidence and messages. Pure: JSON in, evidence out."""

import json
from collections.abc import Mapping
from typing import Any

from herorun.core.decode import decode
from herorun.core.durations import format_span
from herorun.core.evidence import TrackerIdentity, TrackerState
from herorun.core.ports import Row, Rows
from herorun.core.redaction.scrub import scrub
from herorun.core.untrusted_json import parse_utc
from herorun.trackers._json_rows import UnusableLine, parse_row

KEPT_PROBLEMS = 20
# an answer's
OTHER_FORM = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
_STATES = {
    "running": TrackerState.RUNNING,
    "preempting": TrackerState.RUNNING,
    "finished": TrackerState.FINISHED,
    "crashed": TrackerState.CRASHED,
    "preempted": TrackerState.CRASHED,
    "failed": TrackerState.FAILED,
    "killed": TrackerState.FAILED,
    "pending": TrackerState.ABSENT,  # created and never started: W&B's client treats it as absent
}
_STATUS = {
    401: "refused the API key (401): renew WANDB_API_KEY, or run `wandb login`",
    403: "forbids this key to read {path} (403): ask for access",
    404: (
        "knows no project {project} that this key may read (404): correct `[tracker]` entity or "
        "project, create the project, or ask for access"
    ),
    429: "was asked too often (429): try again in a minute",
}


def error_of(answer: Mapping[str, Any], path: str, seconds: int) -> str:
    """Why W&B could not be read, and what to do."""
    project = path.rpartition("/")[0]
    if "no_project" in answer:
        return f"W&B {_STATUS[404].format(project=project).replace(' (404)', '')}"
    fault, status = str(answer.get("fault")), answer.get("status")
    if answer.get("kind") == "UsageError" and "key" in fault:
        return "W&B has no API key here: set WANDB_API_KEY, or run `wandb login`"
    if "did not respond in time" in fault:  # the client calls this a failure to authenticate
        return f"W&B gave no answer within {format_span(seconds)}"
    template = next(
        (text for code, text in _STATUS.items() if status == code or f"HTTP {code}" in fault), None
    )
    if template:
        return f"W&B {template.format(path=path, project=project)}"
    return f"W&B could not be read: {scrub(' '.join(fault.split()))[:300]}"


def identity_of(answer: Mapping[str, Any], path: str, seconds: int, forks: bool) -> TrackerIdentity:
    """The run as W&B reports it now; `unreachable` without a clear answer. Raises one of
    `OTHER_FORM` for an unexpected form.
    """
    identity = path.rpartition("/")[2]
    if _is_deleted(answer):
        return TrackerIdentity(state=TrackerState.DELETED, id=identity)
    if "namesakes" not in answer:
        return TrackerIdentity(
            state=TrackerState.UNREACHABLE, why=error_of(answer, path, seconds), id=identity
        )
    run, parent = answer["run"] or {}, answer["parent"] or {}
    state = _state_of_response(run)
    # W&B's times are in UTC, also where they do not say so.
    beat = parse_utc(run.get("heartbeat", ""))
    names = ("last_step", "config", "url", "summary")
    values = {name: run[name] for name in names if name in run}
    why = f"W&B calls its state {run.get('state')!r}" if state is TrackerState.UNREACHABLE else ""
    return decode(
        TrackerIdentity,
        {
            **values,
            "state": state,
            "why": why,
            "id": identity,
            "heartbeat": beat.isoformat() if beat else "",
            "display_name": run.get("name", ""),
            "namesakes": answer["namesakes"],
            "parent": _state_of_response(parent) if forks else None,
            "parent_last_step": parent.get("last_step"),
        },
    )


def _is_deleted(answer: Mapping[str, Any]) -> bool:
    return answer.get("status") == 409 or "previously created and deleted" in str(
        answer.get("fault")
    )


def _state_of_response(run: Mapping[str, Any]) -> TrackerState:
    """A run that was never started counts as absent, as it does for W&B's client."""
    if not run or not run["started"]:
        return TrackerState.ABSENT
    return _STATES.get(run["state"], TrackerState.UNREACHABLE)


def rows_of(answer: Mapping[str, Any], is_restart: bool) -> Rows:
    """The rows of one read; an unusable one is named by its position."""
    rows: list[Row] = []
    problems: list[str] = []
    for number, row_values in enumerate(answer["rows"], 1):
        try:
            row = parse_row(json.dumps(_drop_own_columns(row_values)).encode(), ("_step",))
        except UnusableLine as why:
            problems.append(f"W&B history from step {answer['start']}, row {number}: {why}")
            continue
        if row:
            rows.append(row)
    run = answer["run"]
    cursor = f"1:{answer['next']}:{run['created']}"
    return Rows(
        rows=tuple(rows),
        cursor=cursor,
        changed_at=parse_utc(run["heartbeat"]),
        restarted=is_restart,
        problems=tuple(problems[-KEPT_PROBLEMS:]),
    )


def _drop_own_columns(row_values: Any) -> Any:
    """A row without W&B's own columns (`_runtime`, `_wandb`): the trainer measured none of them."""
    if not isinstance(row_values, Mapping):
        return row_values
    own_columns = ("_step", "_timestamp")
    return {
        name: value
        for name, value in row_values.items()
        if name in own_columns or not name.startswith("_")
    }
