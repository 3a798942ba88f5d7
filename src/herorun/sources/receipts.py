"""The receipt that check-in left in the output root; where it could not write there, its line in the job's log."""

import json
from typing import Any

from herorun.core.contract import Contract
from herorun.core.evidence import Admitted, History, Nothing, Receipt
from herorun.core.ports import Scheduler, Store

LINE = "HERORUN_RECEIPT "
LOG_LINES = 2000


def read_receipt(
    contract: Contract, store: Store, scheduler: Scheduler, history: History
) -> Receipt | Nothing:
    """The newest receipt of the current instance."""
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    root = contract.output.root.rstrip("/")
    attempts = _attempts(store, f"{root}/_herorun/receipts", current.name)
    if attempts:
        name = f"{current.name}.{max(attempts)}.json"
        return parse_receipt(json.loads(store.read(f"{root}/_herorun/receipts/{name}")))
    for line in reversed(scheduler.tail(current.name, LOG_LINES).splitlines()):
        if line.startswith(LINE):
            return parse_receipt(json.loads(line.removeprefix(LINE)))
    return Nothing(f"{current.name} has not checked in yet")


def read_admitted(receipt: Receipt) -> Admitted:
    """What check-in compared, as its receipt tells."""
    return Admitted(receipt.items)


def _attempts(store: Store, folder: str, instance: str) -> list[int]:
    try:
        names = store.names(folder)
    except FileNotFoundError:
        return []
    parts = (name.removesuffix(".json").rpartition(".") for name in names if name.endswith(".json"))
    return [int(attempt) for owner, _, attempt in parts if owner == instance and attempt.isdigit()]


def parse_receipt(data: Any) -> Receipt:
    """A receipt's JSON; a ValueError where it is none."""
    try:
        items = tuple((str(i["item"]), str(i["outcome"]), str(i["message"])) for i in data["items"])
        return Receipt(
            str(data["instance"]), int(data["attempt"]), str(data["outcome"]), items, None, data.get("loaded")
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the receipt lacks {error}") from None
