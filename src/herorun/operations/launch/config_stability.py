"""Whether the config command prints the same config twice: otherwise every plan would differ."""

from collections.abc import Sequence

from herorun.core.config.diff import diff, without_volatile
from herorun.core.config.key_classes import is_volatile
from herorun.core.errors import Blocked, HerorunError, describe_error
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub
from herorun.runs import Run
from herorun.system.git.commit_content import printed_config, resolved_config


def unstable_keys(run: Run) -> tuple[str, ...]:
    """The keys of the config that differ between two runs of its command at HEAD, except those
    declared volatile.

    Raises the command's own errors. Empty without a command, or before the first commit.
    """
    commit, contract = run.repository.resolve("HEAD"), run.contract
    if not contract.config.command or commit is None:
        return ()
    first, second = (printed_config(run.repository, contract, commit) for _ in range(2))
    changes = diff(first, second, contract.config)
    return tuple(change.key for change in changes if not is_volatile(change.key, contract.config))


def must_be_stable(run: Run, plan: Plan) -> None:
    """Raise `Blocked` if the config command prints a different config than the plan's: no relaunch
    could reproduce the plan.
    """
    if not run.contract.config.command:
        return
    again, _ = resolved_config(run.repository, run.contract, plan.code_commit)
    config, _ = without_volatile(again, run.contract.config)
    keys = [change.key for change in diff(plan.config.value, config, run.contract.config)]
    if keys:
        raise Blocked(
            f"Nothing was submitted: {_advice(keys)} No relaunch could make this plan again."
        )


def _advice(keys: Sequence[str]) -> str:
    globs = ", ".join(f'"{key}"' for key in keys)
    return (
        f"[config] command prints another config each time. Add to [config]: volatile = [{globs}]."
    )


def advise_unstable_keys(run: Run) -> tuple[tuple[str, ...], str]:
    """The unstable keys, and what to write into the contract. If the command fails, its error is
    returned, not raised.
    """
    try:
        keys = unstable_keys(run)
    except (HerorunError, OSError) as error:
        return (), f"the [config] command could not be tried: {scrub(describe_error(error))}"
    if not keys:
        return (), ""
    return keys, _advice(keys)
