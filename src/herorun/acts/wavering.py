"""Whether the config command prints the same config twice: what it does not would make every plan another one."""

from herorun.core.config.classes import is_volatile
from herorun.core.config.diff import diff
from herorun.core.errors import HerorunError, in_words
from herorun.system.resolved import printed_config
from herorun.workspace import Run


def wavering_keys(run: Run) -> tuple[str, ...]:
    """The keys of the config that differ between two runs of its command at HEAD, but for those declared volatile.

    Errors are the command's own; without a command, or before the first commit, nothing wavers.
    """
    commit, contract = run.repository.resolve("HEAD"), run.contract
    if not contract.config.command or commit is None:
        return ()
    first, second = (printed_config(run.repository, contract, commit) for _ in range(2))
    found = diff(first, second, contract.config)
    return tuple(change.key for change in found if not is_volatile(change.key, contract.config))


def advised(run: Run) -> tuple[tuple[str, ...], str]:
    """Those keys, and what to write into the contract; a command that cannot be tried is told, not raised."""
    try:
        keys = wavering_keys(run)
    except (HerorunError, OSError) as error:
        return (), f"the [config] command could not be tried: {in_words(error)}"
    if not keys:
        return (), ""
    listed = ", ".join(f'"{key}"' for key in keys)
    return keys, f"[config] command prints another config each time. Add to [config]: volatile = [{listed}]."
