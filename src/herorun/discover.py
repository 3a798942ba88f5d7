"""Find checks and sources in our packages, and a third party's checks by the entry point
`herorun.checks`. Adding one is adding a file.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import all_suffixes
from io import FileIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from herorun.core.check import Check, Gate, Response, check as make_check
from herorun.core.check_names import current_name
from herorun.core.errors import WrongUse
from herorun.core.finding import Verdict, unknown
from herorun.system.entry_points import is_group_offered

if TYPE_CHECKING:
    from herorun.core.check_text import CheckLine, CheckText

_ENDINGS = frozenset(all_suffixes())


@cache
def checks(gate: Gate | None = None) -> tuple[Check, ...]:
    """Every check of a gate, or of all, by name and gate.

    One name may stand at several gates: a question asked at several gates is one function with one
    check per gate.
    Two of one name at one gate are an error.
    """
    gates = [gate] if gate else list(Gate)
    own = [check for each in gates for check in _checks_of(each)]
    return _in_order([*own, *(check for check in _foreign_checks() if check.gate in gates)])


def _checks_of(gate: Gate) -> list[Check]:
    package = f"herorun.checks.{gate}"
    if gate is not Gate.HEALTH:
        return [check for module in _modules(package) for check in own_checks(module)]
    from herorun.check_index import health_checks  # who explains a check needs none

    return health_checks(module_names(package), own_checks)


def _in_order(every: Iterable[Check]) -> tuple[Check, ...]:
    by_place: dict[tuple[str, int], Check] = {}
    for check in every:
        _add(by_place, check)
    return tuple(by_place[key] for key in sorted(by_place))


def _add(by_place: dict[tuple[str, int], Check], check: Check) -> None:
    key = check.name, list(Gate).index(check.gate)
    if key in by_place:
        raise WrongUse(
            f"Two checks of the {check.gate} gate are called {check.name}: rename or uninstall one."
        )
    by_place[key] = check


def checks_named(name: str) -> tuple[Check, ...]:
    """The checks of one name, or of its earlier name, gate by gate; a `WrongUse` names the nearest
    one where there is none. Of our own checks only the files of that name are imported.
    """
    from herorun.core.suggestions import did_you_mean

    name = current_name(name)
    own = [check for module in _check_modules(name) for check in own_checks(module)]
    named_checks = _in_order(check for check in [*own, *_foreign_checks()] if check.name == name)
    if not named_checks:
        suggestion = did_you_mean(name, sorted({check.name for check in checks()}), 3)
        raise WrongUse(
            f"There is no check called {name!r}.{suggestion} `herorun explain --list` lists all "
            "checks."
        )
    return named_checks


def check_texts(name: str) -> "tuple[Check | CheckText, ...]":
    """What is printed of the checks of one name, gate by gate. Our own are read from their files;
    where these do not tell, they are imported, as `checks_named` does.
    """
    from herorun.core.check_text import parse_check_text

    stem = name.replace("-", "_")
    pages = [
        parse_check_text(_source_of(package, stem), name)
        for package in _gates_with(stem)
        if not is_group_offered("herorun.checks")
    ]
    own = [page for page in pages if page]
    return tuple(own) if own and len(own) == len(pages) else checks_named(name)


def check_lines() -> "tuple[Check | CheckLine, ...]":
    """Every check for the list of all, read from its file where that tells."""
    from herorun.core.check_text import parse_check_line

    if is_group_offered("herorun.checks"):
        return checks()
    lines: list[Check | CheckLine] = []
    for package in (f"herorun.checks.{gate}" for gate in Gate):
        folder = import_module(package).__path__[0]
        for stem in module_names(package):
            line = parse_check_line(_text_of(folder, stem), stem.replace("_", "-"))
            lines += [line] if line else own_checks(import_module(f"{package}.{stem}"))
    return tuple(lines)


def _source_of(package: str, stem: str) -> str:
    return (Path(import_module(package).__path__[0]) / f"{stem}.py").read_text(encoding="utf-8")


def _check_modules(name: str) -> list[ModuleType]:
    """The files that are named for a check, at every gate."""
    stem = name.replace("-", "_")
    return [import_module(f"{each}.{stem}") for each in _gates_with(stem)]


def _gates_with(stem: str) -> list[str]:
    packages = (f"herorun.checks.{gate}" for gate in Gate)
    return [each for each in packages if stem in module_names(each)]


def own_checks(module: ModuleType) -> list[Check]:
    """The checks that the module itself defines, not those that it imports."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, Check) and item.ask.__module__ == module.__name__
    ]


def _modules(package: str) -> list[ModuleType]:
    return [import_module(f"{package}.{name}") for name in module_names(package)]


@cache
def module_names(package: str) -> tuple[str, ...]:
    """Its modules, none of them imported."""
    path = import_module(package).__path__
    return tuple(sorted({name for folder in path for name in _names_in(folder)}))


def _names_in(folder: str) -> Iterable[str]:
    """`pkgutil` tells the same, in 2 ms for a folder of ours; only it reads an archive."""
    try:
        files = os.listdir(folder)
    except OSError:
        import pkgutil

        return [each.name for each in pkgutil.iter_modules([folder]) if not each.ispkg]
    stems = (file.partition(".") for file in files)
    return [stem for stem, _, ending in stems if f".{ending}" in _ENDINGS and stem != "__init__"]


@cache
def sources() -> Mapping[Any, Callable[..., Any]]:
    """Every `read_...` function in `herorun.sources`, by the evidence that it returns. A file is
    imported when its evidence is looked up.
    """
    from herorun.source_index import SourceIndex

    package = "herorun.sources"
    folder = import_module(package).__path__[0]
    texts = {name: _text_of(folder, name) for name in module_names(package)}
    return SourceIndex(texts, lambda name: import_module(f"{package}.{name}"))


def _text_of(folder: str, stem: str) -> str:
    """The source text of a module, empty where only its bytecode is installed."""
    try:
        with FileIO(f"{folder}/{stem}.py") as file:  # half of what `Path.read_text` takes
            return file.read().decode()
    except FileNotFoundError:
        return ""


def _foreign_checks() -> list[Check]:
    foreign = []
    for point in entry_points_of("herorun.checks"):
        try:
            foreign += own_checks(point.load())
        except Exception as error:  # a site's check that cannot be asked is not a check that passed
            foreign += [
                _make_broken_check(point.name, gate, repr(error))
                for gate in (Gate.LAUNCH, Gate.SEAL)
            ]
    return foreign


def _make_broken_check(name: str, gate: Gate, why: str) -> Check:
    """Stands for an installed check that cannot be imported: it answers UNKNOWN, so it blocks."""

    def ask() -> Verdict:
        """An installed check cannot be imported.

        Why: a check that a site relies on and that is not asked is not a check that passed.
        Fix: repair, upgrade or uninstall the package that brings it.
        """
        return unknown(f"the installed check {name} cannot be imported: {why}", subject=name)

    ask.__name__ = f"broken_check_{name}_{gate}"
    return make_check(gate, Response.BLOCK)(ask)


def entry_points_of(group: str) -> list[Any]:
    """Looked up only where something is loaded: reading the metadata of every package is slow."""
    if not is_group_offered(group):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=group))
