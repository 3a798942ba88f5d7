"""`herorun doctor`."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herorun.core.doctor_report import DoctorPart

MAX_NAME = 34  # columns of a part's name, behind which its message begins


@click.command(short_help="Check what a run depends on: programs, access, services.")
@click.argument("run", required=False)
@click.option(
    "--send-test", is_flag=True, help="Also send one test message to each notification channel."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str | None, send_test: bool, as_json: bool) -> int:
    """Test git, tokens and keys, back ends, log patterns, disks and the clock.

    It only reads; with --send-test it also sends one message to each channel that [notify] names.
    Without RUN it tests everything that the contracts in runs/ name.

    Exit code 0: no problem found on this machine. 1: something is broken. 3: something could not be
    checked.

    \b
    Example:
      herorun doctor grug
      herorun doctor grug --send-test
      herorun doctor --json
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.doctor_report import EXIT_CODES, verdict
    from herorun.operations.doctor.doctor import examine
    from herorun.schemas.machines import Doctor

    parts = examine(run, Path(start), send_test)
    fit = verdict(parts)
    if as_json:
        output.show_json(Doctor(verdict=fit, parts=parts))
    else:
        _show(parts)
    return EXIT_CODES[fit]


def _show(parts: "Sequence[DoctorPart]") -> None:
    from herorun import output
    from herorun.core.doctor_report import Fit
    from herorun.system import progress

    marks = {
        Fit.OK: ("✓ ok     ", "green"),
        Fit.FAILED: ("✗ fail   ", "red"),
        Fit.UNKNOWN: ("? unknown", "yellow"),
        Fit.SKIPPED: ("- skipped", "dim"),
    }
    out = output.console()
    make_safe = output.clean if output.is_piped() else output.clean_lines
    for part in parts:
        mark, colour = marks[part.status]
        if part.status in (Fit.OK, Fit.SKIPPED) and progress.quiet:
            continue
        name = f"{part.group}: {output.clean(part.name)}"
        head, message = f"{mark} {name:<{MAX_NAME}} ", make_safe(part.message)
        if len(name) > MAX_NAME:  # a long path: it wraps like any text
            head, message = f"{mark} ", f"{name}: {message}"
        output.hang(out, head, message, "", colour)
        if part.fix:
            output.hang(out, "    ", f"fix: {output.clean(part.fix)}")
    count = {fit: sum(part.status is fit for part in parts) for fit in Fit}
    summary = f"{count[Fit.OK]} ok, {count[Fit.FAILED]} failed, {count[Fit.UNKNOWN]} unknown"
    summary += f", {count[Fit.SKIPPED]} skipped" if count[Fit.SKIPPED] else ""
    out.print(summary, style="bold")
    _show_next(out, count[Fit.FAILED], count[Fit.UNKNOWN])


def _show_next(out: Any, failures: int, unknowns: int) -> None:
    from herorun.commands._output import repeat_typed_command
    from herorun.output.findings import show_next

    again = repeat_typed_command()
    if failures:
        show_next(out, f"fix what failed, then repeat: {again}")
    elif unknowns:
        show_next(out, f"once what is unknown can be checked, repeat: {again}")
