"""The sources by the evidence that they return, each file imported when its evidence is needed; and
the order in which evidence is read.

A look at a run needs some 15 of 37 files. Which file returns what is in the text of its signatures:
reading all of them costs as much as importing three.
"""

import re
import types
import typing
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from graphlib import TopologicalSorter
from types import ModuleType
from typing import Any, TypeAlias

from herorun.core.evidence import Gaps, Nothing, Unavailable
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

Source: TypeAlias = Callable[..., Any]
Kind: TypeAlias = Any  # an evidence type
Graph: TypeAlias = dict[Kind, tuple[Kind, ...]]  # what each is read from

# It begins with plain text, which is looked for ten times as fast as the start of a line.
_RETURN_TYPE = lazy_regex(r"\ndef read_\w+\(.*?\)\s*->\s*(\w+)", re.DOTALL)


class SourceIndex(Mapping[Any, Source]):
    """Behaves as `by_kind` of all sources does. Walking through it imports all of them."""

    def __init__(self, texts: Mapping[str, str], load: Callable[[str], ModuleType]) -> None:
        """The text of each module by its name, empty where it cannot be read, and what imports
        one.
        """
        self._load, self._read_modules = load, dict[str, Mapping[Any, Source]]()
        self._modules_by_evidence: dict[str, list[str]] = {}
        self._unclear: list[str] = []  # their text does not tell what they return
        for name, text in texts.items():
            type_names = evidence_names(text)
            if type_names is None:
                self._unclear.append(name)
            for evidence in type_names or ():
                self._modules_by_evidence.setdefault(evidence, []).append(name)

    def __getitem__(self, kind: Any) -> Source:
        names = self._modules_by_evidence.get(getattr(kind, "__name__", ""), [])
        for name in [*names, *self._unclear]:
            if kind in (sources := self._sources_of(name)):
                return sources[kind]
        raise KeyError(kind)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[Any, Source]:
        names = {name for names in self._modules_by_evidence.values() for name in names}
        modules = sorted(names.union(self._unclear))
        return {kind: item for name in modules for kind, item in self._sources_of(name).items()}

    def _sources_of(self, name: str) -> Mapping[Any, Source]:
        if name not in self._read_modules:
            self._read_modules[name] = by_kind(sources_in(self._load(name)))
        return self._read_modules[name]


def evidence_names(text: str) -> list[str] | None:
    """The names of what the `read_...` functions of a file return; none where it does not tell."""
    lines = f"\n{text}"
    type_names = _RETURN_TYPE.findall(lines)
    definitions = lines.count("\ndef read_") + lines.count("\nread_")
    return type_names if text and len(type_names) == definitions else None


def sources_in(module: ModuleType) -> list[Source]:
    """The `read_...` functions that a module defines itself."""
    return [
        item
        for name, item in vars(module).items()
        if name.startswith("read_") and getattr(item, "__module__", "") == module.__name__
    ]


def by_kind(sources: Iterable[Source]) -> dict[Kind, Source]:
    """Index sources by the evidence that they return; `Job | Nothing` is a source of Job."""
    return {evidence_type(_hints(source)["return"]): source for source in sources}


def evidence_type(hint: Any) -> Kind:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint
    (kind,) = [part for part in typing.get_args(hint) if part not in (Nothing, Unavailable)]
    return kind


class _IdentityKey:
    """An object as the key of a cache; it is kept, so that its `id` is nobody else's."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and other.item is self.item

    def __hash__(self) -> int:
        return id(self.item)


def read_order(
    kinds: Iterable[Kind], sources: Mapping[Kind, Source], given_kinds: Iterable[Kind]
) -> tuple[Graph, "ReadOrder"]:
    """What each kind is read from, and the order of the reads."""
    return _read_order(tuple(kinds), _IdentityKey(sources), frozenset(given_kinds))


@lru_cache(maxsize=64)
def _read_order(
    kinds: tuple[Kind, ...], sources: _IdentityKey, given_kinds: frozenset[Kind]
) -> tuple[Graph, "ReadOrder"]:
    """The same for all runs of a process: few sets are wanted, and few are given."""
    graph = _build_graph(kinds, sources.item, given_kinds)
    return graph, ReadOrder.of(graph, given_kinds)


def _build_graph(
    kinds: Iterable[Kind], sources: Mapping[Kind, Source], given_kinds: Container[Kind]
) -> Graph:
    graph: Graph = {}
    queue = [kind for kind in kinds if kind is not Gaps]
    while queue:
        kind = queue.pop()
        if kind not in graph:
            source = None if kind in given_kinds else sources.get(kind)
            graph[kind] = _inputs(source) if source else ()
            queue += graph[kind]
    return graph


@dataclass(frozen=True)
class ReadOrder:
    """What there is to read, and what is to be read first: half of a graph is given."""

    needs: Mapping[Kind, int]  # how many of its inputs are to be read
    users: Mapping[Kind, tuple[Kind, ...]]  # what is read from it

    @classmethod
    def of(cls, graph: Graph, given_kinds: Container[Kind]) -> "ReadOrder":
        pending = {
            kind: {need for need in needs if need not in given_kinds}
            for kind, needs in graph.items()
            if kind not in given_kinds
        }
        tuple(TopologicalSorter(pending).static_order())  # an error for a circle
        counts = {kind: len(needs) for kind, needs in pending.items()}
        return cls(counts, {need: _users_of(need, pending) for need in pending})


def _users_of(need: Kind, pending: Mapping[Kind, Container[Kind]]) -> tuple[Kind, ...]:
    return tuple(kind for kind, needs in pending.items() if need in needs)


@lru_cache(maxsize=256)
def _hints(source: Source) -> dict[str, Any]:
    """Asked of each source three times a tick, and slow."""
    return typing.get_type_hints(source)


@lru_cache(maxsize=256)
def _inputs(source: Source) -> tuple[Kind, ...]:
    hints = _hints(source)
    return tuple(evidence_type(kind) for name, kind in hints.items() if name != "return")


@lru_cache(maxsize=256)
def accepted_types(source: Source) -> tuple[tuple[Any, ...], ...]:
    """The types of each input that the source itself handles."""
    hints = _hints(source)
    return tuple(typing.get_args(hint) for name, hint in hints.items() if name != "return")
