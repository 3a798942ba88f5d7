"""What the module of an adapter declares next to its `connect`: a function or a constant."""

from collections.abc import Iterable, Mapping
from typing import Any

from herorun.adapters import (
    TABLES,
    Table,
    adapter_kinds,
    adapter_module,
    validated_options,
    with_present_names,
)
from herorun.core.contract import Contract
from herorun.core.errors import UNFORESEEN, HerorunError, WrongUse
from herorun.core.evidence import NotifiedBy
from herorun.core.once_per_object import once_per_object
from herorun.core.remote.target import RemoteTarget


def reach(kind: str, options: Table) -> RemoteTarget | None:
    """How the machine is reached on which a scheduler's jobs run; None where it is this one, or has
    no files for us.

    A scheduler elsewhere declares it by a function `reach(options)` next to its `connect`.
    """
    module = adapter_module("schedulers", kind)
    reach_of = getattr(module, "reach", None)
    target: RemoteTarget | None = (
        reach_of(validated_options("schedulers", kind, module, options)) if reach_of else None
    )
    return target


@once_per_object
def scheduler_reach(contract: Contract) -> RemoteTarget | None:
    """The same for the scheduler of a contract."""
    return reach(contract.scheduler.kind, contract.scheduler.options)


def programs(kind: str, options: Table) -> tuple[tuple[str, ...], ...]:
    """What must be on this machine's PATH for a scheduler, each with the argument that prints its
    version: `OWN_PROGRAMS` of its module always, `PROGRAMS` where no other machine is asked.
    """
    module = adapter_module("schedulers", kind)
    names = ["OWN_PROGRAMS"] if reach(kind, options) else ["OWN_PROGRAMS", "PROGRAMS"]
    return tuple(argv for name in names for argv in getattr(module, name, ()))


def runs_on_a_host(kind: str, program: str) -> bool:
    """Whether another machine, by `[scheduler] host`, can run the program instead of this one."""
    argvs = getattr(adapter_module("schedulers", kind), "PROGRAMS", ())
    return program in (argv[0] for argv in argvs)


def tracker_links(contract: Contract, identities: Iterable[str] = ()) -> tuple[str, ...]:
    """Pages of the contract's own run, and of those that a log names as `entity/project/id`; none
    for a tracker without a function `links(table, slug, named)` next to its `connect`.
    """
    links = getattr(adapter_module("trackers", contract.tracker.kind), "links", None)
    return tuple(links(contract.tracker, contract.slug, identities)) if links else ()


def issue_address(contract: Contract) -> str:
    """Where the run's issue will be on the web, before it is opened; empty where its notifier has
    no function `address(table)` next to its `connect`.
    """
    address = getattr(adapter_module("notifiers", contract.issue.kind), "address", None)
    return str(address(contract.issue)) if address else ""


def notified_by(contract: Contract) -> NotifiedBy:
    """By each notifier, unless its module says `REACHES_NOBODY = True` next to its `connect`."""
    notify = contract.notify
    kinds = [kind for kind in notify.kinds if _is_loaded_and_reaches_people(kind)]
    names = dict.fromkeys((*notify.page, *notify.targets, *kinds))
    return NotifiedBy(tuple(names), _reaches_people(contract.issue.kind))


def _is_loaded_and_reaches_people(kind: str) -> bool:
    """One that cannot be loaded reaches nobody, and its channel says why."""
    try:
        return _reaches_people(kind)
    except HerorunError:
        raise
    except UNFORESEEN:
        return False


def _reaches_people(kind: str) -> bool:
    return not getattr(adapter_module("notifiers", kind), "REACHES_NOBODY", False)


def init_kind(port: str, settings: Mapping[str, str]) -> str:
    """The built-in kind that a key of `[tool.herorun.init]` stands for, by `INIT_KEYS` next to its
    `connect`; empty where no such key is set, and a `WrongUse` where another key is missing.
    """
    for kind in adapter_kinds(port):
        keys = getattr(adapter_module(port, kind), "INIT_KEYS", ())
        missing = [key for key in keys if key not in settings]
        if len(missing) < len(keys):
            if missing:
                raise WrongUse(
                    f"[tool.herorun.init] lacks {', '.join(missing)}: [{TABLES[port]}] {kind} "
                    f"needs {' and '.join(keys)}."
                )
            return kind
    return ""


def script_suffixes() -> tuple[str, ...]:
    """How the names of batch scripts end, by `SCRIPT_SUFFIXES` of the built-in schedulers."""
    return tuple(
        suffix
        for kind in adapter_kinds("schedulers")
        for suffix in getattr(adapter_module("schedulers", kind), "SCRIPT_SUFFIXES", ())
    )


def scheduler_of_script(script: str) -> tuple[str, Mapping[str, Any]]:
    """The built-in scheduler that a batch script is written for, and the keys of `[scheduler]` that
    it says, by a function `table_of_script(script)` next to its `connect`; otherwise empty ones.
    """
    for kind in adapter_kinds("schedulers"):
        table_of = getattr(adapter_module("schedulers", kind), "table_of_script", None)
        if table_of and (table := table_of(script)) is not None:
            return kind, table
    return "", {}


def trust_items(table: str, port: str, kind: str, options: Table) -> tuple[str, ...]:
    """What these options make this machine run, or send credentials to, as people read it; wrong
    ones are reported later.
    """
    if not options:
        return ()
    from herorun.core.trust import trust_items as items

    module = adapter_module(port, kind)
    stated_options = {
        name: value
        for name, value in with_present_names(port, kind, module, options).items()
        if name in getattr(module.Options, "model_fields", {})
    }
    return tuple(items(table, module.Options.model_construct(**stated_options)))


def adapter_options(port: str) -> Mapping[str, type[Any]]:
    """`Options` of every built-in kind of a port, for the schema."""
    return {kind: adapter_module(port, kind).Options for kind in adapter_kinds(port)}
