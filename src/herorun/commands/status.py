"""`herorun status`."""

import click


@click.command(short_help="Show how a run stands; changes nothing.")
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Every run of this repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str | None, every: bool, as_json: bool) -> int:
    """Look at the job, its metrics and its record, and show them. Nothing is journalled and nobody is told.

    Without RUN it shows every run; one that cannot be read has "error", and does not stop the others.

    \b
    Example:
      herorun status grug
      herorun status --all --json
    """
    from pathlib import Path

    from herorun import screen
    from herorun.acts.looks import Looks
    from herorun.acts.many import each, worst
    from herorun.acts.status import status_of
    from herorun.system.git import find_repository
    from herorun.workspace import known_slugs

    if run is not None and not every:
        told = status_of(run, Path(start))
        screen.show_json(told) if as_json else screen.show_status(told)
        return 0
    names = list(known_slugs(find_repository(Path(start))))
    looks = Looks().expect(names, Path(start))
    answers = list(each(names, lambda name: status_of(name, Path(start), looks)))
    for answer in answers:
        if answer.value is None:
            screen.say(answer.slug, answer.error)
        elif not as_json:
            screen.show_status(answer.value)
    if as_json:
        screen.show_json({"runs": [answer.value or answer.as_json() for answer in answers]})
    elif not answers:
        click.echo("No run here yet: `herorun init RUN` begins one.")
    return worst(answer.code for answer in answers)
