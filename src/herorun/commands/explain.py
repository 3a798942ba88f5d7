"""`herorun explain`."""

import click


@click.command(short_help="Say what a check asks, why, and how to mend it.")
@click.argument("check", required=False)
@click.option("--list", "every", is_flag=True, help="Name every check, by gate.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(check: str | None, every: bool, as_json: bool) -> int:
    """Print a check's page.

    \b
    Example:
      herorun explain dirty-tree
    """
    from difflib import get_close_matches

    from herorun import discover, screen
    from herorun.core.check import Gate
    from herorun.core.errors import WrongUse

    known = {found.name: found for found in discover.checks()}
    if every or check is None:
        if as_json:
            screen.show_json({"checks": [screen.check_json(found) for found in known.values()]})
        else:
            gates = list(Gate)
            for found in sorted(known.values(), key=lambda c: (gates.index(c.gate), c.name)):
                click.echo(f"{found.gate:<8} {found.name:<30} {found.problem}")
        return 0
    if check not in known:
        near = get_close_matches(check, known, 1)
        raise WrongUse(
            f"There is no check called {check!r}.{f' Did you mean {near[0]}?' if near else ''} `herorun explain --list` names them."
        )
    found = known[check]
    if as_json:
        screen.show_json({"check": screen.check_json(found)})
    else:
        click.echo(f"{found.name} (gate {found.gate}, {found.response})\n\n{found.doc}")
    return 0
