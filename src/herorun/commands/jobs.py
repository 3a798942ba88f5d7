"""`herorun jobs`."""

from typing import TYPE_CHECKING

import click

from herorun.commands import SuggestingGroup

if TYPE_CHECKING:
    from herorun.operations.record.session import JobSession

_SESSION = click.option(
    "--session", metavar="ID", default="", help="The registry of another session."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group(
    cls=SuggestingGroup, short_help="Keep a list of submitted jobs: add, watch, remove, find."
)
def command() -> None:
    """Jobs that this session has submitted: `.claude/agents/<session>/active_jobs.json`.

    The session is CLAUDE_CODE_SESSION_ID, CODEX_THREAD_ID, or this terminal. Launches and
    relaunches add themselves if there is a session.

    \b
    Example:
      herorun jobs add slurm 4711 --host login --description "calibration"
      herorun jobs watch
    """


@command.command("list", short_help="List the registered jobs; queries nothing.")
@_SESSION
@_JSON
@click.pass_obj
def list_(start: str, session: str, as_json: bool) -> int:
    """The registered jobs, with their last known status; nothing is queried.

    Exit code 3: the registry is damaged; its complete entries are shown.

    \b
    Example:
      herorun jobs list
    """
    from herorun import output
    from herorun.operations.record.session import read_jobs
    from herorun.schemas.jobs import JobsList

    job_session = _session(start, session)
    entries, fault = read_jobs(job_session)
    if as_json:
        output.show_json(
            JobsList.of(job_session, session=job_session.id, jobs=entries, fault=fault)
        )
    elif not entries:
        output.show_line(
            f"No job is in the registry {job_session.file}. `herorun jobs find` lists jobs that "
            "you submitted; `herorun jobs add KIND ID` registers one."
        )
    else:
        from herorun.output.jobs import show_entries

        show_entries(entries)
    if fault:
        way_on = "if a job is missing here, add it again: `herorun jobs add KIND ID`"
        output.show_run_note(job_session.id, f"{fault}; {way_on}")
    return 3 if fault else 0


class KindCommand(click.Command):
    """A command whose help lists the kinds, for `KINDS`, when it is printed."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from herorun.commands._adhoc import id_kinds

        self.help = (self.help or "").replace("KINDS", id_kinds())
        super().format_help_text(ctx, formatter)


@command.command("add", cls=KindCommand, short_help="Register a job, and have it watched.")
@click.argument("kind", metavar="KIND")
@click.argument("job", metavar="ID")
@click.option("--host", default="", metavar="HOST", help="The login node, queried over ssh.")
@click.option("--user", default="", metavar="USER", help="The user there.")
@click.option("--description", default="", metavar="TEXT", help="What the job does.")
@click.option("--cluster", default="", metavar="NAME", help="The cluster, for Ray and Iris.")
@click.option(
    "--config", default="", metavar="PATH", help="The configuration file of an Iris cluster."
)
@click.option(
    "--log", default="", metavar="FILE", help="The job's log, if its scheduler does not report it."
)
@click.option("--no-watch", is_flag=True, help="Start no `jobs watch`.")
@_SESSION
@_JSON
@click.pass_obj
def add(
    start: str,
    /,
    kind: str,
    job: str,
    description: str,
    no_watch: bool,
    session: str,
    as_json: bool,
    **job_options: str,
) -> int:
    """Register a job, and make sure that one `jobs watch` of this session runs.

    TYPE is the job's scheduler: KINDS, or one that an installed package adds.

    \b
    Example:
      herorun jobs add nel 15be12f8 --description "MMLU-Pro of the quantized model"
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.adhoc_jobs.registry import describe_entry, entry_of
    from herorun.core.adhoc_jobs.spec import JobSpec
    from herorun.job_kinds import job_kind, must_be_id, resolve_spec
    from herorun.operations.jobs.paths import with_absolute_paths
    from herorun.operations.record.registry import ensure_watch, register
    from herorun.schemas.jobs import JobsAdd
    from herorun.system.clock import now

    must_be_id(kind, job)
    job_session = _session(start, session)
    facts = with_absolute_paths(
        resolve_spec(JobSpec.of({"job": job, "kind": kind, **job_options}), start), Path(start)
    )
    job_kind(kind).must_be_reachable(facts)
    place = {"cluster": facts.cluster, "config": facts.config, "log": facts.log}
    entry_fields = {**job_options, **place, "description": description}
    entry = entry_of(kind, facts.job, now(), (job_session.agent, job_session.id), entry_fields)
    register(job_session, entry)
    watch_text = "is not watched" if no_watch else ensure_watch(job_session, Path(start))
    way_on = "; `herorun jobs watch` watches it" if no_watch else ""
    if as_json:
        document = JobsAdd.of(
            job_session,
            session=job_session.id,
            job=entry,
            watched=not no_watch,
            watch=f"the list {watch_text}",
        )
        output.show_json(document)
    else:
        output.show_line(
            f"{describe_entry(entry)} is in the registry {job_session.file}, which {watch_text}"
            f"{way_on}."
        )
    return 0


@command.command("watch", short_help="Print state changes until the registry is empty.")
@click.option(
    "--once",
    is_flag=True,
    help="Query once; exit with 1 if a job failed, 3 if one could not be queried.",
)
@click.option(
    "--every",
    default="60s",
    metavar="DURATION",
    help="Time between two queries.",
    show_default=True,
)
@_SESSION
@_JSON
@click.pass_obj
def watch(start: str, once: bool, every: str, session: str, as_json: bool) -> int:
    """Print state changes only, until the registry is empty; one such watch per session.

    Ended jobs are removed with their results, failures with their root cause. Exit code 1: a job
    failed.

    \b
    Example:
      herorun jobs watch --once
    """
    from herorun import output
    from herorun.core.adhoc_jobs.registry import describe_entry
    from herorun.core.errors import WrongUse
    from herorun.core.time_options import seconds_of
    from herorun.operations.babysit.batch import worst
    from herorun.operations.jobs.watch import check_jobs, lines_of, watch_jobs
    from herorun.schemas.jobs import JobsWatch, WatchedJob

    job_session = _session(start, session)
    if as_json and not once:
        raise WrongUse("--json prints one document: say --once with it.")
    if not once:
        return watch_jobs(job_session, _print_line, seconds_of(every, "--every"))
    states, fault = check_jobs(job_session)
    if as_json:
        jobs = [
            WatchedJob.of(job, scheduler_state=job.word, type=job.entry["type"], id=job.entry["id"])
            for job in states
        ]
        output.show_json(JobsWatch(session=job_session.id, jobs=jobs, fault=fault))
    else:
        for line in lines_of(states):
            _print_line(line)
        for each in states:
            if each.state == "unknown" and not each.changed:
                output.show_run_note(describe_entry(each.entry), each.why)
    if fault:
        output.show_run_note(job_session.id, fault)
    return worst([3 if fault else 0, *(each.code for each in states)])


@command.command("remove")
@click.argument("job", metavar="ID")
@_SESSION
@_JSON
@click.pass_obj
def remove(start: str, job: str, session: str, as_json: bool) -> int:
    """Remove a job from the registry. The job itself continues.

    \b
    Example:
      herorun jobs remove 4711
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.adhoc_jobs.registry import key_of, without
    from herorun.operations.record.session import change_jobs, must_have, read_jobs
    from herorun.schemas.jobs import JobsRemove

    job_session = _session(start, session)
    removed_jobs = must_have(job_session, read_jobs(job_session)[0], job, Path(start))
    change_jobs(
        job_session, lambda entries: without(entries, [key_of(entry) for entry in removed_jobs])
    )
    if as_json:
        output.show_json(JobsRemove.of(job_session, session=job_session.id, removed=removed_jobs))
    else:
        output.show_line(f"{job} is no longer registered; the job itself was not stopped.")
    return 0


@command.command("find", short_help="Find jobs whose id you do not know.")
@click.option("--host", default="", metavar="HOST", help="The login node whose queue is read.")
@click.option("--user", default="", metavar="USER", help="The user there.")
@_SESSION
@_JSON
@click.pass_obj
def find(start: str, host: str, user: str, session: str, as_json: bool) -> int:
    """Find jobs whose id you do not know: in the registry, nel's runs of the last day, Slurm's
    queue, the newest experiments.

    Exit code 3: none of these places could be read.

    \b
    Example:
      herorun jobs find --host login
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.jobs.discover import find_jobs
    from herorun.schemas.jobs import JobsFind

    places = find_jobs(_session(start, session), Path(start), host, user)
    if as_json:
        output.show_json(JobsFind(places=places))
    else:
        from herorun.output.jobs import show_places

        show_places(places, host)
    return 3 if all(place.why for place in places) else 0


def _session(start: str, session: str) -> "JobSession":
    from pathlib import Path

    from herorun.operations.record.session import current_session

    return current_session(Path(start), session)


def _print_line(message: str) -> None:
    from herorun import output
    from herorun.system.clock import now

    output.show_line(f"{now():%Y-%m-%dT%H:%M:%SZ} {output.clean(message)}")
