"""Parses the Jobs and pods that the API server returns. Pure.

What cannot be read is `CouldNotLook`, and never an empty list.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import parse_utc
from herorun.schedulers._kubernetes.request import INSTANCE, MAIN, ROOT, STOPPED_BY

INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True)
class Condition:
    reason: str = ""
    message: str = ""
    at: datetime | None = None  # of its last change


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """A Job, or what is brought to its form; only conditions that are true are kept."""

    name: str
    uid: str
    created: datetime | None
    started: datetime | None  # when its pods were first to run; again after a suspension
    parallelism: int
    suspended: bool
    conditions: Mapping[str, Condition]
    instance: str = ""
    root: str = ""
    stopped_by: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0
    kind: str = "job"  # the name of its `ObjectKind`


@dataclass(frozen=True)
class ContainerEnd:
    """How a container ended."""

    exit_code: int | None
    reason: str
    message: str
    started: datetime | None
    at: datetime | None
    signal: int | None = None


@dataclass(frozen=True, kw_only=True)
class PodRecord:
    name: str
    uid: str
    instance: str
    owner: str  # uid of its Job
    phase: str
    deleting: bool
    created: datetime | None
    node: str
    index: str
    ready: bool | None  # None: not document
    unschedulable: str  # why no node takes it
    waiting: Condition  # of its main container
    running_since: datetime | None
    ended: ContainerEnd | None
    disruption: Condition | None  # `DisruptionTarget`
    reason: str
    message: str
    image_id: str
    restarts: int

    @property
    def live(self) -> bool:
        """Whether it may run: each phase that does not say that it has ended."""
        return self.phase not in ("Succeeded", "Failed")


def items_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = document.get("items")
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise CouldNotLook("Kubernetes returned something other than a list of objects.")
    return items


def job_record(document: Mapping[str, Any]) -> JobRecord:
    try:
        meta, spec, status = document["metadata"], document["spec"], document.get("status") or {}
        labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
        return JobRecord(
            name=str(meta["name"]),
            uid=str(meta["uid"]),
            created=_time(meta.get("creationTimestamp")),
            started=_time(status.get("startTime")),
            parallelism=int(1 if spec.get("parallelism") is None else spec["parallelism"]),
            suspended=spec.get("suspend") is True,
            conditions=dict(_conditions(status)),
            instance=str(labels.get(INSTANCE, "")),
            root=str(labels.get(ROOT, "")),
            stopped_by=str(notes.get(STOPPED_BY, "")),
            annotations={str(name): str(value) for name, value in notes.items()},
            failed=int(status.get("failed") or 0),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CouldNotLook(f"Kubernetes returned a Job that cannot be read: {error!r}.") from None


def pod_record(document: Mapping[str, Any]) -> PodRecord:
    try:
        return _pod_record(
            document["metadata"], document.get("spec") or {}, document.get("status") or {}
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CouldNotLook(f"Kubernetes returned a pod that cannot be read: {error!r}.") from None


def _pod_record(
    meta: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]
) -> PodRecord:
    main = _main(status)
    state = main.get("state") or {}
    owners = [each for each in meta.get("ownerReferences") or () if each.get("controller")]
    by_type = {str(each.get("type")): each for each in status.get("conditions") or ()}
    pod_scheduled, ready = by_type.get("PodScheduled", {}), by_type.get("Ready", {})
    by_name = dict(_conditions(status))
    return PodRecord(
        name=str(meta["name"]),
        uid=str(meta["uid"]),
        instance=str((meta.get("labels") or {}).get(INSTANCE, "")),
        owner=str(owners[0]["uid"]) if owners else "",
        phase=str(status.get("phase", "")),
        deleting=bool(meta.get("deletionTimestamp")),
        created=_time(meta.get("creationTimestamp")),
        node=str(spec.get("nodeName") or ""),
        index=str((meta.get("annotations") or {}).get(INDEX, "")),
        ready={"True": True, "False": False}.get(str(ready.get("status"))),
        unschedulable=_reason_and_message(pod_scheduled)
        if pod_scheduled.get("status") == "False"
        else "",
        waiting=_condition(_initial(status) or state.get("waiting") or {}),
        running_since=_time((state.get("running") or {}).get("startedAt")),
        ended=_parse_end(state.get("terminated")) or _initial_failure(status),
        disruption=by_name.get("DisruptionTarget"),
        reason=str(status.get("reason") or ""),
        message=str(status.get("message") or ""),
        image_id=str(main.get("imageID") or ""),
        restarts=int(main.get("restartCount") or 0),
    )


def _main(status: Mapping[str, Any]) -> Mapping[str, Any]:
    statuses = status.get("containerStatuses") or [{}]
    return next((each for each in statuses if each.get("name") == MAIN), statuses[0])


def _initial(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an init container waits for: the main one, and those after it, then wait for it
    (`PodInitializing`).
    """
    states = [each.get("state") or {} for each in status.get("initContainerStatuses") or ()]
    waits = [state["waiting"] for state in states if state.get("waiting")]
    return next((each for each in waits if each.get("reason") != "PodInitializing"), {})


def _initial_failure(status: Mapping[str, Any]) -> ContainerEnd | None:
    """The failure of an init container, after which the main one never starts."""
    for each in status.get("initContainerStatuses") or ():
        end = _parse_end((each.get("state") or {}).get("terminated"))
        if end and end.exit_code:
            why = ": ".join(part for part in (end.reason, end.message.strip()) if part)
            return replace(end, reason=f"init container {each.get('name')}: {why}")
    return None


def _parse_end(document: Any) -> ContainerEnd | None:
    if not document:
        return None
    code, number = document.get("exitCode"), document.get("signal")
    return ContainerEnd(
        exit_code=None if code is None else int(code),
        reason=str(document.get("reason") or ""),
        message=str(document.get("message") or ""),
        started=_time(document.get("startedAt")),
        at=_time(document.get("finishedAt")),
        signal=int(number) if number else None,
    )


def _conditions(status: Mapping[str, Any]) -> Iterator[tuple[str, Condition]]:
    for each in status.get("conditions") or ():
        if each.get("status") == "True":
            yield str(each.get("type")), _condition(each)


def all_conditions(
    status: Mapping[str, Any],
) -> tuple[dict[str, Condition], dict[str, Condition]]:
    """Those that are true and those that are false; an unknown one is in neither."""
    true: dict[str, Condition] = {}
    false: dict[str, Condition] = {}
    sides = {"True": true, "False": false}
    for each in status.get("conditions") or ():
        sides.get(str(each.get("status")), {})[str(each.get("type"))] = _condition(each)
    return true, false


def _condition(document: Mapping[str, Any]) -> Condition:
    return Condition(
        str(document.get("reason") or ""),
        str(document.get("message") or ""),
        _time(document.get("lastTransitionTime")),
    )


def _reason_and_message(document: Mapping[str, Any]) -> str:
    parts = (str(document.get("reason") or ""), str(document.get("message") or ""))
    return ": ".join(part for part in parts if part)


def _time(value: Any) -> datetime | None:
    return parse_utc(str(value)) if value else None
