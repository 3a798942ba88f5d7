"""What every layout shares: which names are checkpoints, and which are only nearly one."""

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from herorun.core.evidence import Candidate
from herorun.core.evidence.checkpoints import in_order
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import FileEntry, Store
from herorun.stores.layouts._contents import contents, last_touched

MAX_DIGITS = 18  # of a step: more than any run trains, and no number of 64 bits holds more
_TEMPORARY_NAME = lazy_regex(r"(?<![a-z])te?mp(?![a-z])|partial|incomplete|staging", re.IGNORECASE)


@dataclass(frozen=True)
class Naming:
    """Group 1 of both patterns is the step, in ASCII digits."""

    full_name: re.Pattern[str]  # a checkpoint's name, all of it
    nearly: re.Pattern[str]  # found in a name that is not one: a backup, or a save under way
    form: str  # the name of a new checkpoint, by `format(step)`
    files: bool = False  # whether a checkpoint may be one file


def stem(name: str, digits: str = "[0-9]+", width: str = "") -> Naming:
    """Folders called `<name><step>`, the step with at least as many digits as `width` says (`07`:
    seven). Nearly one is a name that holds that between other signs than letters and digits.
    """
    return Naming(
        re.compile(f"{name}({digits})"),
        re.compile(rf"(?<![0-9A-Za-z]){name}([0-9]+)(?![0-9A-Za-z])"),
        f"{name}{{:{width}}}",
    )


class NamedLayout(ABC):
    """A layout that knows a checkpoint by its name. See `core.ports.Layout`."""

    naming: ClassVar[Naming]

    @abstractmethod
    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        """Examine one checkpoint; None if it is gone."""

    def final(self, root: str, step: int) -> str:
        return f"{root.rstrip('/')}/{self.naming.form.format(step)}"

    def listed(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        root = root.rstrip("/") or "/"
        candidates = (
            _candidate(self.naming, entry, root, temporary) for entry in store.entries(root)
        )
        return in_order(candidate for candidate in candidates if candidate)

    def examined(self, store: Store, candidate: Candidate) -> Candidate | None:
        if not self.naming.full_name.fullmatch(candidate.path.rpartition("/")[2]):
            return candidate
        return self.examine(store, replace(candidate, examined=True, problem=""))

    def dated(self, store: Store, candidate: Candidate) -> Candidate:
        entries = contents(store, candidate.path)
        return replace(candidate, modified=last_touched(entries or {}, candidate))

    def candidates(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        in_roots = (
            self.examined(store, candidate) for candidate in self.listed(store, root, temporary)
        )
        return in_order(candidate for candidate in in_roots if candidate)


def _candidate(naming: Naming, entry: FileEntry, root: str, temporary: bool) -> Candidate | None:
    name = entry.name.removesuffix("/")
    if name == entry.name and not naming.files:
        return None
    path = f"{root.rstrip('/')}/{name}"
    exact, near_match = naming.full_name.fullmatch(name), naming.nearly.search(name)
    digits = next((match[1] for match in (exact, near_match) if match), "")
    if not digits or len(digits.lstrip("0")) > MAX_DIGITS:
        return None
    if exact:
        return Candidate(
            path=path,
            step=int(exact[1]),
            root=root,
            temporary=temporary,
            modified=entry.modified,
            examined=False,
        )
    if near_match:
        step = int(near_match[1])
        alike = not _TEMPORARY_NAME.search(name)
        return Candidate(
            path=path,
            step=step,
            root=root,
            temporary=temporary,
            problem=_nearly(name),
            modified=entry.modified,
            alike=alike,
        )
    return None


def _nearly(name: str) -> str:
    if _TEMPORARY_NAME.search(name):
        return f"{name} is a temporary name: the save was begun and not finished"
    return f"{name} is not a checkpoint's name, only like one: a backup is never chosen"
