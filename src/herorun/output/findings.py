"""Findings, and what to do about them."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from herorun.core.finding import NOT_READ, count, few
from herorun.core.gate_findings import GateVerdict
from herorun.output import clean, hang
from herorun.output.text_width import command_as_typed
from herorun.system import progress

MARKS = {  # a sign for the eye, a word for the reader, and a colour
    "ok": ("✓", "ok", "green"),
    "warn": ("!", "warn", "yellow"),
    "fail": ("✗", "fail", "red"),
    "lenient": ("!", "open", "yellow"),  # it does not block, unlike "fail"
    "waived": ("~", "waived", "cyan"),
    "unknown": ("?", "unknown", "yellow"),
    "n/a": ("-", "n/a", "dim"),
}
MAX_DETAILS = 10  # of one finding, where nothing says --verbose
MAX_NAMES = 6  # names of checks in one line
INDENT = " " * 10  # below the name of a finding


def show_findings(out: Any, findings: Sequence[Mapping[str, Any]]) -> None:
    """What was waived, then what is open, so that it stands next to the verdict: root causes, each
    once. With --verbose also what passed and what does not apply.
    """
    by_mark: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        by_mark.setdefault(mark_of(finding), []).append(finding)
    if progress.verbose:
        for finding in by_mark.get("ok", ()):
            _show_line(out, finding)
        if not_applicable := by_mark.get("n/a"):
            names = ", ".join(dict.fromkeys(finding["check"] for finding in not_applicable))
            hang(out, "- n/a     ", names, "dim", "dim")
    for finding in by_mark.get("waived", ()):
        _show_line(out, finding)
        _show_waiver(out, finding["waiver"])
    for mark in ("fail", "unknown", "lenient", "warn"):
        roots = [finding for finding in by_mark.get(mark, ()) if not finding["caused_by"]]
        roots.sort(key=lambda f: -len(_effects(f, findings)))
        for finding, following in zip_longest(roots, roots[1:]):
            is_last = following is None or _advice(finding) != _advice(following)
            _show_open(out, finding, _effects(finding, findings), with_fix=is_last)


def _advice(finding: Mapping[str, Any]) -> tuple[str, str]:
    """Findings of one check that need the same fix state it once, below the last."""
    return finding["check"], finding["fix"]


def mark_of(finding: Mapping[str, Any]) -> str:
    """A key of `MARKS`; `lenient` is a failure that `[policy] mode` does not enforce."""
    if finding["waiver"]:
        return "waived"
    if finding.get("lenient") and finding["outcome"] == "fail":
        return "lenient"
    outcome = str(finding["outcome"])
    mild = finding["response"] in ("warn", "info")
    return {"pass": "ok", "fail": "warn" if mild else "fail"}.get(outcome, outcome)


def _effects(
    cause: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    same = {"check": cause["check"], "subject": cause["subject"]}
    return [finding for finding in findings if finding["caused_by"] == same]


def _show_open(
    out: Any, finding: Mapping[str, Any], effects: Sequence[Mapping[str, Any]], *, with_fix: bool
) -> None:
    _show_line(out, finding)
    if (
        finding["outcome"] == "unknown" and effects
    ):  # the shared reason is what must be fixed, not this one check
        # all of them: each is a question without an answer
        _show_names(out, "unknown for the same reason", effects, len(effects))
        return
    _show_details(out, finding)
    _show_names(
        out, "this also causes", [effect for effect in effects if effect["outcome"] == "fail"]
    )
    _show_names(
        out,
        "not checked before this is fixed",
        [effect for effect in effects if effect["outcome"] == "unknown"],
    )
    if mark_of(finding) == "lenient":
        hang(out, INDENT, "not enforced, because of the contract's [policy] mode")
    if with_fix and not finding["message"].startswith(NOT_READ):
        hang(out, INDENT, f"{finding.get('fix_label', 'fix')}: {finding['fix']}")


def _show_details(out: Any, finding: Mapping[str, Any]) -> None:
    """Those that the message does not name; if it names some, they are its others."""
    details = [detail for detail in finding["details"] if detail not in finding["message"]]
    if details and len(details) < len(finding["details"]):
        out.print(f"{INDENT}the others:", style="dim")
    most = len(details) if progress.verbose else MAX_DETAILS
    for detail in details[:most]:
        hang(out, INDENT, clean(detail), "dim")
    if (left_out := len(details) - most) > 0:
        out.print(f"{INDENT}and {left_out} more: -v shows them", style="dim")


def _show_names(
    out: Any, title: str, findings: Sequence[Mapping[str, Any]], most: int = MAX_NAMES
) -> None:
    names = _list_check_names(findings)
    if names:
        hang(out, INDENT, f"{title}: {clean(few(names, most))}")


def _list_check_names(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Their checks; of one that is open for several subjects, also which."""
    by: dict[str, list[str]] = {}
    for finding in findings:
        by.setdefault(finding["check"], []).append(finding["subject"])
    return [f"{name} ({', '.join(of)})" if len(of) > 1 else name for name, of in by.items()]


def _show_line(out: Any, finding: Mapping[str, Any]) -> None:
    name = mark_of(finding)
    sign, word, colour = MARKS[name]
    text = f"{finding['check']:<28}{clean(finding['message'])}"
    hang(out, f"{sign} {word:<7} ", text, "dim" if name == "ok" else "", colour)


def _show_waiver(out: Any, waiver: Mapping[str, Any]) -> None:
    who, why = clean(waiver["approved_by"]), clean(waiver["reason"])
    hang(out, INDENT, f"waived, recorded as approved by {who}, until {waiver['expires']}: {why}")


_FINAL = frozenset({"sealed-run"})  # checks whose failure nothing can undo


def what_blocks(answer: Any, again: str) -> str:
    """What to do before the same command is typed `again`, and the command that explains the first
    finding that blocks; what could only not be checked has no such page.

    `again` has all that was typed: without its --adopt or --plan it would do something else.
    """
    if answer.verdict is GateVerdict.UNKNOWN:
        return f"once everything can be read, repeat: {again}"
    blocking = answer.report.blocking
    if not blocking:
        return ""
    if final := _FINAL.intersection(finding.check for finding in blocking):
        return f"herorun explain {min(final)}"
    return f"fix what failed, then repeat: {again}\nmore: herorun explain {blocking[0].check}"


def show_next(out: Any, command: str) -> None:
    """What to type next, if anything."""
    if command and not progress.quiet:
        # a person copies it whole
        out.print(f"next: {command_as_typed(command)}", style="dim", soft_wrap=True)


def show_by_mode(
    out: Any, slug: str, answer: Any, findings: Sequence[Mapping[str, Any]], label: str = "fix"
) -> None:
    """Findings of a launch gate; where `[policy] mode` is audit, one line stands for all that do
    not act. `label` stands before what fixes one.
    """
    if answer.report.mode != "audit":
        lenient = {
            (each.check, each.verdict.subject) for each in answer.report.report_only_findings
        }
        show_findings(
            out,
            [
                {**f, "lenient": (f["check"], f["subject"]) in lenient, "fix_label": label}
                for f in findings
            ],
        )
        return
    acting = answer.report.blocking
    show_findings(
        out,
        [
            entry
            for entry, finding in zip(
                answer.as_json()["findings"], answer.report.findings, strict=True
            )
            if finding in acting
        ],
    )
    every = len(answer.report.findings)
    counts = f"{count(every, 'check')}, not enforced: [policy] mode {answer.policy}"
    hang(out, "", f"{counts}. `herorun preflight {slug} --json` lists all.")
