"""The sources by the evidence that they return, each file imported when its evidence is needed.

A look at a run needs some 15 of 37 files. Which file returns what is in the text of its signatures:
reading all of them costs as much as importing three.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import ModuleType
from typing import Any

from herorun.core.lazy_regex import lazy_regex
from herorun.gather import Source, by_kind

# It begins with plain text, which is looked for ten times as fast as the start of a line.
_RETURNED = lazy_regex(r"\ndef read_\w+\(.*?\)\s*->\s*(\w+)", re.DOTALL)


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
    type_names = _RETURNED.findall(lines)
    definitions = lines.count("\ndef read_") + lines.count("\nread_")
    return type_names if text and len(type_names) == definitions else None


def sources_in(module: ModuleType) -> list[Source]:
    """The `read_...` functions that a module defines itself."""
    return [
        item
        for name, item in vars(module).items()
        if name.startswith("read_") and getattr(item, "__module__", "") == module.__name__
    ]
