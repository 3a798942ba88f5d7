"""`herorun completion`."""

import click


@click.command(short_help="Print a shell's completion script: commands, runs, checks.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> int:
    """Print the completion script for SHELL. RUN completes to the contracts in runs/, CHECK to the
    checks.

    \b
    Example:
      herorun completion bash > ~/.local/share/bash-completion/completions/herorun
      herorun completion zsh > "${fpath[1]}/_herorun"
      herorun completion fish > ~/.config/fish/completions/herorun.fish
    """
    from click.shell_completion import get_completion_class

    from herorun.commands._completion import VARIABLE

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(ctx.find_root().command, {}, "herorun", VARIABLE).source()
    if as_json:
        from herorun import output
        from herorun.schemas.machines import Completion

        output.show_json(Completion(shell=shell, script=script))
    else:
        click.echo(script)
    return 0
