"""`herorun trust`."""

from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument
from herorun.commands._output import propose_command

if TYPE_CHECKING:
    from herorun.operations.orders.trust import TrustQuestion


@click.command(short_help="Trust the programs that a contract runs on this machine.")
@click.argument("run", cls=RunArgument)
@click.option(
    "--yes",
    is_flag=True,
    help="Answer yes without asking, for scripts; the list is still printed.",
)
@click.option(
    "--reject",
    is_flag=True,
    help="Exclude the recorded launch that nothing proves: it is a forgery.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, yes: bool, reject: bool, as_json: bool) -> int:
    """Show what a contract makes this machine run, or send credentials to, and trust it if you
    answer yes.

    A program, an ssh or Slurm configuration, a server that gets a token, a [config] command:
    herorun uses none of them before you trust the repository with it, once for each repository and
    set of values. A contract with default values needs no trust.

    The answer is stored in your own folder, `$XDG_STATE_HOME/herorun/trust.json`, never in a
    repository. In CI, `HERORUN_TRUST=all` trusts every repository.

    A recorded launch that no published commit proves is shown as well: yes accepts it, --reject
    excludes it.

    Exit code 0: trusted, or there is nothing to trust. 3: the answer was no, or there is no
    terminal to ask on.

    \b
    Example:
      herorun trust grug
      herorun trust grug --yes
    """
    import sys
    from pathlib import Path

    from herorun import output
    from herorun.operations.orders.trust import accept, build_question, reject as leave_out

    questions = build_question(run, Path(start))
    if not as_json:
        lines = questions.lines(with_advice=not reject)
        output.show_line("\n".join(output.clean(line) for line in lines))
    outcome = "nothing"
    if reject and questions.can_reject:
        leave_out(questions)
        outcome = "rejected"
    elif reject:
        output.show_note("nothing was rejected: no entry of the record is known to be unproven.")
    elif not questions.nothing and (yes or _confirm_trust(as_json, questions, start)):
        accept(questions)
        outcome = "trusted"
    if as_json:
        output.show_json(questions.document(outcome))
    elif outcome != "nothing":
        effect = (
            " from the record, permanently; herorun stops no job that they started"
            if reject
            else ""
        )
        output.show_line(f"{questions.slug}: {outcome}{effect}")
    elif not questions.nothing and sys.stdin.isatty():
        output.show_line(f"{questions.slug}: not trusted")
    return 0 if outcome != "nothing" or questions.nothing else 3


def _confirm_trust(as_json: bool, questions: "TrustQuestion", start: str) -> bool:
    """Whether a person at a terminal answers yes; without a terminal, or with --json, the answer is
    no.
    """
    import sys

    from herorun import output

    if as_json or not sys.stdin.isatty():
        trust = propose_command(start, "trust", questions.slug)
        answers = f"`{trust} --yes` answers yes"
        if questions.launches:
            answers += f"; `{trust} --reject` excludes what is unproven, permanently"
        output.show_note(
            f"not trusted: herorun asks before it trusts them, which needs a terminal; {answers}."
        )
        return False
    return click.confirm("Trust it?", default=False)
