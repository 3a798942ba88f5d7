"""`herorun logs`."""

import click

from herorun.commands._options import RunArgument

DOCUMENT_LINES = 10_000  # lines of one document, without --lines


@click.command(short_help="Print the log of a run's job, with --follow as it grows.")
@click.argument("run", cls=RunArgument)
@click.option("-f", "--follow", is_flag=True, help="Follow the log until the job ends.")
@click.option(
    "--instance", metavar="NAME", help="An instance, by its name or number; by default the newest."
)
@click.option("-n", "--lines", type=click.IntRange(0), metavar="N", help="Only the newest N lines.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(
    start: str, run: str, follow: bool, instance: str | None, lines: int | None, as_json: bool
) -> int:
    """Print the log of a run's job, for every kind of scheduler.

    Secrets are masked and control characters replaced. With --follow a rotated or replaced log is
    read from its start, a lost connection is retried, and Ctrl-C ends it (exit code 130). With
    --json the newest 10,000 lines are one document, and with --follow each part is one, on its own
    line.

    \b
    Example:
      herorun logs grug -n 100
      herorun logs grug -f
      herorun logs grug --instance 1 | grep loss
    """
    from pathlib import Path

    from herorun import output
    from herorun.operations.report.logs import follow_log, instance_of, read_log
    from herorun.runs import watched_run
    from herorun.schemas.runs import LogsDocument

    monitored_run, _ = watched_run(run, Path(start))
    instance_log = instance_of(monitored_run, instance)
    if as_json and not follow:
        text = "".join(
            read_log(
                monitored_run.scheduler,
                instance_log,
                DOCUMENT_LINES if lines is None else lines,
            )
        )
        output.show_json(
            LogsDocument(slug=monitored_run.slug, instance=instance_log.name, text=text)
        )
        return 0
    if not follow:
        for text in read_log(monitored_run.scheduler, instance_log, lines):
            click.echo(text, nl=False)
        return 0
    for text in follow_log(
        monitored_run.scheduler,
        instance_log,
        lines,
        lambda message: output.show_run_note(monitored_run.slug, message),
    ):
        if text and as_json:
            document = LogsDocument(slug=monitored_run.slug, instance=instance_log.name, text=text)
            output.show_json_line(document)
        elif text:
            click.echo(text, nl=False)
    return 0
