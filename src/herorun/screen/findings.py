"""Findings, and the plan that they are about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from herorun.core.canonical import plain
from herorun.core.scrub import scrub_argv, scrub_tree
from herorun.screen import clean, show_verdict
from herorun.system import voice

MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "unknown": ("?", "yellow"), "n/a": ("-", "dim")}
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
                out.print(f"    and so, for the same reason: {clean(_whose(alike[1:]))}")


def _one_reason(findings: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The unknown findings that one and the same reason explains: what would mend each is beside the point."""
    by: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        if finding["outcome"] == "unknown" and not finding["waiver"]:
            reason = finding["message"].removeprefix(f"{finding['subject']}: ")
            by.setdefault(reason, []).append(finding)
    return [alike for alike in by.values() if len(alike) > 1]


def _whose(findings: Sequence[Mapping[str, Any]]) -> str:
    """Their checks; of one that is blind to several things, also which."""
    by: dict[str, list[str]] = {}
    for finding in findings:
        by.setdefault(finding["check"], []).append(finding["subject"])
    return ", ".join(f"{name} ({', '.join(of)})" if len(of) > 1 else name for name, of in by.items())


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
