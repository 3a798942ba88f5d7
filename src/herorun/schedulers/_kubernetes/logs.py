"""Logs of pods, by container. A log that cannot be read is not one that is empty."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import LogPart
from herorun.core.untrusted_json import parse_utc
from herorun.schedulers._kubernetes.client import Kubectl, ObjectNotFound, ReadRefusal
from herorun.schedulers._kubernetes.log_parts import LogMark, mark_of, part_of, stamped_lines
from herorun.schedulers._kubernetes.parse import PodRecord
from herorun.schedulers._kubernetes.request import MAIN
from herorun.system.clock import now

MAX_LOG = 128 << 20  # bytes: nodes rotate a log long before, by default at 10 MiB
TAIL = 20_000  # lines, of a log that is longer
_NONE_YET = (
    "is waiting to start",
    "does not have a host assigned",
    "previous terminated container",
)
# A kubelet whose runtime has removed the container answers 200, with this as the log
# (`GetContainerLogs` in kubernetes' pkg/kubelet/kuberuntime).
_REMOVED_CONTAINER = lazy_regex(rb"unable to retrieve container logs for [\w-]+://[0-9a-f]+")


class LogGone(FileNotFoundError):
    """The pod or its container was removed, and with it the log."""


class PodLogs:
    def __init__(self, kube: Kubectl, container: str = MAIN) -> None:
        self._kube, self._container = kube, container

    def tail(self, pods: Sequence[PodRecord], lines: int) -> str:
        """The log of the pod that failed first, otherwise of the first index; the log of a
        container's earlier attempt comes before that of its restart.
        """
        pod = self._pod(pods)
        if lines <= 0:
            return ""
        text = _text(self._read(pod, tailLines=lines))
        missing = lines - text.count("\n")
        if pod.restarts and missing > 0:
            text = self._earlier(pod, missing) + text
        return text

    def read_on(self, pods: Sequence[PodRecord], offset: int, limit: int, mark: str) -> LogPart:
        """At most `limit` bytes from `offset` on, of the same pod as `tail`; another pod than that
        of the mark is another log.
        """
        pod = self._pod(pods)
        own = LogMark(f"{pod.uid}/{pod.restarts}")
        old_mark = mark_of(mark)
        same = not mark or (old_mark is not None and old_mark.pod == own.pod)
        start = old_mark if old_mark and same else own
        lines = stamped_lines(self._since(pod, start))
        from_start = not start.since and not start.size
        beyond = from_start and offset > sum(len(line) for _, line in lines)
        at = offset if same and not beyond else 0
        part = part_of(lines, start, at, limit, now())
        return replace(part, restarted=beyond or not same)

    def _since(self, pod: PodRecord, mark: LogMark) -> bytes:
        """With the time of each line. From the beginning, a container that was started again has
        its earlier attempt before.
        """
        if mark.since:
            return self._read(pod, sinceTime=mark.since_time, timestamps="true")
        text = self._read(pod, limitBytes=MAX_LOG, timestamps="true")
        if len(text) >= MAX_LOG:
            text = self._read(pod, tailLines=TAIL, timestamps="true")
        if pod.restarts:
            with suppress(FileNotFoundError):
                text = (
                    self._read(pod, previous="true", limitBytes=MAX_LOG, timestamps="true") + text
                )
        return text

    def age(self, pods: Sequence[PodRecord]) -> timedelta:
        """The time since its newest line, which its node dated, by our own clock: a node has no API
        for its clock.
        """
        pod = self._pod(pods)
        line = _text(self._read(pod, tailLines=1, timestamps="true"))
        if not line:
            raise FileNotFoundError(2, "Its log is empty", pod.name)
        line_time = parse_utc(line.partition(" ")[0])
        if line_time is None:
            raise CouldNotLook(f"the newest line of pod {pod.name} has no date")
        return max(timedelta(), now() - line_time)

    def _pod(self, pods: Sequence[PodRecord]) -> PodRecord:
        pod = telling(pods)
        if pod is None:
            raise FileNotFoundError(2, "It has no pod, so there is no log", self._kube.where)
        if not pod.node:  # the server gives an empty log, as if something had begun
            raise FileNotFoundError(
                2, "The pod is not scheduled to a node yet, so there is no log", pod.name
            )
        return pod

    def _read(self, pod: PodRecord, **query: str | int) -> bytes:
        path = self._kube.path("v1", "pods", f"{pod.name}/log", container=self._container, **query)
        try:
            data = self._kube.read(path)
        except ObjectNotFound:
            raise LogGone(2, "The pod was deleted, and its log with it", pod.name) from None
        except ReadRefusal as error:
            if any(phrase in str(error) for phrase in _NONE_YET):
                raise FileNotFoundError(2, "It has no log yet", pod.name) from None
            raise CouldNotLook(str(error)) from None
        if _REMOVED_CONTAINER.fullmatch(data):
            raise LogGone(2, "Its node has removed the container, and its log", pod.name)
        return data

    def _earlier(self, pod: PodRecord, lines: int) -> str:
        try:
            return _text(self._read(pod, tailLines=lines, previous="true"))
        except FileNotFoundError:
            return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def telling(pods: Sequence[PodRecord]) -> PodRecord | None:
    failed_pods = [pod for pod in pods if pod.phase == "Failed" and pod.ended and pod.ended.at]
    if failed_pods:
        return min(failed_pods, key=lambda pod: (str(pod.ended and pod.ended.at), pod.name))
    started_pods = [pod for pod in pods if pod.phase != "Pending"] or list(pods)
    first = min((pod.index for pod in started_pods), default="")
    newest = [pod for pod in started_pods if pod.index == first]
    return max(newest, key=lambda pod: (str(pod.created), pod.name), default=None)
