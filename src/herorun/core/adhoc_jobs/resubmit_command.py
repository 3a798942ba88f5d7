"""Finds mistakes in a resubmit command when it is given, before it is needed. Pure.

What the command of one scheduler needs is in its adapter: see `JobKind.must_return`.
"""

import shlex

from herorun.core.errors import WrongUse


def split_command(command: str) -> list[str]:
    """`WrongUse` for a command that no shell could read."""
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise WrongUse(
            f"--resubmit cannot be read as a command ({error}): correct its quotes."
        ) from None
    if not argv:
        raise WrongUse("--resubmit is empty: give the whole command, or omit it to only monitor.")
    return argv


def submitter_argv(command: str) -> list[str]:
    """Those before `--`: what follows is the job's own command."""
    argv = split_command(command)
    return argv[: argv.index("--")] if "--" in argv else argv


def submitter_flags(command: str) -> set[str]:
    """The names of its options, with hyphens.

    >>> sorted(submitter_flags("sbatch --job_name=x --wait -- train --lr=1"))
    ['--job-name', '--wait', 'sbatch']
    """
    return {word.partition("=")[0].replace("_", "-") for word in submitter_argv(command)}


def must_have_no_wait(command: str) -> None:
    """`WrongUse` where a submitter that waits by default has no option to return."""
    if "--no-wait" not in submitter_flags(command):
        raise WrongUse(
            f"The resubmit command `{command}` has no --no-wait before `--`, so it would wait for "
            "the job's end: add it."
        )
