"""Which pods may preempt those of a request: by the cluster's PriorityClasses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.parse import items_of

_SYSTEM = "system-"  # the cluster's own work
PATH = "/apis/scheduling.k8s.io/v1/priorityclasses"


@dataclass(frozen=True)
class PriorityClass:
    name: str
    value: int
    default: bool  # of pods that name none
    preempts: bool  # whether its pods may end others, or only go before them in the queue


def priority_classes(kube: Kubectl) -> list[PriorityClass]:
    return [priority_class(each) for each in items_of(kube.get(PATH))]


def priority_class(document: Mapping[str, Any]) -> PriorityClass:
    try:
        return PriorityClass(
            str(document["metadata"]["name"]),
            int(document["value"]),
            document.get("globalDefault") is True,
            document.get("preemptionPolicy") != "Never",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CouldNotLook(f"A PriorityClass cannot be read: {error!r}.") from None


def preemptors(classes: Sequence[PriorityClass], name: str) -> Iterator[str]:
    """`name` is that of the request's class, empty where it names none."""
    own = next((each for each in classes if (each.name == name if name else each.default)), None)
    if name and own is None:
        yield f"there is no PriorityClass {name}: the pods would be refused"
        return
    value = own.value if own else 0
    above = [each for each in classes if each.value > value and each.preempts]
    for each in sorted(above, key=lambda each: (each.value, each.name)):
        if not each.name.startswith(_SYSTEM):
            whose = f"of the class {own.name}" if own else "because it names no class"
            yield (
                f"pods of the priority class {each.name} ({each.value}) may preempt this job: its "
                f"priority is {value}, {whose}"
            )
