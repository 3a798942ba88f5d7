"""One command a module, imported when it is named; groups have this class."""

import click


class SuggestingGroup(click.Group):
    """Suggests a command for one that was mistyped."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from herorun.commands._usage_errors import add_suggestion

            raise add_suggestion(error, self, ctx, args[0]) from None
