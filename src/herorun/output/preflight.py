"""What a person decides a launch on: the plan, the request, and the findings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from herorun.core.canonical_json import plain
from herorun.core.finding import count
from herorun.core.gate_findings import FindingMark, GateVerdict
from herorun.core.plan import Retention
from herorun.core.redaction.scrub import scrub, scrub_argv, scrub_tree
from herorun.output import clean, hang, shorten_hashes, show_verdict
from herorun.output.candidates import show_candidates
from herorun.output.findings import mark_of, show_by_mode, show_next, what_blocks
from herorun.system import progress

MAX_VALUE_LENGTH = 240  # characters of a value where nothing says --verbose
MAX_LINES = 20  # of a request, where nothing says --verbose
# what runs, and where it reads and writes, is never abridged
UNCUT_ROWS = ("argv", "resume_argv", "env", "cwd", "start", "output_root", "temporary_root")


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
        else:
            _show_no_plan(out, slug, answer.why_no_plan, document["findings"])
        _show_people_and_size(out, answer)
        _show_changes(out, changes)
        show_candidates(out, document["checkpoints"])
        out.print()
    show_by_mode(out, slug, answer, document["findings"])
    if any(mark_of(finding) not in ("ok", "n/a") for finding in document["findings"]):
        out.print()
    # `clear` alone would be good news that the checks did not give
    title = "NOT ENFORCED" if answer.policy and answer.report.report_only_findings else ""
    show_verdict(out, document["verdict"], _describe_verdict(answer), title)
    clear = document["verdict"] == "clear"
    after = launch or f"herorun launch {slug}" if clear else ""
    choice = "fix what failed, or launch as it is" if title else ""
    if clear and (choice or answer.what_runs):
        hang(out, "", ": ".join(filter(None, (choice, answer.what_runs))))
    show_next(out, after or what_blocks(answer, again))


def _show_plan(out: Any, slug: str, answer: Any, submission: Mapping[str, Any]) -> None:
    from shlex import join

    digest = shorten_hashes(answer.plan.digest)
    show_table(out, f"Plan of {slug}", [*plan_rows(answer.plan), ("plan digest", digest)])
    plain_argv = [f"$ {join(submission['argv'])}"]
    request_lines = answer.request.splitlines() or plain_argv
    if request_lines == plain_argv and not progress.verbose:
        return  # the plan shows it
    out.print(f"\nSubmission of {answer.submission.instance}", style="bold")
    head, body = _head_and_body(request_lines)
    lines = [*head, *body] if progress.verbose else head[:MAX_LINES]
    for line in lines:
        out.print(f"  {clean(line)}")
    if left_out := len(head) + len(body) - len(lines):
        out.print(f"  and {count(left_out, 'line')} more: -v shows them", style="dim")


def _show_no_plan(out: Any, slug: str, why: str, findings: Sequence[Mapping[str, Any]]) -> None:
    """With the reason, unless a finding that is shown has it."""
    is_shown = any(why in each["message"] for each in findings if not each["caused_by"])
    reason = "; the findings say why" if is_shown else f": {clean(why)}"
    hang(out, f"No plan of {slug}", reason, "", "bold")


def _head_and_body(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Parts a request to a server: its address, and its JSON document, indented. Without --verbose
    the plan above shows what a person decides on.
    """
    if not lines[-1].startswith("{"):
        return lines, ()
    try:
        document = json.loads(lines[-1])
    except ValueError:
        return lines, ()
    return lines[:-1], json.dumps(document, indent=2, ensure_ascii=False).splitlines()


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
        text = clean(shorten_hashes(change))
        is_uncut = change.startswith(tuple(f"{name}{end}" for name in UNCUT_ROWS for end in ":."))
        hang(out, "  ", text if is_uncut else _shorten_text(text))


def _describe_verdict(answer: Any) -> str:
    """How many findings there are of each kind, and what only the mode keeps from blocking."""
    tally = str(answer.report.tally)
    if not answer.policy:
        return tally
    strict = answer.report.would_be.upper()
    if answer.verdict is GateVerdict.BLOCKED:
        number = answer.report.tally.marks.get(FindingMark.FAIL, 0)
        rest = f"{number} blocking"
        return f'{tally}; with [policy] mode "enforce" (it is "{answer.report.mode}"): {rest}'
    return f'{tally}; {strict} if [policy] mode were "enforce" (it is "{answer.report.mode}")'


def _shorten_text(text: str) -> str:
    left_out = len(text) - MAX_VALUE_LENGTH
    if progress.verbose or left_out <= 0:
        return text
    return f"{text[:MAX_VALUE_LENGTH]}... and {count(left_out, 'character')} more: -v shows them"


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
        if field.name not in UNCUT_ROWS:
            value = _shorten_text(shorten_hashes(value))
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
