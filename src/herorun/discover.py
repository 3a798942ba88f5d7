"""Find checks and sources in our packages, and load an adapter by its name or an entry point.

Adding one is adding a file. A third party's comes by entry point: `herorun.checks`,
`herorun.schedulers`, `herorun.trackers`, `herorun.notifiers`.
"""

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypeGuard, overload

from pydantic import TypeAdapter, ValidationError

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.check import Check, Gate, Response
from herorun.core.check import check as make_check
from herorun.core.check_names import RENAMED
from herorun.core.contract import KIND, Contract, ContractFile, explain_errors
from herorun.core.contract.toml_lines import line_of
from herorun.core.errors import WrongUse
from herorun.core.finding import Verdict, unknown
from herorun.core.ports import (
    ById,
    Channel,
    IssueTracker,
    Layout,
    Notifier,
    Place,
    Scheduler,
    Store,
    Tracker,
    missing_members,
)
from herorun.core.remote_target import RemoteTarget

_KIND = re.compile(KIND)
ADAPTERS = {  # where the contract names the kind of a port
    "schedulers": "[scheduler] kind",
    "schedulers.external": "--scheduler",
    "trackers": "[tracker] kind",
    "stores": "store for [output] root, scheme",
    "stores.layouts": "[checkpoints] layout",
    "notifiers": "[issue] kind or [notify] kinds",
}
PORTS: Mapping[str, type] = {  # what each adapter must be able to do
    "schedulers": Scheduler,
    "schedulers.external": ById,
    "trackers": Tracker,
    "stores": Store,
    "stores.layouts": Layout,
    "notifiers": Notifier,
}


@cache
def checks(gate: Gate | None = None) -> tuple[Check, ...]:
    """Every check of a gate, or of all, by name and gate.

    One name may stand at several gates: a question asked at several gates is one function with one
    check per gate.
    Two of one name at one gate are an error.
    """
    gates = [gate] if gate else list(Gate)
    modules = [module for each in gates for module in _modules(f"herorun.checks.{each}")]
    own = [check for module in modules for check in _own_checks(module)]
    return _in_order([*own, *(check for check in _foreign_checks() if check.gate in gates)])


def _in_order(every: Iterable[Check]) -> tuple[Check, ...]:
    found: dict[tuple[str, int], Check] = {}
    for check in every:
        _add(found, check)
    return tuple(found[key] for key in sorted(found))


def _add(found: dict[tuple[str, int], Check], check: Check) -> None:
    key = check.name, list(Gate).index(check.gate)
    if key in found:
        raise WrongUse(
            f"Two checks of the {check.gate} gate are called {check.name}: rename or uninstall one."
        )
    found[key] = check


def checks_named(name: str) -> tuple[Check, ...]:
    """The checks of one name, gate by gate; a `WrongUse` names the nearest one where there is
    none. Of our own checks only the files of that name are imported.
    """
    from difflib import get_close_matches

    own = [check for module in _check_modules(name) for check in _own_checks(module)]
    found = _in_order(check for check in [*own, *_foreign_checks()] if check.name == name)
    if not found and name in RENAMED:
        raise WrongUse(f"The check {name} is called {RENAMED[name]} now: use that name.")
    if not found:
        near = get_close_matches(name, sorted({check.name for check in checks()}), 3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise WrongUse(
            f"There is no check called {name!r}.{meant} `herorun explain --list` names them."
        )
    return found


def _check_modules(name: str) -> list[ModuleType]:
    """The files that are named for a check, at every gate."""
    stem, packages = name.replace("-", "_"), [f"herorun.checks.{gate}" for gate in Gate]
    return [import_module(f"{each}.{stem}") for each in packages if stem in _module_names(each)]


def _own_checks(module: ModuleType) -> list[Check]:
    """The checks that the module itself defines, not those that it imports."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, Check) and item.ask.__module__ == module.__name__
    ]


def _modules(package: str) -> list[ModuleType]:
    return [import_module(f"{package}.{name}") for name in _module_names(package)]


@cache
def _module_names(package: str) -> tuple[str, ...]:
    """Its modules, none of them imported."""
    path = import_module(package).__path__
    return tuple(sorted(found.name for found in pkgutil.iter_modules(path) if not found.ispkg))


@cache
def sources() -> Mapping[Any, Callable[..., Any]]:
    """Every `read_...` function in `herorun.sources`, by the evidence that it returns."""
    from herorun.gather import by_kind

    return by_kind(
        item
        for module in _modules("herorun.sources")
        for name, item in vars(module).items()
        if name.startswith("read_") and getattr(item, "__module__", "") == module.__name__
    )


@overload
def connect(
    port: Literal["schedulers"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> Scheduler: ...
@overload
def connect(
    port: Literal["schedulers.external"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> ById: ...
@overload
def connect(
    port: Literal["trackers"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> Tracker: ...
@overload
def connect(
    port: Literal["stores"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> Store: ...
@overload
def connect(
    port: Literal["stores.layouts"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> Layout: ...
@overload
def connect(
    port: Literal["notifiers"],
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> Notifier: ...
@overload
def connect(
    port: str,
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> object: ...
def connect(
    port: str,
    kind: str,
    options: Mapping[str, Any],
    place: Place,
    stated: Mapping[str, Any] | None = None,
) -> object:
    """The adapter of a kind, its options validated; a `WrongUse` says which key is wrong or what
    there is.

    `stated` are the contract's own keys of that table: the adapter gets those that its `Options`
    declare too.
    """
    module = _adapter(port, kind)
    declared = getattr(module.Options, "model_fields", {})
    own = {
        name: value
        for name, value in _with_present_names(module, stated or {}).items()
        if name in declared and value is not None
    }
    adapter: object = module.connect(_validated(port, kind, module, {**own, **options}), place)
    if lacking := missing_members(PORTS[port], adapter):
        raise WrongUse(
            f"The adapter {kind!r} of {ADAPTERS[port]} lacks {', '.join(lacking)}, which "
            f"core.ports.{PORTS[port].__name__} asks for."
        )
    return adapter


def connect_issue(
    kind: str, options: Mapping[str, Any], place: Place, stated: Mapping[str, Any] | None = None
) -> IssueTracker:
    """A notifier that can hold a run's page; a `WrongUse` for one that only sends."""
    adapter = connect("notifiers", kind, options, place, stated)
    if not _is_issue_tracker(adapter):
        must_hold_pages(kind)
        lacking = ", ".join(missing_members(IssueTracker, adapter))
        raise WrongUse(f"[issue] kind = {kind!r} lacks {lacking} of core.ports.IssueTracker.")
    return adapter


def connect_channel(variable: str, place: Place) -> Channel:
    """The channel whose address a variable holds."""
    adapter = connect("notifiers", "channel", {"variable": variable}, place)
    if not _is_channel(adapter):
        raise WrongUse(f"{variable} is no channel: the notifier lacks name or problem.")
    return adapter


def _is_issue_tracker(adapter: Notifier) -> TypeGuard[IssueTracker]:
    return not missing_members(IssueTracker, adapter)


def _is_channel(adapter: Notifier) -> TypeGuard[Channel]:
    return not missing_members(Channel, adapter)


def must_hold_pages(kind: str) -> None:
    """`WrongUse` where a notifier only sends: no run's page can lie there."""
    if not _holds_pages(kind):
        able = ", ".join(each for each in adapter_kinds("notifiers") if _holds_pages(each))
        raise WrongUse(
            f"[issue] kind = {kind!r} only sends, and a run's page needs a place that it stays "
            f"in: use one of {able}, and name {kind!r} in [notify] kinds."
        )


def _holds_pages(kind: str) -> bool:
    """By the class that its `connect` says it returns; where it says nothing, by trying."""
    from typing import get_type_hints

    told = get_type_hints(_adapter("notifiers", kind).connect).get("return")
    return told is None or not missing_members(IssueTracker, told)


def trust_items(table: str, port: str, kind: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """What these options make this machine run, or send credentials to, as people read it; wrong
    ones are told later.
    """
    if not options:
        return ()
    from herorun.core.trust import trust_items as items

    module = _adapter(port, kind)
    known = {
        name: value
        for name, value in _with_present_names(module, options).items()
        if name in getattr(module.Options, "model_fields", {})
    }
    return tuple(items(table, module.Options.model_construct(**known)))


def _with_present_names(module: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, each by the name that the adapter has for it now."""
    renamed: Mapping[str, str] = getattr(module.Options, "RENAMED", {})
    return {renamed.get(name, name): value for name, value in options.items()}


def reach(kind: str, options: Mapping[str, Any]) -> RemoteTarget | None:
    """How the machine is reached on which a scheduler's jobs run; None where it is this one, or has
    no files for us.

    A scheduler elsewhere tells it by a function `reach(options)` beside its `connect`.
    """
    module = _adapter("schedulers", kind)
    tell = getattr(module, "reach", None)
    told: RemoteTarget | None = (
        tell(_validated("schedulers", kind, module, options)) if tell else None
    )
    return told


def programs(kind: str, options: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """What must be on this machine's PATH for a scheduler, each with the argument that prints its
    version: `OWN_PROGRAMS` of its module always, `PROGRAMS` where no other machine is asked.
    """
    module = _adapter("schedulers", kind)
    names = ["OWN_PROGRAMS"] if reach(kind, options) else ["OWN_PROGRAMS", "PROGRAMS"]
    return tuple(argv for name in names for argv in getattr(module, name, ()))


def tracker_links(contract: Contract, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Pages of the contract's own run, and of those that a log names as `entity/project/id`; none
    for a tracker without a function `links(table, slug, named)` beside its `connect`.
    """
    links = getattr(_adapter("trackers", contract.tracker.kind), "links", None)
    return tuple(links(contract.tracker, contract.slug, named)) if links else ()


def issue_address(contract: Contract) -> str:
    """Where the run's issue will be on the web, before it is opened; empty where its notifier has
    no function `address(table)` beside its `connect`.
    """
    address = getattr(_adapter("notifiers", contract.issue.kind), "address", None)
    return str(address(contract.issue)) if address else ""


def _validated(port: str, kind: str, module: Any, options: Mapping[str, Any]) -> Any:
    try:
        return module.Options.model_validate(dict(options))
    except ValidationError as error:
        table = port.rpartition(".")[2].removesuffix("s")
        words = explain_errors(error, module.Options)
        raise WrongUse(f"[{table}] {kind}: {words}") from None


def _adapter(port: str, kind: str) -> Any:
    if not _KIND.fullmatch(kind):
        raise WrongUse(
            f"{kind!r} is no name of an adapter: use lower-case letters, digits and underscores."
        )
    if kind in _module_names(f"herorun.{port}"):
        own = import_module(f"herorun.{port}.{kind}")
        if hasattr(own, "connect"):  # a neighbour that only reads for one has none
            return own
    foreign = [point for point in _entry_points(f"herorun.{port}") if point.name == kind]
    if len(foreign) > 1:
        raise WrongUse(f"Two installed packages offer herorun.{port} called {kind}: uninstall one.")
    if foreign:
        return foreign[0].load()
    raise WrongUse(
        f"There is no {ADAPTERS[port]} = {kind!r}. There are: {', '.join(offered_kinds(port))}."
    )


def adapter_kinds(port: str) -> tuple[str, ...]:
    """The built-in kinds of a port: the modules that have `connect`."""
    package = f"herorun.{port}"
    return tuple(
        n for n in _module_names(package) if hasattr(import_module(f"{package}.{n}"), "connect")
    )


def offered_kinds(port: str) -> tuple[str, ...]:
    """The kinds of a port that can be selected here: built in, and of installed packages."""
    foreign = {point.name for point in _entry_points(f"herorun.{port}")}
    return tuple(sorted({*adapter_kinds(port), *foreign}))


def is_offered(port: str, kind: str) -> bool:
    """Whether a kind can be selected; of our own no adapter is imported for the answer."""
    if kind in _module_names(f"herorun.{port}"):
        return not kind.startswith("_")
    return any(point.name == kind for point in _entry_points(f"herorun.{port}"))


def declared_jobs(kind: str) -> JobKind:
    """What the adapter that looks at jobs by id declares of them, as `JOBS` in its module."""
    port = "schedulers.external"
    declared = getattr(_adapter(port, kind), "JOBS", None)
    if not isinstance(declared, JobKind):
        raise WrongUse(f"The adapter {kind!r} of {ADAPTERS[port]} lacks JOBS, which is a JobKind.")
    return declared


def adapter_options(port: str) -> Mapping[str, type[Any]]:
    """`Options` of every built-in kind of a port, for the schema."""
    return {kind: _adapter(port, kind).Options for kind in adapter_kinds(port)}


def limits(contract: Contract, file: ContractFile | None = None) -> dict[str, Any]:
    """The thresholds that the contract sets, by check, validated by each check's `Limits`; with the
    `file` a fault names its line.
    """
    _must_be_health(contract.babysit.stop_on)
    set_here: dict[str, Any] = {}
    if not contract.babysit.thresholds:  # then no check is imported for it
        return set_here
    known: dict[str, type[Any] | None] = {}
    for check in checks():
        known[check.name] = check.limits or known.get(check.name)
    for name, values in contract.babysit.thresholds.items():
        where = _threshold_line(file, name)
        if name not in known:
            raise WrongUse(
                f"{where}[babysit.thresholds] names {name!r}, which is no check:"
                f"{_meant(name, known)} see `herorun explain --list`."
            )
        kind = known[name]
        if kind is None:
            raise WrongUse(f"{where}[babysit.thresholds.{name}]: that check has no thresholds.")
        _must_have_keys(kind, name, values, file)
        set_here[name] = _limits(kind, where, name, values)
    return set_here


def _threshold_line(file: ContractFile | None, *path: str) -> str:
    line = line_of(file.text, ("babysit", "thresholds", *path)) if file else None
    return f"{file.path}, line {line}: " if file and line else ""


def _meant(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(names), 1)
    return f" did you mean `{near[0]}`?" if near else ""


def _must_have_keys(
    kind: type[Any], name: str, values: Mapping[str, Any], file: ContractFile | None
) -> None:
    assert is_dataclass(kind)
    fields = kind.__dataclass_fields__
    for key in sorted(values.keys() - fields.keys()):
        meant = _meant(key, fields) or f" there are {', '.join(fields)}."
        raise WrongUse(
            f"{_threshold_line(file, name, key)}[babysit.thresholds.{name}]: unknown key "
            f"`{key}`:{meant}"
        )


def _must_be_health(names: tuple[str, ...]) -> None:
    """Only what the babysitter asks can stop a job."""
    known = {check.name for check in checks(Gate.HEALTH)} if names else set()
    for name in names:
        if name not in known:
            raise WrongUse(
                f"[babysit] stop_on names {name!r}, which is no health check: see `herorun "
                "explain --list`."
            )


def _limits(kind: type[Any], where: str, name: str, values: Mapping[str, Any]) -> Any:
    try:
        return TypeAdapter(kind).validate_python(_durations(kind, values))
    except (ValidationError, ValueError) as error:
        words = explain_errors(error) if isinstance(error, ValidationError) else f"{error}."
        raise WrongUse(f"{where}[babysit.thresholds.{name}]: {words}") from None


def _durations(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    from datetime import timedelta

    from herorun.core.contract import parse_duration

    fields = kind.__dataclass_fields__
    return {k: parse_duration(v) if fields[k].type is timedelta else v for k, v in values.items()}


def _foreign_checks() -> list[Check]:
    found = []
    for point in _entry_points("herorun.checks"):
        try:
            found += _own_checks(point.load())
        except Exception as error:  # a site's check that cannot be asked is not a check that passed
            found += [_broken(point.name, gate, repr(error)) for gate in (Gate.LAUNCH, Gate.SEAL)]
    return found


def _broken(name: str, gate: Gate, why: str) -> Check:
    """Stands for an installed check that cannot be imported: it answers UNKNOWN, so it blocks."""

    def ask() -> Verdict:
        """An installed check cannot be imported.

        Why: a check that a site relies on and that is not asked is not a check that passed.
        Fix: mend, upgrade or uninstall the package that brings it.
        """
        return unknown(f"the installed check {name} cannot be imported: {why}", subject=name)

    ask.__name__ = f"broken_check_{name}_{gate}"
    return make_check(gate, Response.BLOCK)(ask)


def _entry_points(group: str) -> list[Any]:
    """Looked up only where something is loaded: reading the metadata of every package is slow."""
    from importlib.metadata import entry_points

    return list(entry_points(group=group))
