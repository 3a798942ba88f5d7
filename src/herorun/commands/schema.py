"""`herorun schema`."""

import click


@click.command(short_help="Print the JSON Schema of the contract, for editors.")
@click.option(
    "--json", "as_json", is_flag=True, help='The same, with the key "schema": 1 of every document.'
)
def command(as_json: bool) -> int:
    """Print the JSON Schema of runs/<slug>.toml.

    \b
    Example:
      herorun schema > .vscode/herorun.schema.json
    """
    import json

    from herorun.contract_schema import contract_schema

    number = {"schema": 1} if as_json else {}  # editors ignore this unknown key
    click.echo(json.dumps({**number, **contract_schema()}, indent=2))
    return 0
