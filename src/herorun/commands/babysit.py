"""`herorun babysit`."""

import click


@click.command(short_help="Watch runs, tell, relaunch and escalate under the contract.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--once", is_flag=True, help="One tick of each run, for cron; exit with its verdict.")
@click.option("--all", "every", is_flag=True, help="Every launched and unsealed run of this repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document a tick.")
@click.pass_obj
def command(start: str, runs: tuple[str, ...], once: bool, every: bool, as_json: bool) -> int:
    """Tick at the contract's cadence until the run is finished or sealed; `--once` for a single tick.

    Exit code 0: clear. 1: a critical alert fires, or the run is down. 3: the monitor is not fresh.

    \b
    Example:
      herorun babysit grug --once --json
      */15 * * * * cd ~/grug && herorun babysit grug --once
    """
    from pathlib import Path

    from herorun import screen
    from herorun.acts.babysitter import tick_once, watch
    from herorun.acts.turn import turn_code
    from herorun.core.errors import WrongUse
    from herorun.system.git import find_repository
    from herorun.workspace import watched_slugs

    names = [*runs, *(watched_slugs(find_repository(Path(start))) if every else [])]
    if not names:
        raise WrongUse(
            "Name a run, or say --all: `herorun babysit RUN`."
            if not every
            else "No run here is launched and unsealed."
        )
    if once:
        codes = []
        for name in names:
            run, turn = tick_once(name, Path(start))
            codes.append(turn_code(turn))
            if as_json:
                screen.show_json(turn.as_json())
            else:
                screen.show_turn(run.slug, turn)
        return next((code for code in (1, 3) if code in codes), 0)
    if len(names) > 1:
        raise WrongUse(
            "Several runs are watched with --once (as from cron), or each by its own `herorun babysit RUN`."
        )
    return watch(
        names[0],
        Path(start),
        lambda run, turn: screen.show_json(turn.as_json()) if as_json else screen.show_turn(run.slug, turn),
    )
