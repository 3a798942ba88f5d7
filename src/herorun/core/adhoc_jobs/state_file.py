"""The state file of a job without a contract: written from the journal, never its source. Pure.

Its name begins with the time that it was made at. What others wrote into it stays.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.canonical_json import plain
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub, scrub_tree
from herorun.core.untrusted_json import read_json

NAME = lazy_regex(r"(\d{8}-\d{4})_monitoring_state(?:-(\d+))?\.json")
FOLDER = "scratch"


def name_of(at: datetime, existing: Iterable[str]) -> str:
    """`20260302-1856_monitoring_state.json`; a taken one gets `-2`, and so on.

    >>> name_of(datetime(2026, 3, 2, 18, 56), ["20260302-1856_monitoring_state.json"])
    '20260302-1856_monitoring_state-2.json'
    """
    used_names, number = set(existing), 1
    while True:
        tail = f"-{number}" if number > 1 else ""
        name = f"{at:%Y%m%d-%H%M}_monitoring_state{tail}.json"
        if name not in used_names:
            return name
        number += 1


def newest_first(names: Iterable[str]) -> list[str]:
    """The state files among them, by the time in their names."""
    matches = [
        (match[1], int(match[2] or 1), name) for name in names if (match := NAME.fullmatch(name))
    ]
    return [name for _, _, name in sorted(matches, reverse=True)]


def project_state(
    facts: JobSpec,
    job: str,
    restarts: int,
    at: datetime,
    previous: Mapping[str, Any],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The seed's fields, those of ours that a resume needs, and whatever else was there.

    What a takeover runs or looks at stands there as it is. It holds no secret by construction: a
    resubmit command has names in their place. Everything else is scrubbed.
    """
    seed: dict[str, Any] = {
        "ts": round(at.timestamp() * 1000),
        "job_id": job,
        "config": facts.config,
        "cluster": scrub(facts.cluster),  # an address may hold a password
        "experiment": facts.experiment,
        "resubmit_command": facts.resubmit,
        "restart_count": restarts,
    }
    own = {
        "scheduler": facts.kind,
        "first_job_id": facts.first_job or facts.job,
        "host": facts.host,
        "user": facts.user,
        "log": facts.log,
        "cwd": facts.cwd,
        "notify": facts.notify,
        "bad_node_zone": facts.bad_node_zone,
        "resubmit_secrets": list(facts.secrets),
    }
    signal = {"last_signal": facts.last_signal} if facts.last_signal else {}
    return {**scrub_tree(plain({**previous, **signal, **more})), **seed, **own}


def facts_in(data: bytes) -> tuple[JobSpec, dict[str, Any]]:
    """What is being watched now, and all that the file holds. A ValueError says what is wrong with
    it.

    One that the seed's own loop wrote has no `scheduler`: see `JobKind.wrote`. A secret in its
    command is named, as in one that was typed.
    """
    document = read_json(data)
    if not isinstance(document, dict):
        raise ValueError("it holds no JSON object")
    strange = [name for name in _TEXTS if not isinstance(document.get(name) or "", str)]
    if strange:
        raise ValueError(f"its {strange[0]} is no text")
    text = {name: str(document.get(name) or "") for name in _TEXTS}
    if not text["job_id"]:
        raise ValueError("it names no job_id")
    facts = JobSpec(
        job=text["job_id"],
        kind=text["scheduler"],
        cluster=text["cluster"],
        config=text["config"],
        experiment=text["experiment"],
        host=text["host"],
        user=text["user"],
        resubmit=text["resubmit_command"],
        log=text["log"],
        cwd=text["cwd"],
        notify=text["notify"],
        bad_node_zone=text["bad_node_zone"],
        first_job=text["first_job_id"],
        names_no_command="resubmit_command" not in document,
        restarts=_whole_number(document.get("restart_count")),
        last_signal=text["last_signal"],
        last_failure=_last_failure(document.get("last_failure")),
        secrets=_variable_names(document.get("resubmit_secrets")),
    )
    return facts, document


def _whole_number(value: Any) -> int:
    """Anything but a count is none: the file may be another program's."""
    is_count = isinstance(value, int | str) and not isinstance(value, bool)
    return int(value) if is_count and re.fullmatch(r"\d{1,6}", str(value)) else 0


def _last_failure(value: Any) -> tuple[str, int]:
    """How the job before this one ended, and at which step: the same once more is not tried."""
    pair = value if isinstance(value, dict) else {}
    fingerprint, step = pair.get("fingerprint"), pair.get("step")
    return (fingerprint, _whole_number(step)) if isinstance(fingerprint, str) else ("", 0)


def _variable_names(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else []
    return tuple(name for name in names if isinstance(name, str) and re.fullmatch(r"\w+", name))


_TEXTS = (
    *("job_id", "first_job_id", "scheduler", "config", "cluster", "experiment", "resubmit_command"),
    *("host", "user", "log", "cwd", "notify", "last_signal", "bad_node_zone"),
)
