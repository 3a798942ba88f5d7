"""What a cluster has warned of: its Events, which it forgets after an hour."""

import re
from collections.abc import Mapping
from typing import Any

from herorun.core.canonical_json import timestamp
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import parse_utc
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.parse import items_of
from herorun.schedulers._kubernetes.request import MAIN

MAX_WARNINGS = 1000  # of a namespace; what is beyond them is reported as unread
MAX_EVENTS = 50  # the newest, of one job
_MAX_MESSAGE_LENGTH = 400  # characters of one message


def own_names(job: str, is_indexed: bool) -> re.Pattern[str]:
    """The names of a Job and of its pods, which end in five random characters."""
    index = "(?:-[0-9]+)?" if is_indexed else ""
    return re.compile(rf"{re.escape(job)}(?:{index}-[a-z0-9]{{5}})?")


def names_in_set(name: str) -> re.Pattern[str]:
    """The names of a JobSet, of its one Job, and of that Job's pods."""
    return re.compile(rf"{re.escape(name)}(?:-{MAIN}-0(?:-[0-9]+-[a-z0-9]{{5}})?)?")


@dataclass(frozen=True)
class WarningEvents:
    """The warnings of a namespace, about any object."""

    events: tuple[Mapping[str, Any], ...]
    more: bool  # whether there are others, which were not read


def read_warnings(kube: Kubectl) -> WarningEvents:
    answer = kube.get(kube.path("v1", "events", fieldSelector="type=Warning", limit=MAX_WARNINGS))
    more = bool(dict(answer.get("metadata") or {}).get("continue"))
    return WarningEvents(tuple(items_of(answer)), more)


def warning_lines(warnings: WarningEvents, names: re.Pattern[str]) -> tuple[str, ...]:
    """The newest last: `2026-03-02T12:00:00Z pod tiny-1-x: FailedScheduling: why (5 times)`."""
    own = [each for each in warnings.events if names.fullmatch(_about(each)[1])]
    lines = sorted(map(warning_line, own))[-MAX_EVENTS:]
    if warnings.more:
        lines.append(
            f"the namespace has more than {MAX_WARNINGS} warnings: the others were not read"
        )
    return tuple(lines)


def warning_line(event: Mapping[str, Any]) -> str:
    kind, name = _about(event)
    series = event.get("series")
    series = series if isinstance(series, Mapping) else {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    at = next((moment for time in times if time and (moment := parse_utc(str(time)))), None)
    number = series.get("count") or event.get("count")
    text = ": ".join(str(event[part]) for part in ("reason", "message") if event.get(part))
    often = f" ({count(number, 'time')})" if isinstance(number, int) and number != 1 else ""
    when = timestamp(at) if at else "undated"
    return f"{when} {kind.lower()} {name}: {' '.join(text.split())[:_MAX_MESSAGE_LENGTH]}{often}"


def _about(event: Mapping[str, Any]) -> tuple[str, str]:
    about = event.get("involvedObject")
    about = about if isinstance(about, Mapping) else {}
    return str(about.get("kind") or "object"), str(about.get("name") or "")
