"""What a week is measured by: what was missed, said twice or said in vain, and how late what was
right came.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chaos.faults import Fault
from chaos.job_faults import BLIND, TOLD_BY
from chaos.judging import TimedEvents, journal, of_all_runs, questions, time_events
from chaos.world import World

LATE = 4  # ticks until most of what is wrong is told
# after its end a fault still explains what is seen: for so many seconds, and so many ticks of a
# machine that does much else
AFTER, TICKS = 40.0, 15
LATE_TICK = 100.0  # seconds between two ticks; the check tells of two minutes
# What a fault must be told by, and what it may be: names of checks.
MUST = {
    "cut_rows": "lost-rows",
    "rotate_rows": "lost-rows",
    "lose_checkpoint": "unkept-checkpoint",
    **{name: must for name, (must, _) in TOLD_BY.items() if must},
}
DOWN = "crashed|late-checkpoints|nothing-saved|error-in-log|failing-log"
DISK = "(full|filling)-disk|late-tick|late-checkpoints|lost-rows|unkept-checkpoint|incomplete-checkpoint|undelivered-escalation"  # noqa: E501  # one pattern
# rows are dated by the clock that is set, and the log and a launch by others
CLOCK = "clock-skew|late-tick|stale-monitor|late-checkpoints|stalled-.*|buffered-output|unreported-steps"  # noqa: E501  # one pattern
# an ended job mutes what is said of its checkpoints, and its next row shows which are lost
OF_A_LIVE_JOB = ("lose_checkpoint", "cut_rows", "rotate_rows")
PATIENT = ("hang", "slow_down")  # told after a time that the contract or the check states
MAY = {
    "kill_babysitter": "late-tick|stale-monitor",
    "cut_rows": "lost-rows|duplicate-rows|interleaved-writers",
    "rotate_rows": "lost-rows",
    "lose_checkpoint": "unkept-checkpoint|shrinking-rollback",
    "full_state": f"{DISK}|{DOWN}",
    "full_root": f"{DISK}|{DOWN}",
    "clock_forward": CLOCK,
    "clock_back": CLOCK,
    "github_limits": f"undelivered-escalation|{DOWN}",
    "github_fails": f"undelivered-escalation|{DOWN}",
    "github_loses_answers": f"undelivered-escalation|{DOWN}",
    **{name: may for name, (_, may) in TOLD_BY.items()},
}


class Fired(NamedTuple):
    """An alert: when it first fired, and when it was first seen, for it may be held as pending."""

    at: float
    check: str
    subject: str
    seen_at: float


@dataclass
class Figures:
    """Of all runs of one week."""

    ticks: int = 0
    expected_count: int = 0
    missed_faults: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    latency: list[tuple[int, str]] = field(default_factory=list)  # ticks, and the fault

    @property
    def false_per_thousand(self) -> float:
        return 1000 * len(self.false) / max(1, self.ticks)

    @property
    def late(self) -> int:
        """The ninth decile, in ticks."""
        return sorted(self.latency)[int(len(self.latency) * 0.9)][0] if self.latency else 0

    @property
    def good(self) -> bool:
        return (
            not (self.missed_faults or self.repeats)
            and self.false_per_thousand <= 0.2
            and self.late <= LATE
        )

    def __str__(self) -> str:
        lines = [f"  missed: {each}" for each in self.missed_faults] + [
            f"  repeat: {each}" for each in self.repeats
        ]
        lines += [f"  false: {each}" for each in self.false]
        slow = [each for each in sorted(self.latency, reverse=True) if each[0] > LATE]
        lines += [f"  late: {name}, told after {count} ticks" for count, name in slow]
        head = (
            f"{self.ticks} run-ticks; {self.expected_count} to be told, "
            f"{len(self.missed_faults)} missed; "
            f"{len(self.repeats)} repeats; "
            f"{len(self.false)} false ({self.false_per_thousand:.2f} in 1,000 run-ticks); latency "
            f"p90 {self.late} ticks"
        )
        return "\n".join([head, *lines])


def figures(world: World, faults: list[Fault]) -> Figures:
    totals = Figures()
    for slug in world.slugs:
        mine = [*(f for f in faults if f.slug == slug), *of_all_runs(faults)]
        _of_run(totals, slug, mine, time_events(journal(world, slug), faults))
    return totals


def _of_run(
    totals: Figures, slug: str, faults: list[Fault], events: list[tuple[float, str, dict[str, Any]]]
) -> None:
    ticks = [at for at, kind, _ in events if kind == "Observed"]
    totals.ticks += len(ticks)
    firing, live = list(_firing(events)), list(_live(events))
    for fault in faults:
        needs_job = fault.name in OF_A_LIVE_JOB
        noticeable = live if needs_job else ticks
        is_overdue = needs_job and sum(at > fault.ended_at for at in live) <= LATE
        if is_overdue or not _due(fault, slug):
            continue
        totals.expected_count += 1
        hits = _hits(fault, faults, events, firing, ticks)
        if not hits or hits[0][1] > _until(fault, noticeable):
            totals.missed_faults.append(f"{slug}: {fault}")
        elif fault.name not in PATIENT:
            began = max(fault.began, fault.struck_at)
            between = [at for at in noticeable if began < at <= hits[0][0]]
            count = sum(not _without_room(faults, at) for at in between)
            totals.latency.append((count, f"{slug}: {fault.name}"))
    _check_alerts(totals, slug, faults, firing, ticks)


def _live(events: TimedEvents) -> Iterator[float]:
    """The ticks of a run that was not down, as the newest decision has it."""
    run = ""
    for at, kind, event in events:
        run = event["run"] if kind == "Decided" else run
        if kind == "Observed" and run != "down":
            yield at


def _until(fault: Fault, ticks: list[float]) -> float:
    later = [at for at in ticks if at > fault.ended_at][:TICKS]
    return max([fault.ended_at + AFTER, *later])


def _without_room(faults: list[Fault], at: float) -> bool:
    """Whether the output root was full then: nothing can be started there."""
    return any(each.name == "full_root" and each.began <= at <= each.ended_at for each in faults)


def _hits(
    fault: Fault, faults: list[Fault], events: TimedEvents, firing: list[Fired], ticks: list[float]
) -> list[tuple[float, float]]:
    """When the week answered the fault, as it must, and when it first saw it. A tick is dated by
    its beginning: one that was under way may have seen it.
    """
    if fault.killed_job:
        launched_events = [
            at
            for at, kind, e in events
            if kind == "Launched" and e["relaunch_of"] == fault.killed_job
        ]
        return sorted((at, at) for at in (*launched_events, *questions(fault, faults, events)))
    must = MUST[fault.name]
    began = max((at for at in ticks if at <= fault.began), default=fault.began)
    hits = [
        (each.at, each.seen_at)
        for each in firing
        if re.fullmatch(must, each.check) and each.at >= began
    ]
    if must == BLIND:
        hits += [
            (at, at)
            for at, kind, e in events
            if kind == "Decided" and e["monitor"] != "fresh" and at >= began
        ]
    return sorted(hits)


def _due(fault: Fault, slug: str) -> bool:
    mine = slug in (fault.slug, fault.facts.get("slug"))
    return mine and bool(fault.killed_job or fault.name in MUST)


def _firing(events: TimedEvents) -> Iterator[Fired]:
    known_keys, first_seen = set(), dict[tuple[str, str, str], float]()
    for at, kind, event in events:
        for alert in event["alerts"] if kind == "Decided" else ():
            key = (alert["check"], alert["subject"], alert["since"])
            first_seen.setdefault(key, at)
            if alert["state"] == "firing" and key not in known_keys:
                known_keys.add(key)
                yield Fired(at, alert["check"], alert["subject"], first_seen[key])


def _check_alerts(
    totals: Figures,
    slug: str,
    faults: list[Fault],
    firing: list[Fired],
    ticks: list[float],
) -> None:
    before: dict[tuple[str, str], float] = {}
    for at, check, subject, seen_at in firing:
        if check == "late-tick" and _was_late(ticks, at):
            continue  # the machine was: true, and no fault of the week
        right = [
            fault
            for fault in faults
            if _may_say(fault, check) and fault.began - 1 <= at and seen_at <= _until(fault, ticks)
        ]
        last = before.get((check, subject), 0.0)
        if not right:
            totals.false.append(f"{slug}: {check}[{subject}] at {at:.1f}")
        elif last and not any(fault.began > last for fault in right):
            totals.repeats.append(f"{slug}: {check}[{subject}] at {at:.1f}, told at {last:.1f}")
        before[check, subject] = at


def _was_late(ticks: list[float], at: float) -> bool:
    before = [tick for tick in ticks if tick <= at][-2:]
    return len(before) < 2 or before[1] - before[0] > LATE_TICK


def _may_say(fault: Fault, check: str) -> bool:
    may = f"{MAY.get(fault.name, DOWN)}|{DOWN if fault.killed_job else '-'}"
    return bool(re.fullmatch(may, check))
