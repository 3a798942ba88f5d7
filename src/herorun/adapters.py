"""Load an adapter by its name or an entry point, its options validated."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias, overload

from herorun.core import lazy_pydantic
from herorun.core.contract import KIND, Contract, explain_faults
from herorun.core.contract.values import present_keys
from herorun.core.errors import WrongTable, WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import (
    ById,
    Layout,
    Notifier,
    Place,
    Scheduler,
    Store,
    Tracker,
    missing_members,
    renamed_members,
)
from herorun.discover import entry_points_of, module_names

_KIND = lazy_regex(KIND)
Table: TypeAlias = Mapping[str, Any]

ADAPTERS = {  # where the contract names the kind of a port
    "schedulers": "[scheduler] kind",
    "schedulers.external": "--scheduler",
    "trackers": "[tracker] kind",
    "stores": "store for [output] root, scheme",
    "stores.layouts": "[checkpoints] layout",
    "notifiers": "notifier kind",
}
TABLES = {  # of the contract, or the option, that has the options of a port's adapters
    "schedulers": "scheduler",
    "schedulers.external": "--scheduler",
    "trackers": "tracker",
    "stores": "output",
    "stores.layouts": "checkpoints",
    "notifiers": "issue",
}
PORTS: Mapping[str, type] = {  # what each adapter must be able to do
    "schedulers": Scheduler,
    "schedulers.external": ById,
    "trackers": Tracker,
    "stores": Store,
    "stores.layouts": Layout,
    "notifiers": Notifier,
}


@overload
def connect(
    port: Literal["schedulers"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> Scheduler: ...


@overload
def connect(
    port: Literal["schedulers.external"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> ById: ...


@overload
def connect(
    port: Literal["trackers"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> Tracker: ...


@overload
def connect(
    port: Literal["stores"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> Store: ...


@overload
def connect(
    port: Literal["stores.layouts"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> Layout: ...


@overload
def connect(
    port: Literal["notifiers"],
    kind: str,
    options: Table,
    place: Place,
    stated_options: Table | None = None,
) -> Notifier: ...


@overload
def connect(
    port: str, kind: str, options: Table, place: Place, stated_options: Table | None = None
) -> object: ...


def connect(
    port: str, kind: str, options: Table, place: Place, stated_options: Table | None = None
) -> object:
    """The adapter of a kind, its options validated; a `WrongUse` says which key is wrong or what
    there is.

    `stated_options` are the contract's own keys of that table: the adapter gets those that its
    `Options` declare too.
    """
    module = adapter_module(port, kind)
    its_options = accepted_options(port, kind, options, stated_options)
    adapter: object = module.connect(its_options, place)
    _must_fit(port, kind, adapter)
    return adapter


def accepted_options(
    port: str, kind: str, options: Table, stated_options: Table | None = None
) -> Any:
    """The options as the adapter declares them; see `connect`. Connects to nothing."""
    module = adapter_module(port, kind)
    declared_fields = getattr(module.Options, "model_fields", {})
    own = {
        name: value
        for name, value in with_present_names(port, kind, module, stated_options or {}).items()
        if name in declared_fields and value is not None
    }
    return validated_options(port, kind, module, {**own, **options})


def _must_fit(port: str, kind: str, adapter: object) -> None:
    """A member by an older name would be missed, or ignored in silence where it is optional."""
    subject = f"The adapter {kind!r} of {ADAPTERS[port]}"
    if old_members := renamed_members(port, adapter):
        raise WrongUse(f"{subject} uses old names: {', '.join(old_members)}. Rename them.")
    if lacking := missing_members(PORTS[port], adapter):
        raise WrongUse(
            f"{subject} lacks {', '.join(lacking)}, which core.ports.{PORTS[port].__name__} asks "
            "for."
        )


def scheduler_keys(contract: Contract) -> dict[str, Any]:
    """The contract's own keys that a scheduler's options may declare."""
    return {"restarts": contract.scheduler.restarts}


def tracker_keys(contract: Contract) -> dict[str, Any]:
    """The contract's own keys that a tracker's options may declare."""
    tracker, identity = contract.tracker, contract.tracker.id or contract.slug
    own = tracker.model_dump(exclude=set(tracker.options))
    return {**own, "id": identity, "name": tracker.name or identity}


def with_present_names(port: str, kind: str, module: Any, options: Table) -> Mapping[str, Any]:
    """The options, each by the name that the adapter has for it now; a `WrongUse` where one is
    there by both: it is unknown which of the two would be used.
    """
    try:
        return present_keys(options, getattr(module.Options, "RENAMED", {}))
    except ValueError as error:
        raise WrongTable(TABLES[port], kind, [((), str(error))]) from None


def validated_options(port: str, kind: str, module: Any, options: Table) -> Any:
    try:
        return module.Options.model_validate(dict(options))
    except lazy_pydantic.ValidationError as error:
        faults = explain_faults(error, module.Options, options, ["kind"])
        raise WrongTable(TABLES[port], kind, faults) from None


def adapter_module(port: str, kind: str) -> Any:
    if not _KIND.fullmatch(kind):
        raise WrongUse(
            f"{kind!r} is not an adapter name: use lower-case letters, digits and underscores."
        )
    if kind in module_names(f"herorun.{port}"):
        own = import_module(f"herorun.{port}.{kind}")
        if hasattr(own, "connect"):  # a neighbour that only reads for one has none
            return own
    foreign = [point for point in entry_points_of(f"herorun.{port}") if point.name == kind]
    if len(foreign) > 1:
        raise WrongUse(f"Two installed packages offer herorun.{port} called {kind}: uninstall one.")
    if foreign:
        return foreign[0].load()
    raise _unknown_kind(port, kind)


def _unknown_kind(port: str, kind: str) -> WrongTable:
    from herorun.core.suggestions import did_you_mean

    kinds = offered_kinds(port)
    key = "layout" if port == "stores.layouts" else "kind"
    suggestion = did_you_mean(kind, kinds)
    message = f"There is no {ADAPTERS[port]} = {kind!r}.{suggestion} There are: {', '.join(kinds)}."
    return WrongTable(TABLES[port], "", [((key,), message)])


def adapter_kinds(port: str) -> tuple[str, ...]:
    """The built-in kinds of a port: the modules that have `connect`."""
    package = f"herorun.{port}"
    return tuple(
        n for n in module_names(package) if hasattr(import_module(f"{package}.{n}"), "connect")
    )


def offered_kinds(port: str) -> tuple[str, ...]:
    """The kinds of a port that can be selected here: built in, and of installed packages."""
    foreign = {point.name for point in entry_points_of(f"herorun.{port}")}
    return tuple(sorted({*adapter_kinds(port), *foreign}))


def is_offered(port: str, kind: str) -> bool:
    """Whether a kind can be selected; of our own no adapter is imported for the answer."""
    if kind in module_names(f"herorun.{port}"):
        return not kind.startswith("_")
    return any(point.name == kind for point in entry_points_of(f"herorun.{port}"))
