"""Load an adapter by its name or an entry point, its options validated."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from herorun.core import lazy_pydantic
from herorun.core.contract import KIND, Contract, explain_faults
from herorun.core.contract.values import present_keys
from herorun.core.errors import WrongTable, WrongUse
from herorun.core.evidence import NotifiedBy
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
from herorun.core.remote.target import RemoteTarget
from herorun.discover import entry_points_of, module_names

if TYPE_CHECKING:
    from herorun.core.adhoc_jobs.kind import JobKind

_KIND = lazy_regex(KIND)
Table: TypeAlias = Mapping[str, Any]

ADAPTERS = {  # where the contract names the kind of a port
    "schedulers": "[scheduler] kind",
    "schedulers.external": "--scheduler",
    "trackers": "[tracker] kind",
    "stores": "store for [output] root, scheme",
    "stores.layouts": "[checkpoints] layout",
    "notifiers": "[issue] kind or [notify] kinds",
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
    declared_fields = getattr(module.Options, "model_fields", {})
    own = {
        name: value
        for name, value in _with_present_names(port, kind, module, stated_options or {}).items()
        if name in declared_fields and value is not None
    }
    adapter: object = module.connect(_validated(port, kind, module, {**own, **options}), place)
    _must_fit(port, kind, adapter)
    return adapter


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
        for name, value in _with_present_names(port, kind, module, options).items()
        if name in getattr(module.Options, "model_fields", {})
    }
    return tuple(items(table, module.Options.model_construct(**stated_options)))


def _with_present_names(port: str, kind: str, module: Any, options: Table) -> Mapping[str, Any]:
    """The options, each by the name that the adapter has for it now; a `WrongUse` where one is
    there by both: it is unknown which of the two would be used.
    """
    try:
        return present_keys(options, getattr(module.Options, "RENAMED", {}))
    except ValueError as error:
        raise WrongTable(TABLES[port], kind, [((), str(error))]) from None


def reach(kind: str, options: Table) -> RemoteTarget | None:
    """How the machine is reached on which a scheduler's jobs run; None where it is this one, or has
    no files for us.

    A scheduler elsewhere declares it by a function `reach(options)` next to its `connect`.
    """
    module = adapter_module("schedulers", kind)
    reach_of = getattr(module, "reach", None)
    target: RemoteTarget | None = (
        reach_of(_validated("schedulers", kind, module, options)) if reach_of else None
    )
    return target


def programs(kind: str, options: Table) -> tuple[tuple[str, ...], ...]:
    """What must be on this machine's PATH for a scheduler, each with the argument that prints its
    version: `OWN_PROGRAMS` of its module always, `PROGRAMS` where no other machine is asked.
    """
    module = adapter_module("schedulers", kind)
    names = ["OWN_PROGRAMS"] if reach(kind, options) else ["OWN_PROGRAMS", "PROGRAMS"]
    return tuple(argv for name in names for argv in getattr(module, name, ()))


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
    kinds = [kind for kind in notify.kinds if _reaches_people(kind)]
    names = dict.fromkeys((*notify.page, *notify.targets, *kinds))
    return NotifiedBy(tuple(names), _reaches_people(contract.issue.kind))


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


def _validated(port: str, kind: str, module: Any, options: Table) -> Any:
    try:
        return module.Options.model_validate(dict(options))
    except lazy_pydantic.ValidationError as error:
        faults = explain_faults(error, module.Options, options, ["kind"])
        raise WrongTable(TABLES[port], kind, faults) from None


def adapter_module(port: str, kind: str) -> Any:
    if not _KIND.fullmatch(kind):
        raise WrongUse(
            f"{kind!r} is no name of an adapter: use lower-case letters, digits and underscores."
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
    from difflib import get_close_matches

    kinds = offered_kinds(port)
    closest = get_close_matches(kind, kinds, 1)
    suggestion = f"Did you mean {closest[0]!r}? " if closest else ""
    key = "layout" if port == "stores.layouts" else "kind"
    message = f"There is no {ADAPTERS[port]} = {kind!r}. {suggestion}There are: {', '.join(kinds)}."
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


def declared_jobs(kind: str) -> "JobKind":
    """What the adapter that looks at jobs by id declares of them, as `JOBS` in its module."""
    from herorun.core.adhoc_jobs.kind import JobKind

    port = "schedulers.external"
    jobs_kind = getattr(adapter_module(port, kind), "JOBS", None)
    if not isinstance(jobs_kind, JobKind):
        raise WrongUse(f"The adapter {kind!r} of {ADAPTERS[port]} lacks JOBS, which is a JobKind.")
    return jobs_kind


def adapter_options(port: str) -> Mapping[str, type[Any]]:
    """`Options` of every built-in kind of a port, for the schema."""
    return {kind: adapter_module(port, kind).Options for kind in adapter_kinds(port)}
