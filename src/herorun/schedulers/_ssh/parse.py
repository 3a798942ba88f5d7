"""Judges a job from the facts that `_ssh.probe` returns. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._instance import (
    InstanceExit,
    InstanceSnapshot,
    StartedProcess,
    StopRequest,
    StuckRecord,
    decode_record,
    judge_instance,
)

T = TypeVar("T")
RESTARTED_MACHINE = "the machine was restarted while it ran, and no exit was recorded"
RESTARTING = "the machine was restarted before it began"


@dataclass(frozen=True)
class StoredRequest:
    """The remote machine's record of the submission."""

    argv: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    cwd: str = ""
    boot: str = ""


def answer_of(document: Any, names: Iterable[str]) -> dict[str, Any]:
    """A remote machine's answer about these jobs, in the expected form; otherwise a TypeError, a
    ValueError or a LookupError.
    """
    jobs = {str(name): _parse_facts(facts) for name, facts in document["jobs"].items()}
    if missing := set(names) - jobs.keys():
        raise LookupError(f"nothing about {', '.join(sorted(missing))}")
    return {
        **document,
        "jobs": jobs,
        "boot": str(document["boot"] or ""),
        "now": float(document["now"]),
    }


def _parse_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    locks = {name: bool(facts[name]) for name in ("submitting", "locked", "there")}
    if not locks["there"]:
        return locks
    records = {str(kind): str(text) for kind, text in facts["records"].items()}
    remaining = [int(pid) for pid in facts.get("rest") or ()]
    return {
        **locks,
        "watched": bool(facts["watched"]),
        "lives": bool(facts["lives"]),
        "records": records,
        "rest": remaining,
    }


def parse_job(name: str, facts: Mapping[str, Any], boot: str, where: str) -> Job | None:
    """The job; None if there is none. A damaged record is a `CouldNotLook`."""
    if not facts["there"]:
        starting = facts["submitting"] or facts["locked"]
        return (
            Job(id=name, instance=name, state=JobState.PENDING, raw="starting")
            if starting
            else None
        )
    snapshot = _snapshot(name, facts, where)
    job = judge_instance(name, snapshot)
    request = stored_request(name, facts, where)
    if (
        snapshot.end
        or snapshot.alive
        or snapshot.stop
        or not (request and request.boot and boot)
        or request.boot == boot
    ):
        return job
    reason = RESTARTED_MACHINE if snapshot.started else RESTARTING
    return replace(job, state=JobState.NODE_FAILED, raw="restarted", reason=reason)


def stored_request(name: str, facts: Mapping[str, Any], where: str) -> StoredRequest | None:
    return _record(name, facts, "request.json", StoredRequest, where)


def _snapshot(name: str, facts: Mapping[str, Any], where: str) -> InstanceSnapshot:
    remaining = facts.get("rest") or ()
    pids = ", ".join(map(str, remaining))
    stuck_record = _record(name, facts, "stuck.json", StuckRecord, where)
    left_over = (
        f"its supervisor and main process are gone, but what they started still runs: {pids}"
        if remaining
        else ""
    )
    return InstanceSnapshot(
        alive=bool(
            facts["locked"]
            or facts["watched"]
            or facts["lives"]
            or facts["submitting"]
            or remaining
        ),
        watched=facts["watched"],
        started=_record(name, facts, "started.json", StartedProcess, where),
        stop=_record(name, facts, "stop.json", StopRequest, where),
        end=_record(name, facts, "exit.json", InstanceExit, where),
        stuck=stuck_record.reason if stuck_record and facts["watched"] else left_over,
    )


def _record(
    name: str, facts: Mapping[str, Any], kind: str, record_type: type[T], where: str
) -> T | None:
    text = facts["records"].get(kind)
    if text is None:
        return None
    try:
        return decode_record(record_type, text)
    except ValueError as error:
        why = str(error).splitlines()[0]
        raise CouldNotLook(
            f"{kind} of {name} on {where} is damaged ({why}), so its state is unknown. "
            "Read its log, then correct the file."
        ) from None
