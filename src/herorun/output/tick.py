"""Prints one tick of a babysitter, and the end of monitoring."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from herorun.core.evidence_names import format_gaps, name_lack
from herorun.core.finding import count
from herorun.output import clean, console, hang, show_line
from herorun.output.run_facts import (
    describe_alert,
    describe_health,
    describe_missing,
    describe_other_job,
    describe_unjudged,
    ended_notes,
    find_missing,
    format_steps,
)
from herorun.output.text_width import command_as_typed
from herorun.system import progress

INDENT = 11  # columns before the words

MONITOR = {
    "fresh": "all evidence read",
    "partial": "evidence partly read",
    "stale": "neither job nor metrics read",
}
ACTION_NAMES = {"tell": "notify"}  # on the screen, where the name in JSON is another one


def show_tick(
    slug: str,
    tick: Any,
    ack: str = "",
    once: bool = False,
    job_by_instance: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """One tick for people: a line for the run, one for each alert and each action. A quiet one says
    what is amiss. `ack` is the command that acknowledges; by default that of a run. `once`: no
    other tick follows by itself. `job_by_instance`: the ids by which a person knows the instances
    of a job without a contract.
    """
    retry = "repeat this command to retry" if once else "the next tick retries"
    document = tick.entry(with_findings=False).as_json()
    if progress.quiet and _is_calm(document, tick):
        return
    at = f"{tick.tick.at:%Y-%m-%dT%H:%M:%SZ} " if tick.tick else ""
    out = console()
    if tick.sealed:
        hang(out, "", f"{slug}: sealed by the tag {tick.sealed}; nothing to monitor")
        return
    show_line(
        f"{at}{slug}: {describe_health(document)}, {MONITOR[document['monitor']]}, "
        f"{format_steps(document['progress'])}"
    )
    for gap in format_gaps(document["unread"]):
        later = "" if tick.why_gone and tick.why_gone in gap else f"; {retry}"
        hang(out, "  unread   ", f"{clean(gap)}{later}")
    moment = tick.tick.at if tick.tick else None
    for line in _tick_lines(document, moment, tick.doubts, ack or f"herorun ack {slug}"):
        for instance, job in job_by_instance.items():
            line = clean(job).join(re.split(rf"\b{re.escape(instance)}(?!\d)", line))
        hang(out, line[:INDENT], line[INDENT:])
    if tick.push:
        hang(out, "  record   ", f"not pushed: {clean(tick.push)}; {retry}")
    sys.stdout.flush()


def _tick_lines(
    document: Mapping[str, Any], at: datetime | None, doubts: Iterable[str], ack: str
) -> Iterator[str]:
    """Below what could not be read: what is missing, each alert, each action, what is in doubt."""
    for missing in find_missing(document):
        yield f"  {name_lack(missing['until'], at):<8} {describe_missing(missing)}"
    is_finished = document["run"] == "finished"
    for metric in document["unjudged"]:
        if metric["until_row"] is None:  # more rows alone are not enough
            yield f"  unjudged {describe_unjudged(metric, is_finished)}"
    for alert in document["alerts"]:
        yield (
            f"  {alert['state']:<8} {alert['severity']:<8} {alert['check']}: "
            f"{describe_alert(alert, document['unread'], 'unread')}"
        )
    for note in ended_notes(document, ack):
        yield f"  note     {note}"
    for action in document["actions"]:
        how = (
            _choose_done_word(action["action"])
            if action["done"]
            else f"failed: {clean(action['failed'])}"
        )
        name = ACTION_NAMES.get(action["action"], action["action"])
        yield f"  {name:<8} {clean(action['title'])}: {how}"
    for other in document["other_jobs"]:
        yield f"  other    {describe_other_job(other)}"
    for problem in doubts:
        yield f"  unknown  {clean(problem)}"


def _choose_done_word(action: str) -> str:
    """Whether a submitted job trains, and whether a job heeds a stop, is what later ticks show."""
    return {"relaunch": "submitted", "stop": "requested"}.get(action, "done")


def _is_calm(document: dict[str, Any], tick: Any) -> bool:
    """Whether there is nothing that a person would have to know."""
    return (
        document["run"] in ("healthy", "finished")
        and document["monitor"] == "fresh"
        and not document["missing_evidence"]
        and not (document["alerts"] or document["actions"] or tick.doubts or tick.push)
    )


def show_summary(run: Any, tick: Any, until: str) -> None:
    """How the run stands where a watch ends."""
    memory = run.record.memory()
    document = tick.entry(with_findings=False).as_json()
    firing = [alert["check"] for alert in document["alerts"] if alert["state"] == "firing"]
    out = console()
    out.print(
        f"{run.slug}: monitored until {until}: {describe_health(document)}, "
        f"{format_steps(document['progress'])}",
        style="bold",
    )
    current = memory.current.name if memory.current else "none"
    again = sum(bool(launching.relaunch_of) for launching in memory.launchings.values())
    out.print(f"  instance   {current}, after {count(again, 'relaunch', 'relaunches')}")
    out.print(f"  firing     {', '.join(clean(name) for name in firing) or 'nothing'}")
    command = command_as_typed(f"herorun babysit {run.slug}")
    out.print(f"  monitor    ended: nothing monitors {run.slug} now", soft_wrap=True)
    out.print(f"  continue   {command}", soft_wrap=True)
    sys.stdout.flush()
