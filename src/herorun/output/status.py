"""Prints the state of a run: a tick, the end of monitoring, a status, a patrol."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from herorun.core.babysit.alert import AlertState
from herorun.output import clean, console, hang, shortened
from herorun.system import progress

# Columns before the words: of one tick, and of a status.
TICK, STATUS = 11, 13


def _line(out: Any, indent: int, text: str, style: str = "") -> None:
    """Wrapped lines begin below the words of the first."""
    hang(out, text[:indent], text[indent:], style)


def show_turn(slug: str, turn: Any) -> None:
    """One tick for people: a line for the run, one for each alert and each action. A quiet one says
    what is amiss.
    """
    document = turn.entry().as_json()
    calm = (
        document["run"] in ("healthy", "finished")
        and document["monitor"] == "fresh"
        and not document["missing_evidence"]
    )
    if (
        progress.quiet
        and calm
        and not (document["alerts"] or document["actions"] or turn.doubts or turn.push)
    ):
        return
    at = f"{turn.tick.at:%Y-%m-%dT%H:%M:%SZ} " if turn.tick else ""
    out = console()
    if turn.sealed:
        hang(out, "", f"{slug}: sealed as {turn.sealed}; nothing to monitor")
        return
    hang(
        out,
        "",
        f"{at}{slug}: {document['run']}, monitor {document['monitor']}, {document['progress']}",
    )
    for missing in document["missing_evidence"]:
        _line(out, TICK, f"  awaited  {_awaited(missing)}")
    for alert in document["alerts"]:
        _line(
            out,
            TICK,
            f"  {alert['state']:<8} {alert['severity']:<8} {alert['check']}: "
            f"{clean(alert['message'])}{_next_action(alert)}",
        )
    for action in document["actions"]:
        how = "done" if action["done"] else f"failed: {clean(action['failed'])}"
        _line(out, TICK, f"  {action['action']:<8} {clean(action['title'])}: {how}")
    for other in document["other_jobs"]:
        _line(out, TICK, f"  other    {_other(other)}")
    for doubt in turn.doubts:
        _line(out, TICK, f"  unknown  {clean(doubt)}")
    if turn.push:
        _line(out, TICK, f"  the record is not pushed: {clean(turn.push)}")
    sys.stdout.flush()


def show_summary(run: Any, turn: Any, until: str) -> None:
    """How the run stands where a watch ends."""
    memory = run.record.memory()
    document = turn.entry().as_json()
    firing = [alert["check"] for alert in document["alerts"] if alert["state"] == "firing"]
    out = console()
    out.print(
        f"{run.slug}: watched until {until}: {document['run']}, {document['progress']}",
        style="bold",
    )
    current = memory.current.name if memory.current else "none"
    again = sum(bool(launching.relaunch_of) for launching in memory.launchings.values())
    out.print(f"  instance   {current}, relaunches {again}")
    out.print(f"  firing     {', '.join(clean(name) for name in firing) or 'nothing'}")
    out.print(f"  resume     herorun babysit {run.slug}")
    sys.stdout.flush()


def show_status(document: Mapping[str, Any], glance: Sequence[tuple[str, str]] = ()) -> None:
    """How a run stands; `glance` is its loss, speed and the like, each by its name."""
    out = console()
    out.print(f"{document['slug']}: {document['stage']}", style="bold")
    if document["stage"] == "launched":
        _line(out, STATUS, f"  run        {document['run']}, {document['progress']}")
        for missing in document["missing_evidence"]:
            _line(out, STATUS, f"  awaited    {_awaited(missing)}")
        for metric in document["unjudged"]:
            _line(out, STATUS, f"  not judged {_unjudged(metric)}")
        _line(out, STATUS, f"  monitor    {document['monitor']}")
        _line(out, STATUS, f"  babysitter {clean(document['babysitter'])}")
        for name, value in glance:
            _line(out, STATUS, f"  {name:<10} {clean(value)}")
    for instance in document["instances"]:
        _line(
            out,
            STATUS,
            f"  instance   {instance['name']}, job {clean(instance['job'])}, since "
            f"{_cut_fraction(instance['started'])}",
        )
    if document["log"] and not document["seal_tag"]:
        _line(out, STATUS, f"  log        {clean(document['log'])}")
    for alert in document["alerts"]:
        _line(
            out,
            STATUS,
            f"  alert      {alert['state']} {alert['severity']} {alert['check']}: "
            f"{clean(alert['message'])}{_next_action(alert)}",
        )
    for other in document["other_jobs"]:
        _line(out, STATUS, f"  other      {_other(other)}")
    for line in _orders(document):
        _line(out, STATUS, line)
    for doubt in document["unfinished_actions"]:
        _line(out, STATUS, f"  unfinished {clean(doubt.replace('/', ' ', 1))}")
    if document["seal_tag"]:
        _line(out, STATUS, f"  sealed     {document['seal_tag']}, at {document['progress']} steps")
    for doubt in document["doubts"]:
        _line(out, STATUS, f"  unknown    {clean(doubt)}")
    pushed = "pushed" if document["pushed"] else "not pushed"
    record = f"{shortened(document['record'])} ({pushed})" if document["record"] else "none yet"
    _line(out, STATUS, f"  record     {record}")
    if document["next"]:
        out.print(f"  next       {document['next']}", soft_wrap=True)  # to be copied whole


def _awaited(missing: Mapping[str, Any]) -> str:
    until = f"; until {_cut_fraction(missing['until'])}" if missing["until"] else ""
    return f"{clean(missing['message'])}{until}"


def _next_action(alert: Mapping[str, Any]) -> str:
    """What is over needs none."""
    over = alert["state"] == AlertState.RESOLVED or not alert["fix"]
    return "" if over else f"; next: {clean(alert['fix'])}"


def _unjudged(metric: Mapping[str, Any]) -> str:
    return (
        f"{clean(metric['metric'])} before row {metric['until_row']} ({clean(metric['reason'])}): "
        f"{', '.join(metric['checks'])}"
    )


def _cut_fraction(moment: str) -> str:
    """Nobody reads a millionth of a second."""
    return re.sub(r"\.\d+(?=Z$)", "", moment)


def _other(job: Mapping[str, str]) -> str:
    return (
        f"{clean(job['name'])}, job {clean(job['job'])}, {job['state']}: {job['kind']}, not judged"
    )


def _orders(document: Mapping[str, Any]) -> list[str]:
    """What people said: a pause, notes taken, and what is asked of them."""

    lines = []
    if pause := document["paused"]:
        lines.append(
            f"  paused     until {pause['until']} by {clean(pause['by'])}"
            f"{_because(pause['reason'])}"
        )
    if document["stopped_by"]:
        lines.append(f"  stopped    by `herorun stop`, for {clean(document['stopped_by'])}")
    for noted in document["acknowledgements"]:
        lines.append(
            f"  ack        {clean(noted['alert'])} by "
            f"{clean(noted['by'])}{_because(noted['reason'])}"
        )
    if document["answer"]:
        lines.append(f"  answer     {clean(document['answer'])}")
    if document["questions"]:
        from herorun.core.babysit.action_key import parse_key

        questions = [parse_key(key) for key in document["questions"]]
        judge = [question.judged_version for question in questions if question.judged_version]
        other = [question.last for question in questions if not question.judged_version]
        yes = f"herorun approve {document['slug']}"
        way = document["next"] if document["run"] == "down" and document["next"] else yes
        lines += [f"  question   may herorun {clean(v)} act? `{yes}`, or `deny`" for v in judge]
        kinds = ", ".join(clean(kind) for kind in other)
        lines += [f"  question   relaunch ({kinds})? `{way}`, or `deny`"] if other else []
    return lines


def _because(reason: str) -> str:
    return f": {clean(reason)}" if reason else ""


def show_patrol(line: str, advice: Sequence[Any]) -> None:
    """One tick of a patrol: its line, then what applies; a result word for word, line by line."""
    print(clean(line))
    for each in advice:
        for part in each.message.splitlines():
            print(f"  {clean(part)}")
        if each.command:
            print(f"    {clean(each.command)}")
