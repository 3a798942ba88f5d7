"""The contract's tables that adapters read, all looked at once a fault is known."""

from collections.abc import Iterator
from typing import Any

from herorun import adapters
from herorun.core.contract import Contract
from herorun.core.errors import WrongTable


def other_faults(contract: Contract, table: str) -> Iterator[WrongTable]:
    """The faults of all tables but this one, so that a person sees all of them at once. Connects
    to nothing.
    """
    issue, notify = contract.issue, contract.notify
    tables: dict[str, tuple[str, str, Any, dict[str, Any]]] = {
        "scheduler": (
            "schedulers",
            contract.scheduler.kind,
            contract.scheduler.options,
            adapters.scheduler_keys(contract),
        ),
        "tracker": (
            "trackers",
            contract.tracker.kind,
            contract.tracker.options,
            adapters.tracker_keys(contract),
        ),
        "checkpoints": ("stores.layouts", contract.checkpoints.layout, {}, {}),
        "issue": (
            "notifiers",
            issue.kind,
            issue.options,
            {"repo": issue.repo, "number": issue.number},
        ),
        **{
            f"notify.{kind}": ("notifiers", kind, notify.options.get(kind, {}), {})
            for kind in notify.kinds
        },
    }
    for name, (port, kind, options, own_keys) in tables.items():
        if name == table:
            continue
        try:
            adapters.accepted_options(port, kind, options, own_keys)
        except WrongTable as error:
            error.table = name
            yield error
        except Exception:  # a foreign adapter's too: it is reported when it is used
            continue
