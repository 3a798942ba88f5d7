"""Findings, and the plan that they are about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from herorun.core.canonical_json import plain
from herorun.core.finding import count, few
from herorun.core.gate_verdict import GateVerdict
from herorun.core.plan import Retention
from herorun.core.redaction.scrub import scrub, scrub_argv, scrub_tree
from herorun.output import clean, hang, shortened, show_verdict
from herorun.output.candidates import show_candidates
from herorun.system import progress

MARKS = {  # a sign for the eye, a word for the reader, and a colour
    "ok": ("✓", "ok", "green"),
    "warn": ("!", "warn", "yellow"),
    "fail": ("✗", "fail", "red"),
    "lenient": ("!", "fail", "yellow"),
    "waived": ("~", "waived", "cyan"),
    "unknown": ("?", "unknown", "yellow"),
    "n/a": ("-", "n/a", "dim"),
}
LISTED = 6  # names of checks in one line
INDENT = " " * 10  # below the name of a finding
LONGEST = 240  # characters of a value, and lines of a request, where nothing says --verbose
MOST_LINES = 20
EXACT = ("argv", "resume_argv", "env")  # what runs is never abridged


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
        for finding in sorted(by_mark.get(mark, ()), key=lambda f: -len(_effects(f, findings))):
            if not finding["caused_by"]:
                _show_open(out, finding, _effects(finding, findings))


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


def _show_open(out: Any, finding: Mapping[str, Any], effects: Sequence[Mapping[str, Any]]) -> None:
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
        "not checked until then",
        [effect for effect in effects if effect["outcome"] == "unknown"],
    )
    if mark_of(finding) == "lenient":
        hang(out, INDENT, "NOT ENFORCED: only [policy] mode lets this pass")
    hang(out, INDENT, f"fix: {finding['fix']}")


def _show_details(out: Any, finding: Mapping[str, Any]) -> None:
    """Those that the message does not name; if it names some, they are its others."""
    details = [detail for detail in finding["details"] if detail not in finding["message"]]
    if details and len(details) < len(finding["details"]):
        out.print(f"{INDENT}and these:", style="dim")
    for detail in details[:10]:
        hang(out, INDENT, clean(detail), "dim")
    if len(details) > 10:
        out.print(f"{INDENT}and {len(details) - 10} more", style="dim")


def _show_names(
    out: Any, title: str, findings: Sequence[Mapping[str, Any]], most: int = LISTED
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


def show_preflight(
    out: Any,
    slug: str,
    answer: Any,
    launch: str = "",
    changes: Sequence[str] = (),
    again: str = "",
) -> None:
    """What a person decides on: the plan, what changed since the last instance, each finding that
    did not pass, and the counts. --verbose adds the rest of `operations.launch.preflight`'s answer.
    `launch` is the command that launches, where it needs more than the run; `again` is this one.
    """
    document = answer.as_json()
    if not progress.quiet:
        if answer.plan:
            _show_plan(out, slug, answer, document["submission"])
        _show_people_and_size(out, answer)
        _show_changes(out, changes)
        show_candidates(out, document["checkpoints"])
        out.print()
    show_by_mode(out, answer, document["findings"])
    if any(mark_of(finding) not in ("ok", "n/a") for finding in document["findings"]):
        out.print()
    # `clear` alone would be good news that the checks did not give
    title = "NOT ENFORCED" if answer.policy and answer.report.overlooked else ""
    show_verdict(out, document["verdict"], _describe_verdict(answer), title)
    clear = document["verdict"] == "clear"
    after = launch or f"herorun launch {slug}" if clear else ""
    if clear and title:
        what_runs = f": {answer.what_runs}" if answer.what_runs else ""
        hang(out, "", f"fix what failed, or launch as it is{what_runs}")
    show_next(out, after or what_blocks(answer, again))


def _show_plan(out: Any, slug: str, answer: Any, submission: Mapping[str, Any]) -> None:
    from shlex import join

    digest = shortened(answer.plan.digest)
    show_table(out, f"Plan of {slug}", [*plan_rows(answer.plan), ("plan digest", digest)])
    plain_argv = [f"$ {join(submission['argv'])}"]
    request_lines = answer.request.splitlines() or plain_argv
    if request_lines == plain_argv and not progress.verbose:
        return  # the plan shows it
    out.print(f"\nSubmission of {answer.submission.instance}", style="bold")
    most = len(request_lines) if progress.verbose else MOST_LINES
    for line in request_lines[:most]:
        out.print(f"  {clean(line)}")
    if len(request_lines) > most:
        out.print(
            f"  and {count(len(request_lines) - most, 'line')} more: -v shows them", style="dim"
        )


def _show_people_and_size(out: Any, answer: Any) -> None:
    """Without --verbose that an alert would reach nobody, and an estimate that says something or
    lacks the size, which decides what is checked.
    """
    people, estimate = answer.responsible, answer.estimate
    rows = [(name, scrub(text)) for name, text in people.rows()] if people else []
    if progress.verbose:
        if rows:
            show_table(out, "\nGoal and people", rows)
        show_table(out, "\nEstimate", estimate.rows())
        return
    rows = [row for row in rows if row[0] == "notifications" and people.notifies_nobody]
    if len(estimate.rows()) > 1 or not estimate.is_size_known:
        rows += estimate.rows()
    if rows:
        show_table(out, "\nNotifications and estimate", rows)


def _show_changes(out: Any, changes: Sequence[str]) -> None:
    if changes:
        out.print("\nChanged since the last instance", style="bold")
    for change in changes:
        hang(out, "  ", abridged(clean(shortened(change))))


def abridged(text: str) -> str:
    left_out = len(text) - LONGEST
    if progress.verbose or left_out <= 0:
        return text
    return f"{text[:LONGEST]}... and {count(left_out, 'character')} more: -v shows them"


def what_blocks(answer: Any, again: str) -> str:
    """What to do before the same command is typed `again`, and the command that explains the first
    finding that blocks; what could only not be checked has no such page.

    `again` has all that was typed: without its --adopt or --plan it would do something else.
    """
    if answer.verdict is GateVerdict.UNKNOWN:
        return f"once what did not answer is fixed, repeat: {again}"
    blocking = answer.report.blocking
    if not blocking:
        return ""
    return f"fix this, then repeat: {again}\nmore: herorun explain {blocking[0].check}"


def show_next(out: Any, command: str) -> None:
    """What to type next, if anything."""
    if command and not progress.quiet:
        out.print(f"next: {command}", style="dim", soft_wrap=True)  # a person copies it whole


def show_by_mode(out: Any, answer: Any, findings: Sequence[Mapping[str, Any]]) -> None:
    """Findings of a launch gate; where `[policy] mode` is audit, one line stands for all that do
    not act.
    """
    if answer.report.mode != "audit":
        lenient = {(each.check, each.verdict.subject) for each in answer.report.overlooked}
        show_findings(
            out, [{**f, "lenient": (f["check"], f["subject"]) in lenient} for f in findings]
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
    out.print(
        f"{count(every, 'finding')} recorded: [policy] mode {answer.policy}. --json has them."
    )


def _describe_verdict(answer: Any) -> str:
    """How many findings there are of each kind, and what only the mode keeps from blocking."""
    tally = str(answer.report.tally)
    if not answer.policy:
        return tally
    strict = answer.report.would_be.upper()
    return f'{tally}; {strict} if [policy] mode were "enforce" (it is "{answer.report.mode}")'


def plan_rows(plan: Any) -> list[tuple[str, str]]:
    """The plan for people: what was left unsaid is left out; what is inferred says so. --verbose
    says of all else where it is from.
    """
    rows = []
    for field in fields(plan):
        field_value = getattr(plan, field.name)
        if field.name == "config" or field_value.value in (None, (), {}, False):
            continue
        value = _show_value(field_value.value)
        if field.name == "env":
            value = ", ".join(f"{k}={v}" for k, v in scrub_tree(plain(field_value.value)).items())
        if field.name not in EXACT:
            value = abridged(shortened(value))
        if field_value.inferred:
            value += f" (inferred from {field_value.source})"
        elif progress.verbose:
            value += f" ({field_value.source})"
        rows.append((field.name, value))
    return rows


def _show_value(value: Any) -> str:
    return str(value) if isinstance(value, Retention) else _show_form(scrub_tree(plain(value)))


def _show_form(value: Any) -> str:
    form = plain(value)
    if isinstance(form, Mapping):
        pairs = [(k, _show_form(v)) for k, v in form.items() if v not in (None, {}, [])]
        return ", ".join(v if k == "options" else f"{k}={v}" for k, v in pairs)
    if isinstance(form, list):
        return " ".join(scrub_argv(tuple(str(part) for part in form)))
    return str(form)


def show_table(out: Any, title: str, rows: Iterable[tuple[str, str]]) -> None:
    out.print(title, style="bold")
    for name, value in rows:
        hang(out, f"  {name + ':':<20} ", clean(value))
