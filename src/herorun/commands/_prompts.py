"""Asks on a terminal for the missing options of a job without a contract."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from herorun import output
from herorun.core.adhoc_jobs.spec import OPTIONS, JobSpec
from herorun.core.errors import WrongUse
from herorun.job_kinds import job_kind, kinds, missing_options, must_be_id, resolve_spec


def stored_request(facts: JobSpec, start: Path) -> JobSpec:
    """Asks for every missing option, the scheduler first because the others depend on it; then for
    the command that submits the job again, which may stay empty.

    Without a terminal, and when the input ends, options stay missing: the caller reports them.
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
            must_be_id(facts.kind, facts.job)  # the id of the command line; it is not asked for
    asks = facts is not before or job_kind(facts.kind).asks_for_command
    return facts if facts.resubmit or not asks else replace(facts, resubmit=_resubmission())


def _resubmission() -> str:
    click.echo("resubmit command (empty: monitor only): ", err=True, nl=False)
    line = sys.stdin.readline()
    if not line:
        click.echo(err=True)
    return line.strip()


def _ask_field(field: str, facts: JobSpec, start: Path) -> JobSpec | None:
    """The facts with one more field, asked for until it is valid. None at the end of the input."""
    while True:
        click.echo(f"{_field_label(field, facts.kind)}: ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=True)
            return None
        if answer := line.strip():
            try:
                return _check_field(field, facts.having({field: answer}), start)
            except WrongUse as error:
                output.show_note(output.clean(str(error)))


def _field_label(field: str, kind: str) -> str:
    if field == "kind":
        return f"scheduler ({', '.join(kinds())})"
    if field == "job":
        return f"job ({job_kind(kind).id_form})"
    return {"config": "config, or the short name of the cluster"}.get(field, field)


def _check_field(field: str, facts: JobSpec, start: Path) -> JobSpec:
    if field == "kind":
        job_kind(facts.kind)
    elif field == "job":
        must_be_id(facts.kind, facts.job)
    elif field in ("config", "cluster"):
        return resolve_spec(facts, str(start))
    return facts
