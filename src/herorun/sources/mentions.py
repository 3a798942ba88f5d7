"""Whether the files, the config or the command of the job name the values of `[tracker]` and
`[patrol]`.

Only a contradiction in the text counts: another file, id or pattern instead of the expected one. If
the text names nothing, or an external trainer may name it, nothing is concluded.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from posixpath import basename, splitext

from herorun.core.code.mentions import (
    JobProgram,
    NamedValue,
    foreign_imports,
    program,
    required_substrings,
)
from herorun.core.contract import Contract
from herorun.core.evidence import ImportClosure, Nothing, TrackerMentions
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.ports import Tracker
from herorun.core.redaction.scrub import scrub
from herorun.system.files import read_regular
from herorun.system.git import Repository

_MAX_BYTES = 4 << 20  # bytes: a larger file is data
_MAX_NAMES = 3  # names in a message
_OWN_LOG = lazy_regex(rb"herorun\.(log|callbacks)\b|from herorun import [^\n]*\blog\b")


def read_tracker_mentions(
    repository: Repository,
    contract: Contract,
    plan: Plan,
    closure: ImportClosure,
    tracker: Tracker,
) -> TrackerMentions | Nothing:
    """The mentions, by the contract's key."""
    if closure.entry is None:
        return Nothing("the command starts no Python file of this repository")
    if closure.unresolved:
        return Nothing(f"not every file of the job could be read: {closure.unresolved[0]}")
    files = {
        path: _read_small_file(os.path.join(repository.top, path)) for path in sorted(closure.files)
    }
    if foreign := foreign_imports(files, sys.stdlib_module_names):
        return Nothing(
            f"not compared: the job imports {foreign[0]}, which may set where the job reports to"
        )
    mentions = _Mentions(files, plan, program(files))
    mentions.tracker(tracker)
    for key in ("progress", "success_pattern"):
        mentions.pattern(f"[patrol] {key}", getattr(contract.patrol, key))
    if not mentions.places and not mentions.others:
        return Nothing("no file of the job names where it reports to")
    return TrackerMentions(mentions.places, mentions.others)


@dataclass
class _Mentions:
    files: Mapping[str, bytes]
    plan: Plan
    program: JobProgram
    places: dict[str, str] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)

    def tracker(self, tracker: Tracker) -> None:
        ask = getattr(tracker, "mentions", None)
        for each in ask(self.plan.tracker.value) if ask else ():
            if each.call:
                position = () if each.position is None else (each.position,)
                values = [*self.program.arguments(each.call, each.argument, *position)]
                self._compare(f"[tracker] {each.key}", each.value, values)
            else:
                self._file(each.value)

    def _file(self, name: str) -> None:
        key, suffix = "[tracker] path", splitext(name)[1]
        if place := next(self._places(name), ""):
            self.places[key] = f"{place} names {name}"
        elif any(_OWN_LOG.search(data) for data in self.files.values()):
            self.places[key] = "herorun.log writes where the contract's tracker reads"
        elif suffix:
            inputs = {*self.files, *self.plan.data.value.values()}
            files = [each for each in self.program.files(suffix) if each.value not in inputs]
            self._compare(key, name, files)

    def _compare(self, key: str, value: str, values: list[NamedValue]) -> None:
        """Compare a value with those in the text. Nothing is concluded if one of them is
        computed.
        """
        for each in values:
            if each.value is not None and value in (each.value, basename(each.value.rstrip("/"))):
                self.places[key] = f"{each.path}:{each.line} names {value}"
                return
        if values and all(each.value for each in values):
            values_text = ", ".join(dict.fromkeys(map(str, values[:_MAX_NAMES])))
            self.others[key] = scrub(f"the job names {values_text}, not {value!r}")

    def pattern(self, key: str, pattern: str | None) -> None:
        for word in required_substrings(pattern or ""):
            if not next(self._places(word), ""):
                self.others[key] = (
                    f"no file of the job contains the word {word!r}, which each line needs to match"
                )
                return
            self.places[key] = f"the job contains {word!r}"

    def _places(self, word: str) -> Iterator[str]:
        """The places of a text: files, the resolved config, the command and its environment."""
        plan = self.plan
        json_text = json.dumps(word)[1:-1]
        if any(word in part for part in (*plan.argv.value, *plan.resume_argv.value)):
            yield "the command"
        if json_text in json.dumps([*plan.env.value.values()], default=str):
            yield "[command] env"
        if json_text in json.dumps(dict(plan.config.value), default=str):
            yield "the config"
        yield from (path for path, data in self.files.items() if word.encode() in data)


def _read_small_file(path: str) -> bytes:
    """The content; empty if it is not a file, or too large for a program."""
    try:
        return read_regular(Path(path), _MAX_BYTES)
    except OSError:
        return b""
