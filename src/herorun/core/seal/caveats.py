"""The caveats of a seal: what was noted, waived, never seen, never verified, or known by size
alone. Pure.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from herorun.core.babysit.alert import Alert
from herorun.core.babysit.ended_alerts import as_ended
from herorun.core.durations import format_span
from herorun.core.event import Decided, Event
from herorun.core.evidence import HealthAssessment
from herorun.core.finding import Waiver, count
from herorun.core.journal import Memory
from herorun.core.seal.manifest import Manifest

CADENCES = 3  # as the alert clock: a longer time without a look is a gap


def caveats(
    memory: Memory,
    events: Iterable[Event],
    assessment: HealthAssessment,
    *,
    waivers: Sequence[Waiver],
    manifest: Manifest | None,
    verified_names: frozenset[str],
    cadence: timedelta,
    at: datetime,
) -> list[str]:
    """Each once, in this order. `verified_names` are the instances of which a receipt was seen."""
    lines = [
        *memory.caveats,
        *_alerts(memory, assessment),
        *(
            f"{each.name} never checked in: it is unknown whether it ran what was admitted"
            for each in memory.instances
            if each.name not in verified_names
        ),
        *_gaps(memory, events, CADENCES * cadence, at),
        *(_describe_waiver(waiver) for waiver in waivers),
        *_list_overlooked_findings(memory),
        *_sizes(manifest),
    ]
    return list(dict.fromkeys(lines))


def _alerts(memory: Memory, assessment: HealthAssessment) -> list[str]:
    alert_lines = [_describe_ended_alert(alert, memory) for alert in memory.ended.values()]
    ended_keys = memory.ended.keys()
    still = [
        f"open alert {which}: {message}"
        for which, message in assessment.alerts
        if which not in ended_keys
    ]
    gaps = [f"{which} could not be checked: {message}" for which, message in assessment.unseen]
    return [*alert_lines, *still, *gaps]


def _describe_ended_alert(alert: Alert, memory: Memory) -> str:
    name = f"{alert.check} [{alert.subject}]" if alert.subject else alert.check
    order = memory.acked.get(alert.key)
    reason = f": {order.reason}" if order and order.reason else ""
    by = f"; acknowledged by {order.by}{reason}" if order else "; not acknowledged"
    return f"alert {name} ended unresolved: {as_ended(alert).message}{by}"


def _gaps(memory: Memory, events: Iterable[Event], most: timedelta, at: datetime) -> list[str]:
    """When an instance ran without a tick, or with one that could not read it."""
    tick_times = [event.at for event in events if isinstance(event, Decided) and event.saw_run]
    starts = [each.started for each in memory.instances]
    gaps = []
    for instance, following in zip(memory.instances, [*starts[1:], at], strict=True):
        end = memory.ends.get(instance.name)
        end_at = min(following, (end.ended or end.at) if end else following)
        within = [tick_time for tick_time in tick_times if instance.started < tick_time < end_at]
        gaps += [
            _gap(instance.name, since, until)
            for since, until in pairwise([instance.started, *within, end_at])
            if until - since > most
        ]
    return gaps


def _gap(instance: str, since: datetime, until: datetime) -> str:
    length = format_span(until - since)
    return (
        f"gap in monitoring: no tick covered {instance} from {since:%Y-%m-%d %H:%M} to "
        f"{until:%Y-%m-%d %H:%M} UTC ({length})"
    )


def _describe_waiver(waiver: Waiver) -> str:
    subject = f" [{waiver.subject}]" if waiver.subject else ""
    return f"waived: {waiver.check}{subject}, by {waiver.approved_by}: {waiver.reason}"


def _list_overlooked_findings(memory: Memory) -> list[str]:
    """What was open at a launch, and did not stop it under a lenient `[policy] mode`."""
    return [
        f"{launching.instance} was launched with an open finding: {message}"
        for launching in memory.launchings.values()
        for message in launching.overlooked
    ]


def _sizes(manifest: Manifest | None) -> list[str]:
    if manifest is None or not (bare := manifest.by_size_alone):
        return []
    return [
        (
            f"checked by size only, content not verified: {len(bare)} of "
            f"{count(len(manifest.files), 'file')} of {manifest.path}"
        )
    ]
