"""`herorun init`."""

import click

from herorun.commands._options import RunArgument


@click.command(short_help="Write a contract; with one, create the record and the issue.")
@click.argument("run", cls=RunArgument)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, as_json: bool) -> int:
    """Without a contract: write one from the template and stop. With one: create the record and the issue.

    RUN is a slug, which names runs/<slug>.toml, or a path. A [config] command is run twice, and the keys that
    differ are named. Defaults for a new contract can be set in pyproject.toml, under [tool.herorun.init]: dri,
    output_root, scheduler, tracker, entity, project, issue, repo.

    \b
    Example:
      herorun init grug          # writes runs/grug.toml: fill it in, commit and push it
      herorun init grug          # begins the logbook and the issue, and links both
    """
    from pathlib import Path
    from typing import Any

    from herorun import output
    from herorun.core.contract import SLUG
    from herorun.core.errors import WrongUse
    from herorun.operations.launch.config_stability import advised
    from herorun.operations.record.contract_template import drafted, with_command
    from herorun.operations.record.init import initialise
    from herorun.operations.record.script_search import find_command
    from herorun.runs import LARGEST_CONTRACT, contract_path, open_run, template
    from herorun.schemas.runs import Init
    from herorun.system.files import create_atomic, read_regular
    from herorun.system.git import find_repository
    from herorun.system.project_config import read_settings

    path = contract_path(find_repository(Path(start)), run, Path(start))
    document: dict[str, Any] = {
        "slug": path.stem,
        "contract": str(path),
        "logbook": None,
        "issue": None,
        "record": None,
        "warning": "",
        "unstable_keys": [],
        "advice": "",
    }
    if not path.exists() and not SLUG.fullmatch(path.stem):
        raise WrongUse(
            f"{path.stem!r} is no slug: use a-z, 0-9 and -, at most 48, beginning with a letter "
            "or digit."
        )
    if path.is_symlink() and not path.exists():
        raise WrongUse(f"{path} is a symbolic link that leads to no file: remove it first.")
    command_draft = find_command(find_repository(Path(start)))
    draft = with_command(
        drafted(template("run.toml"), read_settings(Path(start)).init), command_draft
    )
    draft = draft.replace("$slug", path.stem)
    choices: list[str] = []
    if not path.exists():
        choices = command_draft.lines()
        create_atomic(path, draft.encode())
        created: tuple[str, ...] = (str(path),)
        adopted: tuple[str, ...] = ()
        next_step = f"Fill it in, commit this file and push it; then `herorun init {run}` again."
    else:
        opened = open_run(run, Path(start))
        if (
            read_regular(path, LARGEST_CONTRACT).decode() == draft
            and opened.record.tip is None
            and opened.file.committed is None
        ):
            raise WrongUse(
                f"{path} is still as it was written: fill it in, commit and push it first."
            )
        keys, advice = advised(opened)
        outcome = initialise(opened)
        created, adopted = outcome.created, outcome.adopted
        next_step = f"Next: `herorun preflight {run}`."
        document |= {
            "slug": opened.slug,
            "logbook": opened.record.logbook_path,
            "branch": opened.record.branch,
            "issue": outcome.issue,
            "record": opened.record.tip,
            "warning": outcome.warning,
            "unstable_keys": keys,
            "advice": advice,
        }
    if as_json:
        output.show_json(Init(**document, created=created, adopted=adopted))
        return 0
    for name in created:
        output.show_line(f"created {name}")
    for choice in choices:
        output.show_line(choice)
    for name in adopted:
        output.show_line(f"adopted {name}")
    if not created:
        output.show_line(
            f"{document['slug']} is initialised already: logbook {document['logbook']}, issue "
            f"{document['issue']}"
        )
    if document["warning"]:
        output.show_note(f"the record is not pushed: {document['warning']}")
    if document["advice"]:
        output.show_note(document["advice"])
    output.show_line(next_step)
    return 0
