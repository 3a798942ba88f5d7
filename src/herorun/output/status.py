"""Prints the state of a run: a tick, the end of monitoring, a status, a patrol."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from herorun.core.babysit.alert import AlertState
from herorun.core.durations import format_span
from herorun.core.evidence_names import ALL, format_gaps
from herorun.core.finding import count
from herorun.output import clean, console, hang, shortened
from herorun.system import progress

# Columns before the words: of one tick, and of a status.
TICK, STATUS = 11, 13
MONITOR = {
    "fresh": "all evidence read",
    "partial": "evidence partly read",
    "stale": "monitor stale",
}
ACTION_NAMES = {"tell": "notify"}  # on the screen, where the name in JSON is another one


def _line(out: Any, indent: int, text: str, style: str = "") -> None:
    """Wrapped lines begin below the words of the first."""
    hang(out, text[:indent], text[indent:], style)


def show_tick(slug: str, tick: Any, ack: str = "") -> None:
    """One tick for people: a line for the run, one for each alert and each action. A quiet one says
    what is amiss. `ack` is the command that acknowledges; by default that of a run.
    """
    document = tick.entry(with_findings=False).as_json()
    if progress.quiet and _is_calm(document, tick):
        return
    at = f"{tick.tick.at:%Y-%m-%dT%H:%M:%SZ} " if tick.tick else ""
    out = console()
    if tick.sealed:
        hang(out, "", f"{slug}: sealed by the tag {tick.sealed}; nothing to monitor")
        return
    hang(
        out,
        "",
        f"{at}{slug}: {document['run']}, {MONITOR[document['monitor']]}, "
        f"{format_steps(document['progress'])}",
    )
    for line in _tick_lines(document, tick.doubts, ack or f"herorun ack {slug}"):
        _line(out, TICK, line)
    if tick.push:
        _line(out, TICK, f"  record   not pushed: {clean(tick.push)}; each tick retries")
    sys.stdout.flush()


def _tick_lines(document: Mapping[str, Any], doubts: Iterable[str], ack: str) -> Iterator[str]:
    """Below the line of the run: what could not be read, each alert, each action, what is in
    doubt.
    """
    for gap in format_gaps(document["unread"]):
        yield f"  unread   {clean(gap)}; each tick retries"
    for missing in document["missing_evidence"]:
        yield f"  missing  {_missing_evidence(missing)}"
    is_finished = document["run"] == "finished"
    for metric in document["unjudged"]:
        if metric["until_row"] is None:  # more rows alone are not enough
            yield f"  unjudged {_unjudged(metric, is_finished)}"
    for alert in document["alerts"]:
        yield (
            f"  {alert['state']:<8} {alert['severity']:<8} {alert['check']}: "
            f"{clean(alert['message'])}{_next_action(alert)}"
        )
    for note in _ended_note(document, ack):
        yield f"  note     {note}"
    for action in document["actions"]:
        how = _done(action["action"]) if action["done"] else f"failed: {clean(action['failed'])}"
        name = ACTION_NAMES.get(action["action"], action["action"])
        yield f"  {name:<8} {clean(action['title'])}: {how}"
    for other in document["other_jobs"]:
        yield f"  other    {_other(other)}"
    for problem in doubts:
        yield f"  unknown  {clean(problem)}"


def _done(action: str) -> str:
    """A relaunch submits a job, and whether that trains is what later ticks show."""
    return "submitted" if action == "relaunch" else "done"


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
        f"{run.slug}: monitored until {until}: {document['run']}, "
        f"{format_steps(document['progress'])}",
        style="bold",
    )
    current = memory.current.name if memory.current else "none"
    again = sum(bool(launching.relaunch_of) for launching in memory.launchings.values())
    out.print(f"  instance   {current}, after {count(again, 'relaunch', 'relaunches')}")
    out.print(f"  firing     {', '.join(clean(name) for name in firing) or 'nothing'}")
    out.print(f"  continue   herorun babysit {run.slug}")
    sys.stdout.flush()


def show_status(
    document: Mapping[str, Any], at: datetime, summary: Sequence[tuple[str, str]] = ()
) -> None:
    """How a run stands at a time; `summary` is its loss, speed and the like, each by its name."""
    out = console()
    is_launched = document["stage"] == "launched"
    progress_text = f"{document['run']}, {format_steps(document['progress'])}"
    out.print(
        f"{document['slug']}: {progress_text if is_launched else document['stage']}", style="bold"
    )
    for line in _status_lines(document, at, summary):
        _line(out, STATUS, line)
    if document["next"]:
        out.print(f"  {_label(document)} {document['next']}", soft_wrap=True)  # to be copied whole
    elif document["unread"]:
        way_on = "trust" if _is_closed(document) else "doctor"
        out.print(f"  next       herorun {way_on} {document['slug']}", soft_wrap=True)


def _is_closed(document: Mapping[str, Any]) -> bool:
    """Whether nothing may be read before a person trusts it; the reason then has the command."""
    way_on = f"`herorun trust {document['slug']}`"
    return any(gap.startswith(f"{ALL}: ") and way_on in gap for gap in document["unread"])


def _label(document: Mapping[str, Any]) -> str:
    """The command's. What a person decided against, or must decide first, is no advice."""
    if _stays_down(document):
        return "to restart"
    if document["next"].startswith("herorun rollback "):
        return "to go back"
    return "if yes    " if _relaunch_questions(document) and _is_yes(document) else "next      "


def _stays_down(document: Mapping[str, Any]) -> bool:
    is_denied = (document["answer"] or "").startswith("denied")
    has_order = is_denied or document["stopped_by"] or document["paused"]
    return document["run"] == "down" and bool(has_order)


def _status_lines(
    document: Mapping[str, Any], at: datetime, summary: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield from _problems(document, at)
    if document["stage"] == "launched":
        yield from _monitoring(document)
        yield from (f"  {name:<10} {clean(value)}" for name, value in summary)
    for instance in document["instances"]:
        minute = instance["started"][: len("2026-01-01T12:00")]
        began = f"{minute}Z ({_ago(instance['started'], at)})"
        state = f" {instance['state']}," if instance["state"] else ""
        job = f"job {clean(instance['job'])}"
        yield f"  instance   {instance['name']}, {job},{state} started {began}"
    if document["log"] and not document["seal_tag"]:
        yield f"  log        {clean(document['log'])}"
    yield from (f"  other      {_other(other)}" for other in document["other_jobs"])
    yield from _orders(document)
    if document["seal_tag"]:
        yield f"  sealed     tag {document['seal_tag']}, at {format_steps(document['progress'])}"
    push_text = "pushed" if document["pushed"] else "not pushed: other clones lack the newest"
    record = (
        f"branch {clean(document['branch'])} at {shortened(document['record'])} ({push_text})"
        if document["record"]
        else "none yet"
    )
    yield f"  record     {record}"
    yield from _counting_note(document["progress"])
    if document["next"].startswith("herorun seal "):
        yield "  note       a seal cannot be undone, and ends the launches of this run"


def _monitoring(document: Mapping[str, Any]) -> Iterator[str]:
    is_finished = document["run"] == "finished"
    yield from (f"  not judged {_unjudged(metric, is_finished)}" for metric in document["unjudged"])
    yield f"  monitor    {_monitor(document)}"
    yield f"  babysitter {clean(document['babysitter'])}"


def _monitor(document: Mapping[str, Any]) -> str:
    """Its state, and what that means here."""
    if document["unread"]:
        doubts = " ".join(document["doubts"])  # which may state the reason already
        others = [gap for gap in document["unread"] if gap.removeprefix(f"{ALL}: ") not in doubts]
        gaps = clean("; ".join(format_gaps(others))) or "any evidence"
        access = f"; `herorun doctor {document['slug']}` tests the access"
        return (
            f"{document['monitor']}: could not read {gaps}{'' if _is_closed(document) else access}"
        )
    meaning = {
        "fresh": "all evidence was read",
        "stale": "no babysitter monitors the run; this command read it now",
    }
    state = document["monitor"]
    return f"{state}: {meaning[state]}" if state in meaning else state


def format_steps(progress: str) -> str:
    """The progress of a document, which is `~unknown/200` where no step was read.

    >>> format_steps("~120/200"), format_steps("~unknown/200"), format_steps("~unknown/unknown")
    ('step ~120/200', 'step unknown, final step 200', 'step unknown')

    A row of the final step is exact.

    >>> format_steps("~200/200")
    'step 200/200'
    """
    step, _, last = progress.partition("/")
    if step == f"~{last}" and last.isdecimal():
        return f"step {last}/{last}"
    if step != "~unknown":
        return f"step {progress}"
    return "step unknown" if last in ("", "unknown") else f"step unknown, final step {last}"


def _counting_note(progress: str) -> Iterator[str]:
    """Where a trainer's own numbers fit better than the contract's: one update beyond the last.

    >>> list(_counting_note("~100/100")), len(list(_counting_note("~101/100")))
    ([], 1)
    """
    step, _, last = progress.removeprefix("~").partition("/")
    if step.isdecimal() and last.isdecimal() and int(step) == int(last) + 1:
        key = "`[tracker] first_step = 1` is right from the next launch on"
        yield f"  note       if the trainer's last step is {last}, {key}"


def _missing_evidence(missing: Mapping[str, Any]) -> str:
    until = f"; due by {_cut_fraction(missing['until'])}" if missing["until"] else ""
    return f"{clean(missing['message'])}{until}"


ENDED = "the job or its evidence ended, and nothing shows that the problem is over"


def _ended_note(document: Mapping[str, Any], ack: str) -> list[str]:
    """What the state means, once, and what closes it."""
    states = [alert["state"] for alert in document["alerts"]]
    if AlertState.ENDED not in states:
        return []
    return [f"{AlertState.ENDED}: {ENDED}; `{ack}` closes it, and starts nothing"]


def _next_action(alert: Mapping[str, Any]) -> str:
    """What is over needs none."""
    needs_none = alert["state"] == AlertState.RESOLVED or not alert["fix"]
    return "" if needs_none else f"; next: {clean(alert['fix'])}"


def _unjudged(metric: Mapping[str, Any], is_finished: bool) -> str:
    """A run that is over gets no further row, so it is never judged."""
    row = None if is_finished else metric["until_row"]
    until = "" if row is None else f", at least until its row {row}"
    return (
        f"{', '.join(metric['checks'])} ({clean(metric['metric'])}){until}: "
        f"{clean(metric['reason'])}{'; look at the curve yourself' if is_finished else ''}"
    )


def _cut_fraction(moment: str) -> str:
    """Nobody reads a millionth of a second."""
    return re.sub(r"\.\d+(?=Z$)", "", moment)


def _ago(moment: str, at: datetime) -> str:
    """The age of a moment; another clock may date it in the future, or it is this reading's own."""
    age = at - datetime.fromisoformat(moment)
    return f"{format_span(age)} ago" if age >= timedelta(seconds=1) else "just now"


def _other(job: Mapping[str, str]) -> str:
    return (
        f"{clean(job['name'])}, job {clean(job['job'])}, {job['state']}: {job['kind']} job, "
        "not part of this run"
    )


def _problems(document: Mapping[str, Any], at: datetime) -> Iterator[str]:
    """What a person must know first: a pause, alerts, gaps in the evidence, and questions."""
    if pause := document["paused"]:
        yield f"  paused     {_pause(pause, document['slug'], at)}"
    for alert in document["alerts"]:
        yield (
            f"  alert      {alert['state']} {alert['severity']} {alert['check']} (opened "
            f"{_ago(alert['since'], at)}): {clean(alert['message'])}{_next_action(alert)}"
        )
    ack = f"herorun ack {document['slug']}"
    yield from (f"  note       {note}" for note in _ended_note(document, ack))
    for problem in document["doubts"]:
        yield f"  unknown    {clean(problem)}"
    for missing in document["missing_evidence"]:
        yield f"  missing    {_missing_evidence(missing)}"
    yield from _unfinished_actions(document)
    yield from _questions(document)


def _unfinished_actions(document: Mapping[str, Any]) -> Iterator[str]:
    for key in document["unfinished_actions"]:
        action = clean(key.replace("/", " ", 1))
        if document["acting"]:
            yield f"  underway   {action}: a herorun process on this machine does it now"
            continue
        yield (
            f"  unfinished {action}: whether it was carried out is unknown; `herorun explain "
            "unfinished-action` says what to do"
        )


def _pause(pause: Mapping[str, Any], slug: str, at: datetime) -> str:
    """Monitoring continues, so what is paused must be named."""
    remaining = format_span(datetime.fromisoformat(pause["until"]) - at)
    return (
        f"automatic stop and relaunch, by {clean(pause['by'])} until "
        f"{_cut_fraction(pause['until'])} (in {remaining}){_because(pause['reason'])}; "
        f"`herorun resume {slug}` ends the pause"
    )


def _orders(document: Mapping[str, Any]) -> list[str]:
    """What people ordered and still holds."""
    lines = []
    if document["stopped_by"]:
        lines.append(f"  stopped    its stop was ordered by {clean(document['stopped_by'])}")
    for ack in document["acknowledgements"]:
        lines.append(
            f"  ack        {clean(ack['alert'])} by {clean(ack['by'])}{_because(ack['reason'])}"
        )
    if document["answer"]:
        lines.append(f"  answer     relaunch {clean(document['answer'])}")
    return lines


def _questions(document: Mapping[str, Any]) -> list[str]:
    """Each with the two commands that answer it."""
    if not document["questions"]:
        return []
    from herorun.core.babysit.action_key import parse_key

    judge = [version for key in document["questions"] if (version := parse_key(key).judged_version)]
    yes, no = (f"herorun {order} {document['slug']}" for order in ("approve", "deny"))
    lines = [f"  question   may herorun {clean(v)} act? yes: `{yes}`; no: `{no}`" for v in judge]
    if kinds := ", ".join(clean(kind) for kind in _relaunch_questions(document)):
        way = document["next"] if document["run"] == "down" and document["next"] else yes
        word = "yes" if _is_yes(document) else "first" if " preflight " in way else "instead"
        lines.append(f"  question   relaunch ({kinds})? {word}: `{way}`; no: `{no}`")
    return lines


def _relaunch_questions(document: Mapping[str, Any]) -> list[str]:
    """Their kinds. A question about a version of herorun is another one."""
    from herorun.core.babysit.action_key import parse_key

    questions = [parse_key(key) for key in document["questions"]]
    return [question.last for question in questions if not question.judged_version]


def _is_yes(document: Mapping[str, Any]) -> bool:
    """Whether the next command is the answer yes; a rollback or a preflight is another way."""
    command = str(document["next"])
    return (
        document["run"] != "down"
        or not command
        or command.startswith(("herorun approve ", "herorun relaunch "))
    )


def _because(reason: str) -> str:
    return f": {clean(reason)}" if reason else ""


def show_patrol(line: str, advice: Sequence[Any]) -> None:
    """One tick of a patrol: its line, then what applies; a result word for word, line by line."""
    out = console()
    hang(out, "", clean(line))
    for each in advice:
        for part in each.message.splitlines():
            if each.row == "result":
                out.print(f"  {clean(part)}", soft_wrap=True)
            else:
                hang(out, "  ", clean(part))
        if each.command:
            out.print(f"    {clean(each.command)}", soft_wrap=True)  # to be copied whole
    sys.stdout.flush()
