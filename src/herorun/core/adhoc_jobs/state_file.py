"""The state file of a watch without a contract, in the seed's shape: a projection of the journal,
never its source. Pure.

Its name begins with the time that it was made at. What others wrote into it stays.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.untrusted_json import read_json

NAME = re.compile(r"(\d{8}-\d{4})_monitoring_state(?:-(\d+))?\.json")
FOLDER = "scratch"


def name_of(at: datetime, taken: Iterable[str]) -> str:
    """`20260302-1856_monitoring_state.json`; a taken one gets `-2`, and so on.

    >>> name_of(datetime(2026, 3, 2, 18, 56), ["20260302-1856_monitoring_state.json"])
    '20260302-1856_monitoring_state-2.json'
    """
    known, number = set(taken), 1
    while True:
        tail = f"-{number}" if number > 1 else ""
        name = f"{at:%Y%m%d-%H%M}_monitoring_state{tail}.json"
        if name not in known:
            return name
        number += 1


def newest_first(names: Iterable[str]) -> list[str]:
    """The state files among them, by the time in their names."""
    found = [
        (match[1], int(match[2] or 1), name) for name in names if (match := NAME.fullmatch(name))
    ]
    return [name for _, _, name in sorted(found, reverse=True)]


def projected(
    facts: JobSpec,
    job: str,
    restarts: int,
    at: datetime,
    known: Mapping[str, Any],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The seed's fields, those of ours that a resume needs, and whatever else was there."""
    seed: dict[str, Any] = {
        "ts": round(at.timestamp() * 1000),
        "job_id": job,
        "config": facts.config,
        "cluster": facts.cluster,
        "experiment": facts.experiment,
        "resubmit_command": facts.resubmit,
        "restart_count": restarts,
    }
    own = {
        "scheduler": facts.kind,
        "first_job_id": facts.job,
        "host": facts.host,
        "user": facts.user,
        "log": facts.log,
        "cwd": facts.cwd,
        "notify": facts.notify,
    }
    return {**known, **seed, **own, **more}


def facts_in(data: bytes) -> tuple[JobSpec, dict[str, Any]]:
    """What was being watched, and all that the file holds. A ValueError says what is wrong with it.

    One that the seed's own loop wrote has no `scheduler`: with a config it is Iris', with a cluster
    it is Ray's.
    """
    told = read_json(data)
    if not isinstance(told, dict):
        raise ValueError("it holds no JSON object")
    strange = [name for name in _TEXTS if not isinstance(told.get(name) or "", str)]
    if strange:
        raise ValueError(f"its {strange[0]} is no text")
    text = {name: str(told.get(name) or "") for name in _TEXTS}
    if not text["job_id"]:
        raise ValueError("it names no job_id")
    kind = text["scheduler"] or ("iris" if text["config"] else "ray" if text["cluster"] else "")
    facts = JobSpec(
        job=text["first_job_id"] or text["job_id"],
        kind=kind,
        cluster=text["cluster"],
        config=text["config"],
        experiment=text["experiment"],
        host=text["host"],
        user=text["user"],
        resubmit=text["resubmit_command"],
        log=text["log"],
        cwd=text["cwd"],
        notify=text["notify"],
    )
    return facts, told


_TEXTS = (
    *("job_id", "first_job_id", "scheduler", "config", "cluster", "experiment", "resubmit_command"),
    *("host", "user", "log", "cwd", "notify"),
)
