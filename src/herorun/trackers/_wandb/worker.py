"""Queries W&B through its own client, in a separate process: `python -m
herorun.trackers._wandb.worker`.

The client starts a service, changes the environment, may prompt and retries on its own terms. None
of that may affect herorun or its jobs: here it all ends with the process. A request comes as JSON
on standard input, and one JSON answer goes to standard output; the client's own output is
discarded.
"""

import contextlib
import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from math import isfinite
from threading import Thread
from time import monotonic
from typing import Any

NAMESAKES = 20  # runs that are queried, at most
PATIENCE = 1.0  # seconds for the service to end
PAGE = 1000  # steps asked for at once, at most
FIRST_PAGE = 50  # and first
MAX_MEMORY = 4 << 30  # bytes of this process: the largest page takes a tenth
KEY_NUMBERS = 50  # of a summary


class WandbRefused(Exception):
    """W&B answered without a run: the kind of the refusal, and its message."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def main() -> None:
    """Answer one request, and end the process without waiting for the client's threads.

    So nothing that the client would remove at its end is removed: the process that starts this
    gives it a TMPDIR of its own.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as reply:
        _limit_memory()
        null_output = os.open(os.devnull, os.O_RDWR)
        question = json.loads(sys.stdin.read())
        for stream in (0, 1, 2):  # the service inherits these
            os.dup2(null_output, stream)
        quieten(os.environ, tempfile.gettempdir())
        answer = answer_question(question)
        _end_service()
        reply.write(json.dumps(answer))
    os._exit(0)


def _limit_memory() -> None:
    """Limit the memory: unexpectedly wide rows must end this process, not the machine."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, hard))


def quieten(environ: Any, scratch: str) -> None:
    """No output, no telemetry, no permanent files, and few retries: herorun has its own
    deadline.
    """
    environ |= {
        "WANDB_SILENT": "true",
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_X_GRAPHQL_RETRY_MAX": "1",
        "WANDB_X_GRAPHQL_RETRY_WAIT_MIN_SECONDS": "0.2",
        "WANDB_X_GRAPHQL_RETRY_WAIT_MAX_SECONDS": "1",
        "WANDB_DIR": scratch,
        "WANDB_CACHE_DIR": scratch,
        "WANDB_DATA_DIR": scratch,
    }


def answer_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """W&B's answer, or a `fault`. Never raises: every error of the client becomes a fault."""
    answer: Callable[[Any, Mapping[str, Any]], dict[str, Any]] = (
        _fetch_rows if "start" in question else _answer_identity
    )
    try:
        return answer(_api(question), question)
    except WandbRefused as no:
        return {no.kind: str(no)}
    except Exception as error:
        return _fault(error)


def _end_service() -> None:
    """It ends by itself soon after us; asked like this it is mostly gone before, unless a request
    still hangs in it.
    """
    wandb = sys.modules.get("wandb")
    if wandb is not None:
        ending = Thread(target=wandb.teardown, daemon=True)
        ending.start()
        ending.join(PATIENCE)


def _api(question: Mapping[str, Any]) -> Any:
    gc.disable()  # a tenth of the import looks for garbage among what it defines
    from wandb import Api

    gc.freeze()
    gc.enable()
    overrides = {
        name: question[name] for name in ("base_url", "entity", "project") if question[name]
    }
    return Api(overrides=overrides, timeout=question["timeout"])


def _fetch_run(api: Any, question: Mapping[str, Any], name: str) -> Any:
    """The run with an id, newly read; None if W&B has none that this key may read."""
    try:
        return api.run(f"{question['entity']}/{question['project']}/{name}")
    except Exception as error:
        if "could not find run" in str(error).lower():
            return None
        raise


def _answer_identity(api: Any, question: Mapping[str, Any]) -> dict[str, Any]:
    """The run, its namesakes and the run that it is forked from. Listing the project proves that it
    may be read.
    """
    run = _fetch_run(api, question, question["id"])
    namesakes = _namesakes(api, question)
    parent = _fetch_run(api, question, question["parent"]) if question["parent"] else None
    return {"run": _run_facts(run), "parent": _run_facts(parent), "namesakes": namesakes}


def _namesakes(api: Any, question: Mapping[str, Any]) -> list[str]:
    path, name = f"{question['entity']}/{question['project']}", question["name"]
    runs = api.runs(path, filters={"display_name": name}, per_page=NAMESAKES)
    try:
        some = [run for _, run in zip(range(NAMESAKES), runs, strict=False)]
    except ValueError as error:
        raise WandbRefused("no_project", str(error)) from None
    return sorted(run.id for run in some if run.name == name and run.id != question["id"])


def _run_facts(run: Any) -> dict[str, Any] | None:
    if run is None:
        return None
    last = run.lastHistoryStep
    internal = run.rawconfig.get("_wandb")
    return {
        "id": run.id,
        "name": run.name or "",
        "state": run.state,
        "started": last >= 0 or (isinstance(internal, Mapping) and "t" in internal),
        "last_step": last if last >= 0 else None,
        "heartbeat": run.heartbeatAt or "",
        "created": run.createdAt or "",
        "config": dict(run.config),
        "url": run.url,
        "summary": _key_numbers(run.summary_metrics),
    }


def _key_numbers(summary: Mapping[str, Any]) -> dict[str, float]:
    """The step, the time and the losses of a run's summary, of those that are plain numbers."""
    keys = [
        key for key in sorted(summary) if key in ("_step", "_timestamp") or "loss" in key.lower()
    ]
    numbers = {key: summary[key] for key in keys[:KEY_NUMBERS]}
    return {
        key: float(value)
        for key, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    }


def _fetch_rows(api: Any, question: Mapping[str, Any]) -> dict[str, Any]:
    """Complete rows from the step `start`: all, never a sample, until there are `most` or time is
    short.
    """
    run = _fetch_run(api, question, question["id"])
    if run is None:
        _namesakes(api, question)
        return {"run": None}
    facts = _run_facts(run) or {}
    last = facts["last_step"]
    start = question["start"] if _is_same_run(facts, question) else 0
    rows: list[Any] = []
    first = max(1, min(FIRST_PAGE, question["most_values"] // max(1, len(run.summary_metrics))))
    step, values, until = start, 0, monotonic() + question["timeout"]
    while last is not None and step <= last:
        full = len(rows) >= question["most"] or values >= question["most_values"]
        if rows and (full or monotonic() > until):
            break
        wide = _steps_at_once(step - start, values, question["most_values"])
        stop = min(step + (wide or first), last + 1)
        page = list(run.scan_history(page_size=PAGE, min_step=step, max_step=stop, use_cache=False))
        rows += page
        values, step = values + sum(map(len, page)), stop
    return {"run": facts, "rows": rows, "next": _next_step(rows, start, step, last), "start": start}


def _next_step(rows: list[Any], start: int, step: int, last: int | None) -> int:
    """Where the next read begins: behind the newest row. The server counts a row, whose step is
    `last`, some time before it serves it. Rows that came are never read again, whatever form their
    steps have.
    """
    if last is None or step <= last:
        return step
    if not rows:
        return start
    steps = (row.get("_step") for row in rows if isinstance(row, dict))
    numbers = (each for each in steps if isinstance(each, int | float) and isfinite(each))
    return max((int(each) + 1 for each in numbers), default=step)


def _steps_at_once(steps: int, values: int, most: int) -> int:
    """How many steps to ask for next, after so many steps of so many values; 0 for the first page,
    which the run's summary makes small where rows are wide.
    """
    return max(1, min(PAGE, most * steps // max(values, 1))) if steps else 0


def _is_same_run(facts: Mapping[str, Any], question: Mapping[str, Any]) -> bool:
    """Whether it is the cursor's run, and no row that was read has been removed since."""
    last_step = -1 if facts["last_step"] is None else facts["last_step"]
    return bool(facts["created"] == question["created"] and question["start"] <= last_step + 1)


def _fault(error: Exception) -> dict[str, Any]:
    """Why it could not be read, in the client's words; the innermost failure explains most."""
    chain: list[BaseException] = [error]
    while following := (chain[-1].__cause__ or getattr(chain[-1], "exc", None)):
        if not isinstance(following, BaseException) or following in chain:
            break
        chain.append(following)
    status = next(
        (r.http_status for e in chain if (r := getattr(e, "response", None)) is not None), None
    )
    return {"fault": str(error) or repr(error), "kind": type(error).__name__, "status": status}


if __name__ == "__main__":
    main()
