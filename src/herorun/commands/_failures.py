"""The exit code and the message of a failed command."""

import errno
import os
from contextlib import suppress
from typing import Any

import click


def describe_misuse(error: click.ClickException) -> tuple[int, str]:
    help_error: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.1 has none
    if isinstance(error, help_error):
        with suppress(OSError):
            error.show()
        return error.exit_code, ""
    from herorun.core.redaction.scrub import scrub

    if not isinstance(error, click.UsageError):
        return error.exit_code, f"herorun: {scrub(error.format_message())}"
    from herorun.commands._usage_errors import usage_message

    return error.exit_code, scrub(usage_message(error))


def describe_failure(error: BaseException) -> tuple[int, str]:
    from herorun.core import errors
    from herorun.core.redaction.scrub import scrub

    if isinstance(error, errors.HerorunError):
        return error.exit_code, f"herorun: {scrub(str(error))}"
    if isinstance(error, OSError):
        message = f"{errors.describe_error(error)}. {_advice(error)}."
        return 3, f"herorun: {scrub(message)}"
    message = f"herorun: {scrub(errors.describe_internal_error(error))}."
    if os.environ.get(errors.DEBUG):
        from traceback import format_exception

        click.echo(without_escapes(scrub("".join(format_exception(error)))), err=True)
        return 3, message
    advice = (
        "If the command changes something, it may be partly done: see `herorun status --all`.",
        errors.REPORT,
    )
    return 3, f"\n{' ' * 9}".join((message, *advice))


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space there, then try again"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "Make it accessible to this user, then try again"
    return "Try again"


def without_escapes(text: str) -> str:
    """Removes terminal escapes, which the text that an error quotes may contain."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
