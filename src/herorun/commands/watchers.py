"""`herorun box watchers`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from herorun.system.process_registry import UnregisteredProcess

# texts for people, by the JSON's words
ACTIONS = {
    "retired": "it was asked to end",
    "forgotten": "its entry was removed",
    "could not be retired": "it could not be asked to end: `kill {pid}` ends it",
    "left alone: stop it yourself": "it is left alone (stop it yourself)",
}
WOULD = {
    **ACTIONS,
    "retired": "it would be asked to end",
    "forgotten": "its entry would be removed",
}


@click.command(short_help="List waits and babysitters of this machine; end stale waits.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(dry_run: bool, as_json: bool) -> int:
    """List the waits of this machine (`herorun box wait`) by process number and start, and this
    user's babysitters, job watches, ssh, scp and rsync by their command lines.

    A wait is stale when a newer one waits for its run, when it is past its own limit, and when its
    run is sealed: it is asked to end. All others are left alone. Timers are not listed: systemd and
    cron list their own.

    Exit code 0: listed. 1: a stale wait could not be asked to end.

    \b
    Example:
      herorun box watchers
    """
    from datetime import UTC, datetime

    from herorun import output
    from herorun.core.canonical_json import timestamp
    from herorun.operations.remote.watchers import reconcile, watchers_document
    from herorun.system.process_registry import others

    rows, unregistered_processes = reconcile(not dry_run), others()
    code = 1 if any(row.action == "could not be retired" for row in rows) else 0
    if as_json:
        output.show_json(watchers_document(rows, unregistered_processes))
        return code
    actions = WOULD if dry_run else ACTIONS
    for row in rows:
        each = row.watcher
        since = timestamp(datetime.fromtimestamp(int(each.started), UTC)) if each else ""
        who = (
            f"the wait of {each.run} for {each.what} (process {each.pid}, since {since})"
            if each
            else row.path.name
        )
        action = actions.get(row.action, row.action).format(pid=each.pid if each else "")
        why = f" ({row.why}), and {action}" if row.why else ""
        output.show_line(output.clean(f"{who} is {row.state}{why}"))
    for other in unregistered_processes:
        output.show_line(
            output.clean(
                f"`{other.command[:160]}` (process {other.pid}, {other.kind}) is left alone"
            )
        )
    if not rows:
        output.show_line(f"No `herorun box wait` runs here{_and_no_other(unregistered_processes)}.")
    return code


def _and_no_other(unregistered_processes: "list[UnregisteredProcess]") -> str:
    if any(each.kind != "transfer" for each in unregistered_processes):
        return ""
    return ", and no babysitter; `herorun box patrol RUN` inspects a run"
