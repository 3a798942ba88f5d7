"""`herorun init`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument
from herorun.commands._output import propose_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herorun.operations.record.contract_template import ContractDraft
    from herorun.runs import Run
    from herorun.schemas.runs import Init


@click.command(short_help="Write a contract; called again, create record and issue.")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Without a contract: write one from the template and stop. With one: create the record and the
    issue.

    RUN is a slug, which names runs/<slug>.toml, or a path. A [config] command is run twice, and the
    keys that differ are named. Defaults for a new contract can be set in pyproject.toml, under
    [tool.herorun.init]: dri, output_root, scheduler, tracker, entity, project, issue, repo.

    \b
    Example:
      herorun init grug          # writes runs/grug.toml: fill it in, commit and push it
      herorun init grug          # begins the logbook and the issue, and links both
    """
    from herorun import output
    from herorun.operations.record.contract_template import draft_of, may_be_contract
    from herorun.runs import contract_path, open_run
    from herorun.system.files import create_atomic
    from herorun.system.git import find_repository

    folder = Path(start)
    path = contract_path(find_repository(folder), run, folder)
    may_be_contract(path)
    draft = draft_of(folder, path.stem)
    if path.exists():
        loaded_run = open_run(run, folder)
        document = _create_record(loaded_run, path, draft)
        choices: tuple[str, ...] = ()
        follow_up = "preflight" if document.created else "status"
        if document.warning and loaded_run.record.remote:
            follow_up = "init"  # until the record is pushed, no launch is possible
        follow_up = propose_command(start, follow_up, run)
        next_step = f"next: `{follow_up}`"
    else:
        create_atomic(path, draft.text.encode())
        document, choices = _describe_draft(path), draft.choices
        repeat = f"`{propose_command(start, 'init', run)}` creates the record"
        next_step = f"Fill in the file, commit and push it; then {repeat}."
    if as_json:
        output.show_json(document)
    else:
        _show_contract(document, choices, propose_command(start, "init", run), next_step)
    return 0


def _describe_draft(path: Path) -> "Init":
    """Writes a contract for people to fill in."""
    from herorun.schemas.runs import Init

    return Init(
        slug=path.stem,
        contract=str(path),
        logbook=None,
        issue=None,
        record=None,
        warning="",
        unstable_keys=(),
        advice="",
        created=(str(path),),
        adopted=(),
    )


def _create_record(run: "Run", path: Path, draft: "ContractDraft") -> "Init":
    """Creates the record and the issue of a completed contract."""
    from herorun.operations.launch.config_stability import advise_unstable_keys
    from herorun.operations.record.contract_template import must_be_filled_in
    from herorun.operations.record.init import initialise
    from herorun.schemas.runs import Init

    must_be_filled_in(run, path, draft)
    keys, advice = advise_unstable_keys(run)
    outcome = initialise(run)
    return Init(
        slug=run.slug,
        contract=str(path),
        logbook=run.record.logbook_path,
        branch=run.record.branch,
        issue=outcome.issue,
        record=run.record.tip,
        warning=outcome.warning,
        unstable_keys=keys,
        advice=advice,
        created=outcome.created,
        adopted=outcome.adopted,
    )


def _show_contract(document: "Init", choices: "Iterable[str]", again: str, next_step: str) -> None:
    from herorun.output import show_line, show_note
    from herorun.system import progress

    for name in document.created:
        show_line(f"created {name}")
    for choice in choices:
        show_line(choice)
    for name in document.adopted:
        show_line(f"adopted {name}")
    if not document.created:
        show_line(
            f"{document.slug} is initialised already: logbook {document.logbook}, issue "
            f"{document.issue}"
        )
    if document.warning:
        way_on = f"`{again}` pushes it once the remote accepts it"
        show_note(f"the record is not pushed: {document.warning}; {way_on}.")
    if document.advice:
        show_note(document.advice)
    if not progress.quiet:
        show_line(next_step)
