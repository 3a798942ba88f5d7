"""`herorun babysit`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._adhoc import babysit_job, resumable, with_job_options
from herorun.commands._options import only_run, runs_hint

if TYPE_CHECKING:
    from collections.abc import Callable

    from herorun.core.babysit.shard import Shard
    from herorun.core.babysit.stop_condition import StopCondition
    from herorun.operations.babysit.outcome import TickOutcome
    from herorun.runs import Run


@click.command(short_help="Monitor runs; alert, relaunch, escalate as the contract says.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--once", is_flag=True, help="One tick of each run, for cron; exit with its verdict.")
@click.option(
    "--all", "every_run", is_flag=True, help="Every launched and unsealed run of this repository."
)
@click.option(
    "--shard",
    metavar="K/N",
    help="With --all: only the K-th of N shards, so that N processes share the runs.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document; without --once one a tick, each on one line (JSON Lines).",
)
@click.option(
    "--until",
    "until",
    metavar="step=N|time=T",
    help="Stop at this point and print a summary; T is a time with its zone, or a duration.",
)
@with_job_options
@click.pass_obj
def command(
    start: str,
    /,
    runs: tuple[str, ...],
    once: bool,
    every_run: bool,
    shard: str | None,
    as_json: bool,
    until: str | None,
    **job_options: str | None,
) -> int:
    """Tick at the contract's cadence until the run is over; `--once` for a single tick.

    A run is over when it is sealed, has ended well, or is down and acknowledged (`ack`, `deny`,
    `stop`). Ticks are more frequent after a start, after a relaunch, and while a critical alert is
    open. A restarted loop keeps the previous schedule.

    Several runs share one process with a thread each, so a slow run does not delay the others. If
    monitoring of one ends unexpectedly, it restarts after a pause of up to a minute; a run without
    a tick for two cadences is a critical alert. --all also includes runs that are launched or
    relaunched later; --shard 2/5 takes the second of five shares of them, by the name of the run.
    With --once the runs are checked one after another and their records pushed together; one that
    cannot be read does not stop the others. For several runs, or with --all, --once prints
    {"schema": 1, "runs": [{"slug", ...}]}, and a run that failed has "error".

    For a job without a contract use `--job ID --scheduler KIND` and the options that its scheduler
    needs. It is monitored until its terminal state or `--until`; its state file is
    `scratch/<time>_monitoring_state.json`, and with no arguments the newest one is resumed. With
    `--resubmit`, a failed job that a relaunch can cure is submitted again, once per end.

    Exit code 0: clear. 1: the run is down, or a critical alert about it fires. 3: the monitor is
    stale, the only critical alerts are about the monitor, or nothing proves yet that the run trains
    ("missing_evidence" says what must still arrive, and by when). For several runs the worst
    counts: 1, then 3, then 2.

    \b
    Example:
      herorun babysit grug --once --json
      herorun babysit grug --until step=5000
      herorun babysit --job /dlwh/tiny-1 --scheduler iris --cluster marin
      */15 * * * * cd ~/grug && herorun babysit --all --once
    """
    from pathlib import Path

    from herorun.core.babysit.shard import parse_shard
    from herorun.core.errors import WrongUse
    from herorun.operations.babysit.batch import slugs_to_watch
    from herorun.system import progress
    from herorun.system.git import find_repository

    if not as_json:
        progress.show_ticks()
    if once and until:
        raise WrongUse("--once makes one tick: use it or --until, not both.")
    if any(job_options.values()) or (not runs and not every_run and resumable(start)):
        if runs or every_run:
            raise WrongUse(
                "--job and its options are for a job without a contract: do not name a run."
            )
        return babysit_job(start, job_options, once, as_json, until)
    if not runs and not every_run and (run := only_run(start)):
        runs = (run,)
    if shard and not every_run:
        raise WrongUse("--shard is a share of all runs: say --all too.")
    share = parse_shard(shard or "1/1") if every_run else None
    every = slugs_to_watch(find_repository(Path(start))) if share else []
    names = [*runs, *(slug for slug in every if share and share.has(slug))]
    if not names:
        raise WrongUse(
            (
                f"Name a run, or say --all: `herorun babysit RUN`.{runs_hint(start)} For a job "
                "without a contract say --job and --scheduler."
            )
            if not every_run
            else f"No run {f'of shard {share} ' if every else ''}is launched and unsealed here."
        )
    if once:
        return (
            _several(names, start, as_json)
            if every_run or len(names) > 1
            else _tick_one(names[0], start, as_json)
        )
    return _watch(names, start, as_json, until, share)


def _tick_one(name: str, start: str, as_json: bool) -> int:
    from pathlib import Path

    from herorun import output
    from herorun.operations.babysit.loop import tick_once
    from herorun.operations.babysit.outcome import tick_exit_code
    from herorun.output.tick import show_tick

    run, tick = tick_once(name, Path(start))
    if as_json:
        from herorun.operations.report.record_facts import document_of

        output.show_json(document_of(tick))
    else:
        show_tick(run.slug, tick, once=True)
    return tick_exit_code(tick)


def _several(names: list[str], start: str, as_json: bool) -> int:
    from pathlib import Path

    from herorun import output
    from herorun.operations.babysit.batch import worst
    from herorun.operations.babysit.fleet import tick_each
    from herorun.operations.babysit.outcome import tick_exit_code
    from herorun.operations.report.record_facts import document_of
    from herorun.output.tick import show_tick
    from herorun.schemas.status import BabysitAll

    codes, documents = [], []
    for answer in tick_each(names, Path(start)):
        tick = answer.value
        codes.append(tick_exit_code(tick) if tick else answer.code)
        documents.append(document_of(tick, slug=answer.slug) if tick else answer.unread_entry)
        if tick is None:
            output.show_run_note(answer.slug, answer.error)
        elif not as_json:
            show_tick(answer.slug, tick, once=True)
    if as_json:
        output.show_json(BabysitAll(runs=documents))
    return worst(codes)


def _watch(
    names: list[str], start: str, as_json: bool, until: str | None, shard: "Shard | None"
) -> int:
    from pathlib import Path

    from herorun.commands._restart import check_installation, restart_if_replaced
    from herorun.core.babysit.stop_condition import StopCondition, parse_until
    from herorun.operations.babysit.batch import worst
    from herorun.operations.babysit.fleet import watch_all
    from herorun.operations.babysit.loop import watch
    from herorun.runs import watched_run
    from herorun.system.clock import now

    end = parse_until(until, now()) if until else StopCondition()
    report = _tick_printer(end, as_json)
    same = check_installation(end)
    if len(names) == 1 and not shard:
        with restart_if_replaced():
            return watch(
                names[0], Path(start), report, end, open_monitored=watched_run, before_tick=same
            )
    report_unread = _unread_printer(as_json)
    with restart_if_replaced():
        exit_codes = watch_all(
            names,
            Path(start),
            report,
            on_alarm=report_unread,
            until=end,
            shard=shard,
            before_poll=same,
        )
        return worst(exit_codes)


def _tick_printer(end: "StopCondition", as_json: bool) -> "Callable[[Run, TickOutcome], None]":
    """Prints each tick, and a summary at the end."""
    from herorun import output
    from herorun.operations.report.record_facts import document_of
    from herorun.output.tick import show_summary, show_tick
    from herorun.system.clock import now

    def report(run: "Run", tick: "TickOutcome") -> None:
        if as_json:
            output.show_json_line(document_of(tick, slug=run.slug))
        else:
            show_tick(run.slug, tick)
            if end.is_reached(tick.step, now()):
                show_summary(run, tick, str(end))

    return report


def _unread_printer(as_json: bool) -> "Callable[[str, str], None]":
    """Prints why a run could not be read."""
    from herorun import output
    from herorun.schemas.status import UnreadDocument

    def report_unread(slug: str, message: str) -> None:
        output.show_run_note(slug, message)
        if as_json:
            output.show_json_line(UnreadDocument(slug=slug, error=message))

    return report_unread
