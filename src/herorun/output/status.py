"""Prints the status of a run."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from herorun.core.babysit.action_key import describe_action
from herorun.core.babysit.alert import AlertKey
from herorun.core.durations import format_span
from herorun.core.evidence_names import ALL, format_gaps, name_lack
from herorun.core.proposed_commands import elsewhere
from herorun.output import clean, console, hang, shorten_hashes
from herorun.output.run_facts import (
    cut_fraction,
    describe_alert,
    describe_health,
    describe_missing,
    describe_other_job,
    describe_unjudged,
    ended_notes,
    find_missing,
    format_steps,
    last_command,
)
from herorun.output.text_width import command_as_typed
from herorun.system import progress

INDENT = 13  # columns before the words
_PUSH_STATES = {
    True: "pushed",
    False: "not pushed: other clones lack its newest entries",
    None: "pushed before; whether the remote still has it is unknown",
}


def show_status(
    document: Mapping[str, Any], at: datetime, summary: Sequence[tuple[str, str]] = ()
) -> None:
    """How a run stands at a time; `summary` is its loss, speed and the like, each by its name."""
    out = console()
    is_launched = document["stage"] == "launched"
    state = f"{describe_health(document)}, {format_steps(document['progress'])}"
    out.print(f"{document['slug']}: {state if is_launched else document['stage']}", style="bold")
    for line in _status_lines(document, at, summary):
        hang(out, line[:INDENT], line[INDENT:])
    if document["next"]:
        from herorun.output.questions import label_of_next

        _show_next(out, label_of_next(document), document["next"])
    elif document["unread"] and not _is_only_forgotten(document):
        way_on = "trust" if _is_closed(document) else "doctor"
        _show_next(out, "next", f"herorun {way_on} {document['slug']}")


def _show_next(out: Any, label: str, command: str) -> None:
    """Without a line break, because a person copies it whole; -q leaves it out."""
    if progress.quiet:
        return
    out.print(f"  {label:<10} {command_as_typed(command)}", soft_wrap=True)


def _is_closed(document: Mapping[str, Any]) -> bool:
    """Whether nothing may be read before a person trusts it; the reason then has the command."""
    way_on = f"`herorun trust {document['slug']}`"
    return any(gap.startswith(f"{ALL}: ") and way_on in gap for gap in document["unread"])


def _is_only_forgotten(document: Mapping[str, Any]) -> bool:
    """Whether nothing is unread for another reason than that the job is in no list; `doubts` says
    more.
    """
    reasons = {gap.partition(": ")[2] for gap in document["unread"]}
    return document["forgotten_job"] and len(reasons) == 1


def _is_refused(document: Mapping[str, Any]) -> bool:
    """Whether what the remote has of the record was read, and is not taken over."""
    return str(document["next"]) == f"herorun verify {document['slug']}"


def _status_lines(
    document: Mapping[str, Any], at: datetime, summary: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield from _problems(document, at)
    if document["stage"] == "launched":
        yield f"  evidence   {_evidence(document)}"
        yield f"  babysitter {clean(document['babysitter'])}"
        yield from (f"  {name:<10} {clean(value)}" for name, value in summary)
        is_finished = document["run"] == "finished"
        for metric in document["unjudged"] if document["run"] != "down" else ():
            yield f"  not judged {describe_unjudged(metric, is_finished)}"
    if document["failed_launch"] and not document["instances"]:
        yield _failed_launch(document["failed_launch"], at)
    for instance in document["instances"]:
        began = f"{_minute(instance['started'])} ({_ago(instance['started'], at)})"
        job = f"job {clean(instance['job'])}"
        state = instance["state"] or (
            "ended (no tick recorded how)" if document["seal_tag"] else "state unknown"
        )
        yield f"  instance   {instance['name']}, {job}, {state}, submitted {began}"
    if document["log"] and not document["seal_tag"]:
        yield f"  log        {clean(document['log'])}"
    yield from (f"  other      {describe_other_job(other)}" for other in document["other_jobs"])
    yield from _orders(document)
    if document["seal_tag"]:
        yield f"  sealed     tag {document['seal_tag']}, at {format_steps(document['progress'])}"
    place = f"branch {clean(document['branch'])} at {shorten_hashes(document['record'] or '')}"
    record = f"{place} ({_PUSH_STATES[document['pushed']]})" if document["record"] else "none yet"
    yield f"  record     {record}"
    yield from _counting_note(document["progress"])
    if document["next"].startswith("herorun handoff "):
        condition = "if the DRI agrees, " if document["dri_decides"] else ""
        yield (
            f"  note       {condition}type {elsewhere(last_command(document))} in the clone that "
            "holds the lease (see `babysitter`); only if that clone is gone, take the run over here"
        )
    if last_command(document).startswith("herorun seal "):
        yield (
            "  note       the DRI decides whether to seal: it cannot be undone, and ends the "
            "launches of this run"
        )


def _failed_launch(launch: Mapping[str, Any], at: datetime) -> str:
    when = f"at {_minute(launch['at'])} ({_ago(launch['at'], at)})"
    failure = f"failed for {launch['instance']} {when}, and nothing was submitted"
    return f"  launch     {failure}: {clean(launch['why'])}"


def _minute(moment: str) -> str:
    return f"{moment[: len('2026-01-01T12:00')]}Z"


def _evidence(document: Mapping[str, Any]) -> str:
    """What this command could read. The row of the babysitter says whether the run is monitored."""
    if not document["unread"]:
        return "all read now"
    doubts = " ".join(document["doubts"])  # which may state the reason already
    others = [gap for gap in document["unread"] if gap.removeprefix(f"{ALL}: ") not in doubts]
    if not others:
        return "none was read (see `unknown`)"
    gaps = clean("; ".join(format_gaps(others)))
    has_access = _is_closed(document) or _is_only_forgotten(document) or _is_refused(document)
    access = "" if has_access else f"; `herorun doctor {document['slug']}` tests the access"
    return f"could not read {gaps}{access}"


def _counting_note(progress: str) -> Iterator[str]:
    """Where a trainer's own numbers fit better than the contract's: one update beyond the last.

    >>> list(_counting_note("~100/100")), len(list(_counting_note("~101/100")))
    ([], 1)
    """
    step, _, last = progress.removeprefix("~").partition("/")
    if step.isdecimal() and last.isdecimal() and int(step) == int(last) + 1:
        key = "set `[tracker] first_step = 1` in the contract of the next run"
        yield f"  note       one step too many: if the trainer counts from 1 to {last}, {key}"


def _ago(moment: str, at: datetime) -> str:
    """The age of a moment; another clock may date it in the future, or it is this reading's own."""
    age = at - datetime.fromisoformat(moment)
    return f"{format_span(age)} ago" if age >= timedelta(seconds=1) else "just now"


def _problems(document: Mapping[str, Any], at: datetime) -> Iterator[str]:
    """What a person must know first: a pause, alerts, gaps in the evidence, and questions."""
    if pause := document["paused"]:
        yield f"  paused     {_pause(pause, document['slug'], at)}"
    acks = {ack["alert"]: ack for ack in document["acknowledgements"]}
    for alert in document["alerts"]:
        ack = acks.get(_key_of(alert))
        age = f"opened {_ago(alert['since'], at)}{f', acknowledged {_by(ack)}' if ack else ''}"
        yield (
            f"  alert      {alert['state']} {alert['severity']} {alert['check']} ({age}): "
            f"{describe_alert(alert, document['unread'], 'evidence')}"
        )
    command = f"herorun ack {document['slug']}"
    yield from (f"  note       {note}" for note in ended_notes(document, command))
    for problem in document["doubts"]:
        yield f"  unknown    {clean(problem)}"
    for missing in find_missing(document):
        yield f"  {name_lack(missing['until'], at):<10} {describe_missing(missing)}"
    yield from _unfinished_actions(document)
    if document["questions"]:
        from herorun.output.questions import question_lines

        yield from question_lines(document)


def _unfinished_actions(document: Mapping[str, Any]) -> Iterator[str]:
    for key in document["unfinished_actions"]:
        action = clean(describe_action(key))
        if document["acting"]:
            yield f"  underway   a herorun process on this machine is carrying this out: {action}"
            continue
        yield (
            f"  unfinished {action}; whether it was carried out is unknown; more: `herorun explain "
            "unfinished-action`"
        )


def _pause(pause: Mapping[str, Any], slug: str, at: datetime) -> str:
    """Monitoring continues, so what is paused must be named."""
    remaining = format_span(datetime.fromisoformat(pause["until"]) - at)
    return (
        f"automatic stop and relaunch, by {clean(pause['by'])} until "
        f"{cut_fraction(pause['until'])} (in {remaining}){_because(pause['reason'])}; "
        f"`herorun resume {slug}` ends the pause"
    )


def _orders(document: Mapping[str, Any]) -> list[str]:
    """What people ordered and still holds."""
    lines = []
    is_in_alert = any(f"{document['stopped_by']} ordered" in a["fix"] for a in document["alerts"])
    if document["stopped_by"] and not is_in_alert:
        lines.append(f"  stop       ordered by {clean(document['stopped_by'])}")
    shown_keys = {_key_of(alert) for alert in document["alerts"]}  # with their acknowledgements
    for ack in document["acknowledgements"]:
        if ack["alert"] not in shown_keys:
            lines.append(f"  ack        {clean(ack['alert'])} {_by(ack)}")
    if document["answer"]:
        lines.append(f"  answer     relaunch {clean(document['answer'])}")
    return lines


def _key_of(alert: Mapping[str, Any]) -> str:
    """As acknowledgements name it: the key of `core.babysit.alert.Alert`."""
    return str(AlertKey(alert["check"], alert["subject"], alert["since"]))


def _by(ack: Mapping[str, Any]) -> str:
    return f"by {clean(ack['by'])}{_because(ack['reason'])}"


def _because(reason: str) -> str:
    return f": {clean(reason)}" if reason else ""
