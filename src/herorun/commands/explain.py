"""`herorun explain`."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from herorun.core.check import Check
    from herorun.core.check_text import CheckLine, CheckText
    from herorun.schemas.evaluations import CheckPage


@click.command(short_help="Show what a check looks for, why, and how to fix it.")
@click.argument("check", required=False)
@click.option("--list", "every", is_flag=True, help="Name every check, by gate.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(check: str | None, every: bool, as_json: bool) -> int:
    """Print a check's page.

    \b
    Example:
      herorun explain dirty-tree
    """
    from herorun import discover, output

    if every or check is None:
        return _show_list(as_json)
    if as_json:
        from herorun.schemas.evaluations import Explain

        pages = [_check_page(each) for each in discover.checks_named(check)]
        output.show_json(Explain(check=pages[0], checks=pages))
    else:
        texts = discover.check_texts(check)
        output.show_line("\n\n".join(_explain_check(text) for text in texts))
    return 0


def _show_list(as_json: bool) -> int:
    from herorun import discover, output
    from herorun.core.check import Gate

    if as_json:
        from herorun.schemas.evaluations import ExplainList

        output.show_json(ExplainList(checks=[_check_page(each) for each in discover.checks()]))
        return 0
    gates, lines = list(Gate), discover.check_lines()
    for each_check in sorted(lines, key=lambda each: (gates.index(each.gate), each.name)):
        click.echo(_list_line(each_check))
    return 0


def _explain_check(page: "Check | CheckText") -> str:
    """A check's page; several gates may have a check of this name."""
    always = ", in every [policy] mode" if page.always else ""
    return f"{page.name} ({page.gate} gate; response: {page.response}{always})\n\n{page.doc}"


def _check_page(check: "Check") -> "CheckPage":
    from herorun.core.check import name_of
    from herorun.schemas.evaluations import CheckPage

    evidence = [name_of(need) for need in check.needs]
    return CheckPage.of(check, check=check.name, evidence=evidence)


def _list_line(check: "Check | CheckLine") -> str:
    """One line if there is no terminal, as in a pipe; in a terminal the problem wraps below
    itself.
    """
    import sys
    from shutil import get_terminal_size
    from textwrap import fill

    head = f"{check.gate:<8} {check.name:<31} "
    if not sys.stdout.isatty():
        return head + check.problem
    width = max(get_terminal_size().columns, len(head) + 20)
    return fill(check.problem, width, initial_indent=head, subsequent_indent=" " * len(head))
