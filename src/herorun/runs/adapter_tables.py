"""What adapters and checks do not take of a contract: all of it, once one fault is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from herorun import adapters
from herorun.core.contract import Contract, WrongContract
from herorun.core.errors import WrongTable
from herorun.runs.loader import fault_of_slug, must_read_signatures
from herorun.runs.notifiers import must_be_complete, must_be_sendable, must_hold_pages
from herorun.runs.thresholds import check_limits

KINDS = ("kind", "kinds", "layout")  # by which the other keys of a table are read


def all_faults(error: WrongContract, stem: str, top: Path) -> list[WrongTable]:
    """What is wrong in a contract's own keys, and in the tables that adapters and checks read.
    `stem`: the name of its file; `top`: of its repository.
    """
    unread_tables = {place[0] for place, _ in error.faults if place and place[-1] in KINDS}
    rest = error.rest
    others = other_faults(rest, top) if rest else ()
    has_slug = all(place[:1] != ("slug",) for place, _ in error.faults)
    slug_faults = fault_of_slug(rest.slug, stem) if rest and has_slug else []
    return [
        WrongTable("", "", [*error.faults, *slug_faults]),
        *(each for each in others if each.table.partition(".")[0] not in unread_tables),
    ]


def other_faults(contract: Contract, top: Path | None) -> Iterator[WrongTable]:
    """The faults of all tables, so that a person sees all of them at once. Connects to nothing."""
    for examine in (
        lambda: check_limits(contract),
        lambda: must_hold_pages(contract.issue.kind),
        lambda: must_be_complete(contract.issue),
        lambda: must_be_sendable(contract.notify),
        lambda: must_read_signatures(contract, top) if top else None,
    ):
        try:
            examine()
        except WrongTable as error:
            yield error
    yield from _faults_of_adapters(contract)


def _faults_of_adapters(contract: Contract) -> Iterator[WrongTable]:
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
        try:
            adapters.accepted_options(port, kind, options, own_keys)
        except WrongTable as error:
            if port == "notifiers" and error.faults[0][0] == ("kind",):
                continue  # one that does not exist has been reported
            error.table = name
            yield error
        except Exception:  # a foreign adapter's too: it is reported when it is used
            continue
