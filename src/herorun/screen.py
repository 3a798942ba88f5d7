"""What people and programs see: findings, plans and one JSON document. rich is imported where a person looks."""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from herorun.core.canonical import plain
from herorun.core.scrub import scrub, scrub_argv, scrub_tree
from herorun.system import voice

MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "unknown": ("?", "yellow"), "n/a": ("-", "dim")}


def show_json(document: Mapping[str, Any]) -> None:
    """One document on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(scrub_tree({"schema": 1, **document}), indent=2, allow_nan=False) + "\n")


def show_json_line(document: Mapping[str, Any]) -> None:
    """One document on one line, for a command that prints many (JSON Lines)."""
    sys.stdout.write(json.dumps(scrub_tree({"schema": 1, **document}), allow_nan=False) + "\n")
    sys.stdout.flush()


def say(slug: str, words: str) -> None:
    """What went wrong with one run among several."""
    print(f"herorun: {clean(slug)}: {clean(words)}", file=sys.stderr)


PIPED = 200  # columns of a table that no terminal bounds


def console() -> Any:
    """A rich console: colours only on a terminal, none with NO_COLOR, no wrapping of paths when piped."""
    from rich.console import Console

    plain = not sys.stdout.isatty()
    width = PIPED if plain and "COLUMNS" not in os.environ else None
    return Console(soft_wrap=plain, width=width, highlight=False, markup=False, emoji=False)


OPEN = ("fail", "unknown")


def show_findings(out: Any, findings: Sequence[Mapping[str, Any]]) -> None:
    """What passed, what has nothing to ask about in one line, and last, next to the verdict, what is open."""
    from rich.text import Text

    for finding in findings:
        if finding["outcome"] == "pass" and not voice.quiet:
            out.print(_finding_line(finding))
    silent = dict.fromkeys(finding["check"] for finding in findings if finding["outcome"] == "n/a")
    if silent and not voice.quiet:
        out.print(Text(f"- nothing to ask for: {', '.join(silent)}", style="dim"))
    blind = _one_reason(findings)
    for finding in sorted(findings, key=lambda f: (f["waiver"] is None, f["outcome"] == "fail")):
        if finding["outcome"] in OPEN and finding not in [f for alike in blind for f in alike[1:]]:
            out.print(_finding_line(finding))
            alike = next((alike for alike in blind if finding is alike[0]), None)
            if alike is None:
                _show_details(out, finding)
            else:
                out.print(f"    and so, for the same reason: {', '.join(f['check'] for f in alike[1:])}")


def _one_reason(findings: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The unknown findings that one and the same reason explains: what would mend each is beside the point."""
    by: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        if finding["outcome"] == "unknown" and not finding["waiver"]:
            by.setdefault(finding["message"], []).append(finding)
    return [alike for alike in by.values() if len(alike) > 1]


def _finding_line(finding: Mapping[str, Any]) -> Any:
    from rich.text import Text

    mark, colour = MARKS[finding["outcome"]]
    style = colour if finding["outcome"] in OPEN else "dim"
    name = (f"{finding['check']:<30}", style)
    return Text.assemble((f"{mark} ", colour), name, clean(finding["message"]))


def _show_details(out: Any, finding: Mapping[str, Any]) -> None:
    if signed := finding["waiver"]:
        who, why = clean(signed["approved_by"]), clean(signed["reason"])
        out.print(f"    waived by {who} until {signed['expires']}: {why}")
        return
    for detail in finding["details"][:10]:
        out.print(f"    {clean(detail)}", style="dim")
    if len(finding["details"]) > 10:
        out.print(f"    and {len(finding['details']) - 10} more", style="dim")
    out.print(f"    fix: {finding['fix']}")


def show_preflight(out: Any, slug: str, answer: Any, plan: str = "") -> None:
    """The plan, the exact submission, the findings and the verdict of an `acts.preflight.Preflight`."""
    from shlex import join

    told = answer.as_json()
    if voice.quiet:
        show_by_mode(out, answer, told["findings"])
        show_verdict(out, told["verdict"], _verdict_words(answer))
        return
    if answer.plan:
        show_table(out, f"Plan of {slug}", [*plan_rows(answer.plan), ("digest", answer.plan.digest)])
        out.print(f"\nSubmission of {answer.submission.instance}", style="bold")
        for line in answer.request.splitlines() or [f"$ {join(told['submission']['argv'])}"]:
            out.print(f"  {clean(line)}")
    out.print()
    show_table(out, "Estimate", answer.estimate.rows())
    show_candidates(out, told["checkpoints"])
    out.print("\nFindings", style="bold")
    show_by_mode(out, answer, told["findings"])
    out.print()
    show_verdict(out, told["verdict"], _verdict_words(answer))
    show_next(out, _after_preflight(slug, told["verdict"], answer.report.blocking, plan))


def _after_preflight(slug: str, verdict: str, blocking: Sequence[Any], plan: str) -> str:
    if verdict == "clear":
        from shlex import quote

        return f"herorun launch {slug}" + (f" --plan {quote(plan)}" if plan else "")
    if not blocking:
        return ""
    return f"herorun explain {blocking[0].check}"


def show_next(out: Any, command: str) -> None:
    """What to type next, if anything."""
    if command and not voice.quiet:
        out.print(f"next: {command}", style="dim")


def show_by_mode(out: Any, answer: Any, findings: Sequence[Mapping[str, Any]]) -> None:
    """Findings of a launch gate; where `[policy] mode` is audit, one line stands for all that do not act."""
    if answer.report.mode != "audit":
        show_findings(out, findings)
        return
    acting = answer.report.blocking
    show_findings(
        out,
        [
            told
            for told, found in zip(answer.as_json()["findings"], answer.report.findings, strict=True)
            if found in acting
        ],
    )
    every = len(answer.report.findings)
    out.print(f"{every} findings were written down: {answer.policy}. --json has them.")


def _verdict_words(answer: Any) -> str:
    """How many findings stand in the way, and what only the mode keeps from it."""
    count = len(answer.report.blocking)
    said = [f"{count} open finding{'s' if count != 1 else ''}"] if count else []
    if answer.policy:
        said.append(f"[policy] mode {answer.policy}; enforced it would be {answer.report.would_be}")
    return "; ".join(said)


def show_candidates(out: Any, told: Mapping[str, Any]) -> None:
    """The checkpoints that were looked into, newest first, and what the choice throws away; nothing where none is."""
    if not told["candidates"]:
        return
    out.print("\nCheckpoints", style="bold")
    for candidate in told["candidates"][:10]:
        mark = "→" if candidate["chosen"] else " "
        why = f": {clean(candidate['refused'])}" if candidate["refused"] else ""
        out.print(f"{mark} {clean(candidate['path'])}, step {candidate['step']}, {candidate['state']}{why}")
    left = max(len(told["candidates"]) - 10, 0) + told["unexamined"]
    if left:
        out.print(f"  and {left} more", style="dim")
    if told["discarded"]:
        out.print(f"  {_discarded_words(told['discarded'])}")


def _discarded_words(told: Mapping[str, Any]) -> str:
    if told["steps"] == 0:
        return "no step that was reached is discarded"
    steps = "an unknown number of" if told["steps"] is None else f"{told['steps']}"
    hours = told["accelerator_hours"]
    cost = (
        f"accelerator-hours unknown: {clean(told['why'])}"
        if hours is None
        else f"{hours:,.1f} accelerator-hours"
    )
    return f"discarded: {steps} steps, {cost}"


def plan_rows(plan: Any) -> list[tuple[str, str]]:
    """The plan for people: what was left unsaid is left out; what is inferred says so."""
    rows = []
    for field in fields(plan):
        told = getattr(plan, field.name)
        if field.name == "config" or told.value in (None, (), {}, False):
            continue
        rows.append(
            (
                field.name,
                f"{_words(scrub_tree(plain(told.value)))} ({'inferred from ' if told.inferred else ''}{told.source})",
            )
        )
    return rows


def _words(value: Any) -> str:
    form = plain(value)
    if isinstance(form, Mapping):
        told = [(k, _words(v)) for k, v in form.items() if v not in (None, {}, [])]
        return ", ".join(f"{k} {v}" for k, v in told)
    if isinstance(form, list):
        return " ".join(scrub_argv(tuple(str(part) for part in form)))
    return str(form)


def show_table(out: Any, title: str, rows: Iterable[tuple[str, str]]) -> None:
    out.print(title, style="bold")
    for name, value in rows:
        out.print(f"  {name + ':':<20} {clean(value)}".rstrip())


def show_verdict(out: Any, verdict: str, words: str = "") -> None:
    colour = {"clear": "bold green", "blocked": "bold red", "unknown": "bold yellow"}[verdict]
    out.print(f"{verdict.upper()}{': ' + words if words else ''}", style=colour)


def clean(text: str) -> str:
    """Text from outside, harmless on a terminal."""
    return "".join(c if c.isprintable() else "�" for c in " ".join(scrub(text).split(" ")))


def show_turn(slug: str, turn: Any) -> None:
    """One tick for people: a line for the run, one for each alert and each action. A quiet one says what is amiss."""
    told = turn.as_json()
    calm = told["run"] in ("healthy", "finished") and told["monitor"] == "fresh"
    if voice.quiet and calm and not (told["alerts"] or told["actions"] or turn.doubts or turn.push):
        return
    at = f"{turn.tick.at:%Y-%m-%dT%H:%M:%SZ} " if turn.tick else ""
    out = console()
    if turn.sealed:
        out.print(f"{slug}: sealed by {turn.sealed}: nothing to watch")
        return
    out.print(f"{at}{slug}: {told['run']}, monitor {told['monitor']}, {told['progress']}")
    for alert in told["alerts"]:
        out.print(f"  {alert['state']:<8} {alert['severity']:<8} {alert['check']}: {clean(alert['message'])}")
    for action in told["actions"]:
        how = "done" if action["done"] else f"failed: {clean(action['failed'])}"
        out.print(f"  {action['action']:<8} {clean(action['key'])}: {how}")
    for other in told["other"]:
        out.print(f"  other    {_other(other)}")
    for doubt in turn.doubts:
        out.print(f"  in doubt: {clean(doubt)}")
    if turn.push:
        out.print(f"  the record is not pushed: {clean(turn.push)}")
    sys.stdout.flush()


def show_summary(run: Any, turn: Any, until: str) -> None:
    """How the run stands where a watch ends."""
    memory = run.record.memory()
    told = turn.as_json()
    firing = [alert["check"] for alert in told["alerts"] if alert["state"] == "firing"]
    out = console()
    out.print(f"{run.slug}: watched until {until}: {told['run']}, {told['progress']}", style="bold")
    current = memory.current.name if memory.current else "none"
    again = sum(bool(launching.relaunch_of) for launching in memory.launchings.values())
    out.print(f"  instance   {current}, relaunches {again}")
    out.print(f"  firing     {', '.join(clean(name) for name in firing) or 'nothing'}")
    out.print(f"  goes on    herorun babysit {run.slug}")
    sys.stdout.flush()


def show_status(told: Mapping[str, Any]) -> None:
    out = console()
    out.print(f"{told['slug']}: {told['stage']}", style="bold")
    if told["stage"] == "launched":
        out.print(f"  run        {told['run']}, {told['progress']}")
        out.print(f"  this look  {told['monitor']}")
        out.print(f"  babysitter {clean(told['babysitter'])}")
    for instance in told["instances"]:
        out.print(
            f"  instance   {instance['name']}, job {clean(instance['job'])}, since {_seconds(instance['started'])}"
        )
    if told["log"] and not told["sealed"]:
        out.print(f"  log        {clean(told['log'])}")
    for alert in told["alerts"]:
        out.print(
            f"  alert      {alert['state']} {alert['severity']} {alert['check']}: {clean(alert['message'])}"
        )
    for other in told["other"]:
        out.print(f"  other      {_other(other)}")
    for line in _orders(told):
        out.print(line)
    for doubt in told["unfinished"]:
        out.print(f"  unfinished {clean(doubt)}")
    if told["sealed"]:
        out.print(f"  sealed     {told['sealed']}")
    for doubt in told["doubts"]:
        out.print(f"  in doubt   {clean(doubt)}")
    pushed = "pushed" if told["pushed"] else "not pushed"
    out.print(f"  record     {told['record'] + ' (' + pushed + ')' if told['record'] else 'none yet'}")
    if told["next"]:
        out.print(f"  next       {told['next']}")


def _seconds(moment: str) -> str:
    """Nobody reads a millionth of a second."""
    return re.sub(r"\.\d+(?=Z$)", "", moment)


def _other(told: Mapping[str, str]) -> str:
    return f"{clean(told['name'])}, job {clean(told['job'])}, {told['state']}: {told['kind']}, not judged"


def _orders(told: Mapping[str, Any]) -> list[str]:
    """What people said: a pause, notes taken, and what is asked of them."""
    from herorun.core.judge import QUESTION

    lines = []
    if held := told["paused"]:
        lines.append(f"  paused     until {held['until']} by {clean(held['by'])}{_because(held['reason'])}")
    if told["stopped"]:
        lines.append(f"  stopped    through herorun, for {clean(told['stopped'])}")
    for noted in told["acked"]:
        lines.append(
            f"  noted      {clean(noted['alert'])} by {clean(noted['by'])}{_because(noted['reason'])}"
        )
    if told["answer"]:
        lines.append(f"  answer     {clean(told['answer'])}")
    if told["questions"]:
        judge = [key.split("/")[2] for key in told["questions"] if key.startswith(QUESTION)]
        other = [key.rpartition("/")[2] for key in told["questions"] if not key.startswith(QUESTION)]
        yes = f"herorun approve {told['slug']}"
        way = told["next"] if told["run"] == "down" and told["next"] else yes
        lines += [f"  asked      may herorun {clean(v)} act?: `{yes}`, or `deny`" for v in judge]
        kinds = ", ".join(clean(kind) for kind in other)
        lines += [f"  asked      relaunch? ({kinds}): `{way}`, or `deny`"] if other else []
    return lines


def _because(reason: str) -> str:
    return f": {clean(reason)}" if reason else ""


def check_json(check: Any) -> dict[str, Any]:
    """A check's page for programs."""
    from herorun.core.check import name_of

    return {
        "check": check.name,
        "gate": check.gate.value,
        "response": check.response.value,
        "severity": check.severity.value,
        "always": check.always,
        "problem": check.problem,
        "why": check.why,
        "fix": check.fix,
        "evidence": [name_of(need) for need in check.needs],
    }


def show_patrol(line: str, advice: Sequence[Any]) -> None:
    """One tick of a patrol: its line, then what applies; a result word for word, line by line."""
    print(clean(line))
    for each in advice:
        for part in each.words.splitlines():
            print(f"  {clean(part)}")
        if each.command:
            print(f"    {clean(each.command)}")
