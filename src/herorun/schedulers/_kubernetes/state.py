"""What a Job's conditions and its pods say together about an instance. Pure.

It has ended where the Job says so and no pod lives. Either alone is not the end: a Job is called
failed while its pod still has its grace period, and pods end before their Job is concluded.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from herorun.core.evidence import Job, JobState, Placement
from herorun.schedulers._kubernetes.parse import Condition, JobRecord, PodRecord

# What never gets better by waiting, of a container that waits.
STUCK_REASONS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "CrashLoopBackOff",
    "RunContainerError",
    "StartError",
)
_PREEMPTION_REASONS = (
    "PreemptionByScheduler",
    "PreemptionByKubeScheduler",
    "EvictionByEvictionAPI",
    "TerminationByKubelet",
    "Preempting",
    "Evicted",
    "Preempted",
    "Shutdown",
    "NodeShutdown",
    "Terminated",
)
_NODE = ("DeletionByTaintManager", "DeletionByPodGC", "NodeLost", "NodeFailures")
_NEVER = datetime.max.replace(tzinfo=UTC)
_REPLACEMENT_DELAY = timedelta(seconds=30)  # a Job makes its pods at once


def judge_kubernetes(
    record: JobRecord, pods: Sequence[PodRecord], lost_nodes: Collection[str] = ()
) -> Job:
    """`lost_nodes` are those that do not answer: it is unknown what runs there."""
    live = [pod for pod in pods if pod.live]
    job = Job(
        id=record.uid,
        instance=record.instance or record.name,
        state=JobState.UNKNOWN,
        raw=_raw(record, live),
        submitted=record.created,
        started=min((at for pod in pods if (at := _began(pod))), default=None),
        tasks=record.parallelism,
        other_writers=other_writers(record, pods),
        placement=_placement(pods),
    )
    end_condition = record.conditions.get("Complete") or record.conditions.get("Failed")
    if end_condition and not live:
        return _end(replace(job, ended=_last(end_condition, pods)), record, pods, end_condition)
    if end_condition:
        reason = f"{job.raw}, and pod {live[0].name} is still {live[0].phase}: it may still write"
        return _judge_live(replace(job, reason=reason), live, lost_nodes)
    if not live:
        return _job_without_pods(job, record, pods)
    return _judge_live(job, live, lost_nodes)


def _raw(record: JobRecord, live: Sequence[PodRecord]) -> str:
    parts = [
        f"{name}/{why.reason}" if why.reason else name
        for name, why in sorted(record.conditions.items())
    ]
    parts += ["Suspended"] if record.suspended and "Suspended" not in record.conditions else []
    return ", ".join(parts or sorted({pod.phase for pod in live}))


def _placement(pods: Sequence[PodRecord]) -> Placement | None:
    """The nodes and images of the pods whose main container has an image; some runtimes write it as
    `docker-pullable://x@sha256:...`.
    """
    placed_pods = [pod for pod in pods if pod.node and pod.image_id]
    if not placed_pods:
        return None
    images = {pod.image_id.rpartition("://")[2] for pod in placed_pods}
    return Placement(tuple(sorted({pod.node for pod in placed_pods})), tuple(sorted(images)))


def _began(pod: PodRecord) -> datetime | None:
    return pod.running_since or (pod.ended.started if pod.ended else None)


def _last(end_condition: Condition, pods: Sequence[PodRecord]) -> datetime | None:
    times = [end_condition.at, *(pod.ended.at for pod in pods if pod.ended)]
    return max((at for at in times if at), default=None)


# --- while it lives ------------------------------------------------------------------------------


def _job_without_pods(job: Job, record: JobRecord, pods: Sequence[PodRecord]) -> Job:
    if pods and not record.suspended:
        reason = f"pod {pods[0].name} is {pods[0].phase}, and the Job is not concluded yet"
        return replace(job, reason=reason)
    if record.suspended and record.stopped_by:
        return replace(job, state=JobState.CANCELLED, stopped_by=record.stopped_by)
    reason = "the Job is suspended" if record.suspended else "the Job has no pod yet"
    return replace(job, state=JobState.PENDING, reason=reason, running_tasks=0)


def _judge_live(job: Job, live: Sequence[PodRecord], lost_nodes: Collection[str]) -> Job:
    unreachable = next((pod for pod in live if pod.node and pod.node in lost_nodes), None)
    odd = next((pod for pod in live if pod.phase not in ("Pending", "Running")), None)
    reason = f"pod {odd.name} is {odd.phase or 'of no phase'}" if odd else ""
    if unreachable:
        reason = (
            f"node {unreachable.node} does not answer, and pod {unreachable.name} may run on it"
        )
    if reason:
        return replace(job, reason="; ".join(part for part in (job.reason, reason) if part))
    running = [pod for pod in live if pod.phase == "Running"]
    job = replace(job, running_tasks=min(len(running), job.tasks or len(running)))
    pending_pod = next((pod for pod in live if pod.phase == "Pending"), None)
    reason = "; ".join(
        part for part in (job.reason, _waits(pending_pod) if pending_pod else "") if part
    )
    if running:
        return replace(job, state=JobState.RUNNING, reason=reason)
    state = JobState.BUILDING if pending_pod and _is_starting(pending_pod) else JobState.PENDING
    return replace(job, state=state, reason=reason, started=None)


def _is_starting(pod: PodRecord) -> bool:
    return bool(pod.node) and pod.waiting.reason not in STUCK_REASONS


def _waits(pod: PodRecord) -> str:
    reason = pod.unschedulable or ": ".join(
        part for part in (pod.waiting.reason, pod.waiting.message) if part
    )
    return f"pod {pod.name}: {reason}" if reason else f"pod {pod.name} waits"


def other_writers(record: JobRecord, pods: Sequence[PodRecord]) -> tuple[str, ...]:
    """Surplus pods of an index, and a pod that replaced one whose end was not observed."""
    writers = []
    by_index: dict[str, list[PodRecord]] = {}
    for pod in pods:
        by_index.setdefault(pod.index, []).append(pod)
    for index, group in sorted(by_index.items()):
        places = 1 if index else record.parallelism
        running = sorted((pod for pod in group if pod.phase == "Running"), key=_age)
        writers += [
            f"pod {pod.name} runs together with {running[-1].name}" for pod in running[:-places]
        ]
        ended_pods = [pod for pod in group if not pod.live]
        if not ended_pods and len(running) == len(group) <= places:
            writers += [_replacing(pod) for pod in running if _is_replacement(record, pod)]
    return tuple(writers)


def _age(pod: PodRecord) -> tuple[bool, str, str]:
    """Sort key: pods that are being deleted first, then by age."""
    return (not pod.deleting, pod.created.isoformat() if pod.created else "", pod.name)


def _is_replacement(record: JobRecord, pod: PodRecord) -> bool:
    started_at = record.started
    return bool(started_at and pod.created and pod.created - started_at > _REPLACEMENT_DELAY)


def _replacing(pod: PodRecord) -> str:
    return (
        f"pod {pod.name} has taken the place of one whose end was not seen: on a lost node, or "
        "after a forced deletion, that one may still write"
    )


# --- how it ended --------------------------------------------------------------------------------


def _end(job: Job, record: JobRecord, pods: Sequence[PodRecord], end_condition: Condition) -> Job:
    if "Complete" in record.conditions:
        return replace(job, state=JobState.SUCCEEDED, exit_code=0)
    if end_condition.reason == "DeadlineExceeded":
        state = JobState.CANCELLED if record.stopped_by else JobState.TIMED_OUT
        return replace(
            job, state=state, reason=end_condition.reason, stopped_by=record.stopped_by or None
        )
    failed_pods = [pod for pod in pods if pod.phase == "Failed"]
    if not failed_pods:
        reason = (
            f"{_condition_text(end_condition)}; its pods are gone, and with them how they ended"
        )
        return replace(job, state=JobState.FAILED, reason=reason)
    first = min(failed_pods, key=lambda pod: pod.ended.at if pod.ended and pod.ended.at else _NEVER)
    return _by_pod(job, first, end_condition)


def _by_pod(job: Job, pod: PodRecord, ended_condition: Condition) -> Job:
    state, pod_end = cause_of(pod), pod.ended
    why = pod.disruption or Condition(pod.reason, pod.message)
    reason = (
        _condition_text(why)
        or (_condition_text(Condition(pod_end.reason)) if pod_end else "")
        or _condition_text(ended_condition)
    )
    node = (pod.node,) if state is JobState.NODE_FAILED and pod.node else ()
    return replace(
        job,
        state=state,
        reason=f"pod {pod.name}: {reason}",
        exit_code=pod_end.exit_code if pod_end else None,
        failed_on=node,
    )


def cause_of(pod: PodRecord) -> JobState:
    """Why a pod failed: what its node or its cluster did to it comes before its own exit code."""
    reasons = {pod.reason, pod.disruption.reason if pod.disruption else ""}
    if reasons.intersection(_NODE):
        return JobState.NODE_FAILED
    if reasons.intersection(_PREEMPTION_REASONS):
        return JobState.PREEMPTED
    if "DeadlineExceeded" in reasons:
        return JobState.TIMED_OUT
    if pod.ended and pod.ended.reason == "OOMKilled":
        return JobState.OUT_OF_MEMORY
    return JobState.FAILED


def _condition_text(condition: Condition) -> str:
    return ": ".join(part for part in (condition.reason, condition.message) if part)
