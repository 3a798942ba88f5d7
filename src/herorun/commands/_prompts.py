"""Asks on a terminal for the missing options of a job without a contract."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from herorun import output
from herorun.core.adhoc_jobs.spec import OPTIONS, JobSpec
from herorun.core.errors import WrongUse
from herorun.job_kinds import job_kind, kinds, missing_options, must_be_id, resolved


def stored_request(facts: JobSpec, start: Path) -> JobSpec:
    """Every option that is missing, the scheduler first, since it says what else is needed; then
    the command that submits the job again, which may stay empty.

    As it was without a terminal, and where the input ends: who calls says then what is missing.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return facts
    fields = {option: name for name, option in OPTIONS.items()}
    before = facts
    while lacking := missing_options(facts):
        field = fields["--scheduler" if "--scheduler" in lacking else lacking[0]]
        answer = _ask_field(field, facts, start)
        if answer is None:
            return facts
        facts = answer
        if field == "kind" and facts.job:
            must_be_id(facts.kind, facts.job)  # given on the command line, which is not asked again
    asks = facts is not before or job_kind(facts.kind).asks_for_command
    return facts if facts.resubmit or not asks else replace(facts, resubmit=_resubmission())


def _resubmission() -> str:
    click.echo("resubmit command (empty: it is only watched): ", err=True, nl=False)
    return sys.stdin.readline().strip()


def _ask_field(field: str, facts: JobSpec, start: Path) -> JobSpec | None:
    """The facts with one more, asked for until it has its form. None at the end of the input."""
    while True:
        click.echo(f"{_field_label(field, facts.kind)}: ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=True)
            return None
        if answer := line.strip():
            try:
                return _checked(field, facts.having({field: answer}), start)
            except WrongUse as error:
                output.show_note(output.clean(str(error)))


def _field_label(field: str, kind: str) -> str:
    if field == "kind":
        return f"scheduler ({', '.join(kinds())})"
    if field == "job":
        return f"job ({job_kind(kind).id_form})"
    return {"config": "config, or the short name of the cluster"}.get(field, field)


def _checked(field: str, facts: JobSpec, start: Path) -> JobSpec:
    if field == "kind":
        job_kind(facts.kind)
    elif field == "job":
        must_be_id(facts.kind, facts.job)
    elif field in ("config", "cluster"):
        return resolved(facts, str(start))
    return facts
