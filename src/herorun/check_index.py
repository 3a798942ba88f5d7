"""Health checks by what their files declare, so that a check's file is imported when it is asked.

Most ticks lack the evidence of half of the checks: there is no row yet, no log, no checkpoint. What
such a check answers needs its declaration alone, and importing the files of all takes a tenth of
the CPU time of `herorun status`. `docs/generate.py` prints the index. An entry counts for the very
bytes of the file that it was made of.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cached_property, partial
from importlib import import_module
from io import FileIO
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from herorun.core import contract, evidence
from herorun.core.canonical_json import sha256
from herorun.core.check import AtRelaunch, Check, Gate, Hold, Response, Topic, name_of
from herorun.core.evidence import Nothing, Unavailable
from herorun.core.notify.escalation import EscalationReason

_PACKAGE = f"herorun.checks.{Gate.HEALTH}"
ChecksIn: TypeAlias = Callable[[ModuleType], list[Check]]  # those that a file defines itself
_SPECIAL = {"Nothing": Nothing, "Unavailable": Unavailable}


class IndexedCheck(Check):
    """A check as its file declares it. Its function and its `Limits` are imported on first use."""

    def __init__(self, name: str, entry: Mapping[str, Any], load: Callable[[], Check]) -> None:
        """From an entry that `declaration` made; `load` imports the check's file."""
        needs = [need.split("|") for need in entry["needs"]]
        duration, ticks, steps = entry["hold"]
        vars(self).update(
            name=name,
            gate=Gate.HEALTH,
            response=Response(entry["response"]),
            hold=Hold(timedelta(seconds=duration), ticks, steps),
            topic=Topic(entry["topic"]),
            needs=tuple(_evidence_type(kind) for kind, *_ in needs),
            accepts=tuple(frozenset(_SPECIAL[each] for each in others) for _, *others in needs),
            asks=EscalationReason(entry["asks"]) if entry["asks"] else None,
            vetoes_relaunch=entry["vetoes_relaunch"],
            inhibited_by=tuple(entry["inhibited_by"]),
            at_relaunch=AtRelaunch.SKIP,
            _entry=entry,
            _load=load,
        )

    __eq__, __hash__ = object.__eq__, object.__hash__  # to compare the fields would import the file

    @cached_property
    def _check(self) -> Check:
        check: Check = vars(self)["_load"]()
        return check

    @cached_property
    def ask(self) -> Any:
        return self._check.ask

    @cached_property
    def limits(self) -> type[Any] | None:
        return self._check.limits

    @property
    def declared_limits(self) -> Any:
        return vars(self)["_entry"]["limits"]


def declaration(check: Check) -> dict[str, Any]:
    """What the index holds of a health check, as JSON."""
    hold = check.hold
    return {
        "response": check.response.value,
        "hold": [hold.duration.total_seconds(), hold.ticks, hold.steps],
        "topic": check.topic.value,
        "needs": [
            "|".join([name_of(kind), *sorted(name_of(other) for other in others)])
            for kind, others in zip(check.needs, check.accepts, strict=True)
        ],
        "limits": check.declared_limits,
        "asks": check.asks.value if check.asks else "",
        "vetoes_relaunch": check.vetoes_relaunch,
        "inhibited_by": list(check.inhibited_by),
    }


def _evidence_type(name: str) -> Any:
    return getattr(evidence if hasattr(evidence, name) else contract, name)


def health_checks(stems: Iterable[str], checks_in: ChecksIn) -> list[Check]:
    """Those of our files of these names. A file that was added or edited since the index was
    printed, or that defines more than one check, is imported.
    """
    entries, checks = _read_index(), list[Check]()
    for stem in stems:
        name = stem.replace("_", "-")
        if name in entries and entries[name].get("source") == _source_digest(stem):
            checks.append(IndexedCheck(name, entries[name], partial(_only_check, stem, checks_in)))
        else:
            checks += checks_in(import_module(f"{_PACKAGE}.{stem}"))
    return checks


def index_file() -> Path:
    """What `docs/generate.py` writes."""
    return Path(import_module("herorun.checks").__path__[0]) / "health_index.json"


def declarations(stems: Iterable[str], checks_in: ChecksIn) -> dict[str, Any]:
    """What that file is to hold: of each file that defines one check of its own name. All files are
    imported for it.
    """
    checks = {stem: checks_in(import_module(f"{_PACKAGE}.{stem}")) for stem in stems}
    return {
        file_checks[0].name: {"source": _source_digest(stem), **declaration(file_checks[0])}
        for stem, file_checks in checks.items()
        if [check.name for check in file_checks] == [stem.replace("_", "-")]
    }


def _only_check(stem: str, checks_in: ChecksIn) -> Check:
    (check,) = checks_in(import_module(f"{_PACKAGE}.{stem}"))
    return check


def _source_digest(stem: str) -> str:
    """Empty where the text cannot be read, as where only bytecode is installed."""
    try:
        # a buffer would take longer than to read
        with FileIO(f"{import_module(_PACKAGE).__path__[0]}/{stem}.py") as file:
            return sha256(file.read()).hexdigest()[:16]
    except OSError:
        return ""


def _read_index() -> Mapping[str, Any]:
    """Empty where it cannot be read: then all files are imported."""
    try:
        index: Mapping[str, Any] = json.loads(index_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return index
