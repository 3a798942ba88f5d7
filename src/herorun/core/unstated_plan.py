"""Parts of a launch's plan that only its record states: the contract at its commit states all
others. Pure.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.contract import Contract
from herorun.core.environment import of_plan
from herorun.core.journal.launch_intents import plan_value
from herorun.core.redaction.scrub import scrub


def describe_unstated_parts(contract: Contract, plan: Mapping[str, Any]) -> str:
    """In words, empty if there is none: variables of a shell, and a start that is not the run's
    own.

    Either decides what code a job runs: `PYTHONPATH` by name, a checkpoint by what it holds when it
    is unpickled.
    """
    contract_env = contract.command.env
    env = of_plan(plan_value(plan, "env"))
    names = [
        scrub(f"{name}={value}")
        for name, value in sorted(env.items())
        if contract_env.get(name) != value
    ]
    start = plan_value(plan, "start")
    path = str(start.get("path", "")) if isinstance(start, Mapping) else ""
    return ", ".join(
        [*names, *([f"the start {path}"] if path and not _is_stated(contract, path) else [])]
    )


def _is_stated(contract: Contract, path: str) -> bool:
    """Named by the contract, or in the run's own roots, where only the job and its owner write."""
    stated_path = contract.start.from_
    if stated_path is not None and path == stated_path.rstrip("/"):
        return True
    roots = [
        root.rstrip("/") for root in (contract.output.root, contract.output.temporary_root) if root
    ]
    return ".." not in path.split("/") and any(path.startswith(f"{root}/") for root in roots)
