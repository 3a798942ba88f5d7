"""`herorun babysit --job`: the options that describe a job without a contract, and its
monitoring.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herorun.commands._options import Command
    from herorun.core.adhoc_jobs.spec import JobSpec
    from herorun.core.babysit.stop_condition import StopCondition
    from herorun.operations.babysit.outcome import TickOutcome
    from herorun.operations.jobs.run import JobRun


def id_kinds() -> str:
    """The schedulers whose jobs have an adapter by id: read from its folder, because an import of
    one would load the core for a page of help.
    """
    folder = Path(__file__).parent.parent / "schedulers" / "external"
    names = sorted(path.stem for path in folder.glob("[!_]*.py"))
    return ", ".join(names)


class KindOption(click.Option):
    """`--scheduler`; its help lists the kinds when it is printed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = f"The kind of the id: {id_kinds()}; a number with --host means ssh."
        return super().get_help_record(ctx)


ID_OPTIONS = (
    click.option("--job", metavar="ID", help=(
        "A job without a contract, by the id that "
        "its back end gave it."
    )),
    click.option("--scheduler", metavar="KIND", cls=KindOption),
    click.option("--cluster", metavar="NAME", help=(
        "The cluster, by its short name or, for Ray, "
        "its dashboard's address."
    )),
    click.option("--config", metavar="PATH", help="The configuration file of an Iris cluster."),
    click.option("--experiment", metavar="PATH", help="The experiment's script, for Ray."),
    click.option("--host", metavar="HOST", help="The login node or the machine, queried over ssh."),
    click.option("--user", metavar="USER", help="The user there."),
    click.option("--log", metavar="FILE", help="The job's log, if its scheduler does not report "
    "it."),
)  # fmt: skip
MONITOR_OPTIONS = (
    click.option("--resubmit", metavar="CMD", help=(
        "Command that submits the job again after a recoverable "
        "failure; it must return at once."
    )),
    click.option("--bad-node-zone", metavar="ZONE", help=(
        "Before a resubmission delete the machine "
        "of a bad TPU in this zone, with gcloud."
    )),
    click.option("--notify", metavar="NAMES", help=(
        "Variables with the addresses of channels "
        "to notify as well: SLACK,MAIL."
    )),
    click.option("--new-job", is_flag=True, help=(
        "Treat this id as a new job and "
        "ignore saved state."
    )),
    click.option("--every", metavar="DURATION", help=(
        "Time between two ticks of such a job; "
        "570s by default."
    )),
)  # fmt: skip


def with_job_options(command: "Command") -> "Command":
    for option in reversed((*ID_OPTIONS, *MONITOR_OPTIONS)):
        command = option(command)
    return command


def with_id_options(command: "Command") -> "Command":
    """Adds only the options that name the job."""
    for option in reversed(ID_OPTIONS):
        command = option(command)
    return command


def named_job(start: str, job_options: dict[str, str | None]) -> "JobRun":
    """The run of the job that the options name; nothing is written to its journal."""
    from herorun.core.errors import WrongUse
    from herorun.operations.jobs.run import open_job

    if not job_options.get("job"):
        raise WrongUse("Name a run, or a job without a contract by --job ID --scheduler KIND.")
    return open_job(_spec_from_options(Path(start), job_options))


def ordered_job(start: str, job_options: dict[str, str | None], exclusive: bool = True) -> "JobRun":
    """The job of a person's order, with its record created; options that are not given come from
    its state file.

    The order is refused if another machine monitors the job: that monitor would not see the order,
    and would undo it.
    """
    from herorun.core.errors import WrongUse
    from herorun.operations.jobs.babysit import ready

    if not job_options.get("job"):
        raise WrongUse("Name a run, or a job without a contract by --job ID --scheduler KIND.")
    return ready(_spec_from_options(Path(start), job_options), Path(start), exclusive=exclusive)[0]


def one_of_both(run: str | None, job_options: dict[str, str | None]) -> None:
    from herorun.core.errors import WrongUse

    if run and any(job_options.values()):
        raise WrongUse(
            "--job and what belongs to it name a job without a contract: do not name a run as well."
        )


def babysit_job(
    start: str, job_options: dict[str, str | None], once: bool, as_json: bool, until: str | None
) -> int:
    """Without a job option, the job of the newest state file; `WrongUse` without either."""
    from datetime import timedelta

    from herorun.core.babysit.stop_condition import StopCondition, parse_until
    from herorun.core.errors import WrongUse
    from herorun.core.time_options import seconds_of
    from herorun.operations.babysit.outcome import tick_exit_code
    from herorun.operations.jobs.babysit import ready, tick_job
    from herorun.operations.jobs.job_contract import CADENCE
    from herorun.system.clock import now

    every = job_options.pop("every", None)
    cadence = timedelta(seconds=seconds_of(every, "--every")) if every else CADENCE
    end = parse_until(until, now()) if until else StopCondition()
    new_job = bool(job_options.pop("new_job", None))
    if new_job and not job_options.get("job"):
        raise WrongUse("--new-job starts a new watch of a job: name it with --job and --scheduler.")
    spec = _spec_from_options(Path(start), job_options, new_job)
    run, notices = ready(spec, Path(start), cadence, new_job, exclusive=True)
    _show_start(run, notices, once, as_json)
    if once:
        tick = tick_job(run)
        _print_tick(run, tick, as_json, once=True)
        return tick_exit_code(tick)
    return _watch_job(run, end, new_job, as_json)


def _show_start(run: "JobRun", notices: "Iterable[str]", once: bool, as_json: bool) -> None:
    """Which files the monitoring uses, and when a resumed one ticks next."""
    from herorun import output
    from herorun.operations.record.heartbeat import next_due

    for notice in notices:
        output.show_run_note(run.facts.job, notice)
    if not as_json:
        output.show_line(f"{run.job_id}: state file {run.state_file}, journal {run.record.path}")
    due = next_due(run)
    if due is not None and not (once or as_json):
        output.show_line(f"{run.job_id}: resumed; next tick at {due:%Y-%m-%dT%H:%M:%SZ}")


def _watch_job(run: "JobRun", end: "StopCondition", new_job: bool, as_json: bool) -> int:
    """Tick until the job's terminal state or `end`."""
    from herorun import output
    from herorun.commands._restart import check_installation, restart_if_replaced
    from herorun.operations.jobs.babysit import watch_job
    from herorun.output.run_facts import format_steps
    from herorun.system.clock import now

    def report(run: "JobRun", tick: "TickOutcome") -> None:
        _print_tick(run, tick, as_json)
        if not as_json and end.is_reached(tick.step, now()):
            output.show_line(f"{run.job_id}: monitored until {end}: {format_steps(tick.progress)}")

    if new_job:  # a restart would run the same command, and treat the id as new again
        return watch_job(run, report, end)
    with restart_if_replaced():
        return watch_job(run, report, end, check_installation(end))


def show_job_status(start: str, job_options: dict[str, str | None], as_json: bool) -> int:
    """Shows the job's present state; writes nothing, and takes no action."""
    from herorun.core.errors import WrongUse
    from herorun.operations.babysit.outcome import tick_exit_code
    from herorun.operations.babysit.tick import poll
    from herorun.operations.jobs.run import open_job

    spec = _spec_from_options(Path(start), job_options)
    run = open_job(spec)
    if run.current is None:
        command = " ".join(["herorun babysit --job", spec.job, *spec.options])
        raise WrongUse(f"{spec.job} is not monitored from this machine: start with `{command}`.")
    tick = poll(run)
    _print_tick(run, tick, as_json, once=True)
    return tick_exit_code(tick)


def _print_tick(run: "JobRun", tick: "TickOutcome", as_json: bool, once: bool = False) -> None:
    import shlex

    from herorun import output
    from herorun.output.tick import show_tick
    from herorun.schemas.runs import BabysitJobDocument, JobCauseEntry

    if as_json:
        cause = JobCauseEntry.of(tick.cause) if tick.cause else None
        document = BabysitJobDocument.of(tick.entry(), job=run.job_id, slug=run.slug, cause=cause)
        output.show_json_line(document)
    else:
        job = run.job_id
        show_tick(
            job,
            tick,
            ack=shlex.join(["herorun", "ack", "--job", job]),
            once=once,
            job_by_instance={each.name: each.job for each in run.record.memory().instances},
        )
        if tick.cause is not None:
            output.hang(output.console(), "  cause    ", output.clean(str(tick.cause)))


def _spec_from_options(
    start: Path, job_options: dict[str, str | None], new_job: bool = False
) -> "JobSpec":
    """The stated options, merged into the recorded ones of that job; an absent option changes
    nothing.
    """
    from herorun.commands._prompts import stored_request
    from herorun.core.adhoc_jobs.spec import JobSpec
    from herorun.job_kinds import (
        must_be_complete,
        must_be_id,
        resolve_spec,
        with_command,
        with_kind,
    )
    from herorun.operations.jobs.paths import with_absolute_paths
    from herorun.operations.jobs.takeover import merge_specs, spec_on_record

    stated_options = {
        ("kind" if name == "scheduler" else name): value
        for name, value in job_options.items()
        if value is not None
    }
    if set(stated_options) <= {"resubmit", "notify", "bad_node_zone"}:
        return _load_resumed_spec(start, stated_options)
    named_spec = JobSpec.of({**stated_options, "cwd": str(start.resolve())})
    if named_spec.job and named_spec.kind:
        must_be_id(named_spec.kind, named_spec.job)
    named_spec = with_absolute_paths(resolve_spec(named_spec, str(start)), start)
    spec_before = spec_on_record(named_spec, start) if named_spec.job and not new_job else None
    facts = (
        merge_specs(spec_before, named_spec, stated_options, start) if spec_before else named_spec
    )
    if "resubmit" not in stated_options and (spec_before is None or spec_before.names_no_command):
        facts = with_command(facts)
    facts = stored_request(with_kind(resolve_spec(facts, str(start))), start)
    must_be_complete(facts)
    return with_absolute_paths(facts, start)


def _load_resumed_spec(start: Path, stated_options: dict[str, str]) -> "JobSpec":
    from herorun import output
    from herorun.core.adhoc_jobs.spec import JobSpec
    from herorun.core.errors import WrongUse
    from herorun.job_kinds import must_be_complete, with_command
    from herorun.operations.jobs.state_file import newest
    from herorun.operations.jobs.takeover import merge_specs

    newest_file = newest(start)
    if newest_file is None:
        raise WrongUse(
            "There is no state file in scratch/ to resume from: name the job with --job and "
            "--scheduler."
        )
    spec_before, path, faults = newest_file
    for fault in faults:
        output.show_run_note(spec_before.job, f"{fault}; {path} is used instead")
    named_spec = JobSpec.of({"job": spec_before.job, "kind": spec_before.kind, **stated_options})
    facts = merge_specs(spec_before, named_spec, stated_options, start)
    if "resubmit" not in stated_options and spec_before.names_no_command:
        facts = with_command(facts)
    must_be_complete(facts)
    return facts


def resumable(start: str) -> bool:
    """Whether there is a state file to resume from."""
    from herorun.core.adhoc_jobs.state_file import FOLDER, newest_first

    folder = Path(start) / FOLDER
    return folder.is_dir() and bool(newest_first(path.name for path in folder.iterdir()))
