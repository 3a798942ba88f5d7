"""`herorun box watchdog`."""

import click

from herorun.commands._options import only_run, runs_hint


@click.command(short_help="Check from another machine that a run is still monitored.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--all", "every", is_flag=True, help="Every run that has a contract or a record here."
)
@click.option("--comment", is_flag=True, help="Post it in the run's issue, once per outage.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, runs: tuple[str, ...], every: bool, comment: bool, as_json: bool) -> int:
    """Read the published record, and report `monitor stale` after two missed cadences.

    It needs a clone and no access to the job, so it can run on any other machine:
    templates/watchdog.yml is a schedule for GitHub Actions. It does not check the run itself. For a
    run that is sealed, has ended well, stays down, or was never launched it says `not-watched`.

    Exit code 0: monitored, or nothing to monitor. 1: a monitor is stale. 3: a record could not be
    read.

    \b
    Example:
      herorun box watchdog grug
      herorun box watchdog --all --comment
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.errors import HerorunError, WrongUse, describe_error
    from herorun.core.proposed_commands import elsewhere, in_tmux
    from herorun.core.redaction.scrub import scrub
    from herorun.operations.babysit.batch import worst
    from herorun.operations.babysit.watchdog import watch_run
    from herorun.runs import known_slugs
    from herorun.schemas.machines import WatchdogDocument, WatchedRun
    from herorun.system.git import find_repository

    if not runs and not every and (run := only_run(start)):
        runs = (run,)
    names = [*runs, *(known_slugs(find_repository(Path(start))) if every else [])]
    if not names and not every:
        raise WrongUse(f"Name a run, or say --all: `herorun box watchdog RUN`.{runs_hint(start)}")
    answers, codes = [], []
    for name in names:
        try:
            answers.append(watch_run(name, Path(start), comment, name in runs))
            codes.append(1 if answers[-1].monitor == "stale" else 0)
        except (HerorunError, OSError) as error:
            answers.append(
                WatchedRun(slug=name, monitor="unknown", why=scrub(describe_error(error)))
            )
            codes.append(error.exit_code if isinstance(error, HerorunError) else 3)
    if as_json:
        output.show_json(WatchdogDocument(runs=answers))
        return worst(codes)
    for each in answers:
        suffix = f" (posted: {each.issue_comment})" if each.issue_comment else ""
        output.show_line(f"{each.slug}: monitor {each.monitor}: {output.clean(each.why)}{suffix}")
        if each.monitor == "stale":
            output.show_line(
                f"  next: run {elsewhere(f'herorun status {each.slug}')} on the machine of its "
                "owner. If its babysitter runs but cannot push its record, restore the access to "
                "the remote, and take nothing over. If none runs there, start it there "
                f"{in_tmux(elsewhere(f'herorun babysit {each.slug}'))}. If that machine is gone, "
                f"choose one that reaches the output root; there, {elsewhere(each.takeover)}. "
                "`herorun handoff` watches the lease for two cadences before it takes the run over"
            )
    return worst(codes)
