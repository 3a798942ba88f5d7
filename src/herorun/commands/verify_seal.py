"""`herorun verify-seal`."""

import click


@click.command(short_help="Prove a seal again, and say what cannot be proven here.")
@click.argument("tag")
@click.option("--offline", is_flag=True, help="Ask neither the remote nor the checkpoint's store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, tag: str, offline: bool, as_json: bool) -> int:
    """Hold the seal of TAG against this clone, its remote and the checkpoint's store. It changes nothing.

    Looked at are the tag's own words and signature, its commit, the record with its statement, the tag on the remote,
    and the content of every file of the checkpoint. What is known by its size alone is not proven.

    Exit code 0: all of it holds. 1: something does not. 3: something could not be looked at.

    \b
    Example:
      herorun verify-seal herorun/grug/seal-1
      herorun verify-seal herorun/grug/seal-1 --offline
    """
    from pathlib import Path

    from herorun import output
    from herorun.core.finding import count
    from herorun.operations.seal.verify import verify_seal
    from herorun.schemas.judged import VerifySeal
    from herorun.system.git import find_repository

    proof = verify_seal(find_repository(Path(start)), tag, offline)
    if as_json:
        output.show_json(VerifySeal.of(proof))
    else:
        said = (
            ("proven", proof.proven),
            ("note", proof.notes),
            ("unproven", proof.unproven),
            ("fault", proof.faults),
        )
        for word, lines in said:
            for line in lines:
                click.echo(f"{word}: {output.clean(line)}")
        click.echo(
            f"{proof.verdict}: {count(len(proof.faults), 'fault')}, {len(proof.unproven)} not "
            "proven"
        )
    return {"clear": 0, "blocked": 1, "unknown": 3}[proof.verdict]
