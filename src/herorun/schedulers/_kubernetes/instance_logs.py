"""The log of an instance: of its pod, and as it was last read once the pod is gone."""

from contextlib import suppress
from pathlib import Path

from herorun.core.errors import HerorunError
from herorun.core.ports import LogPart
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.logs import TAIL, LogGone, PodLogs
from herorun.schedulers._kubernetes.parse import PodRecord, items_of, pod_record
from herorun.schedulers._kubernetes.request import INSTANCE
from herorun.schedulers._kubernetes.saved_log import (
    MANY,
    is_recently_saved,
    keep_log,
    last_lines,
    part_of_kept,
)


class InstanceLogs:
    """A deadline, which a stop sets, deletes the pods and their logs: what was read before is kept
    in the folder.
    """

    def __init__(self, kube: Kubectl, folder: Path) -> None:
        self._kube, self._folder = kube, folder

    def tail(self, instance: str, lines: int) -> str:
        """FileNotFoundError where it has no pod, or none that has begun."""
        pods = self._pods(instance)
        if not pods:
            return last_lines(self._folder, instance, lines)
        try:
            text = PodLogs(self._kube).tail(pods, lines)
        except LogGone:
            return last_lines(self._folder, instance, lines)
        if lines >= MANY:
            keep_log(self._folder, instance, text)
        return text

    def read_log(self, instance: str, offset: int, limit: int, mark: str) -> LogPart:
        pods = self._pods(instance)
        if not pods:
            return part_of_kept(self._folder, instance, offset, limit, mark)
        try:
            part = PodLogs(self._kube).read_on(pods, offset, limit, mark)
        except LogGone:
            return part_of_kept(self._folder, instance, offset, limit, mark)
        if part.data and part.offset >= part.size and not is_recently_saved(self._folder, instance):
            keep_log(self._folder, instance, PodLogs(self._kube).tail(pods, TAIL))
        return part

    def store(self, instance: str) -> None:
        """Before its pods are ended; one that cannot be read does not hold that up."""
        with suppress(HerorunError, OSError):
            self.tail(instance, TAIL)

    def _pods(self, instance: str) -> list[PodRecord]:
        path = self._kube.path("v1", "pods", labelSelector=f"{INSTANCE}={instance}")
        return [pod_record(each) for each in items_of(self._kube.get(path))]
