"""Verifying a record: its history is read from git, judged by `core.verify`, and held against its anchors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from herorun.core.errors import HerorunError, WrongUse
from herorun.core.verify import Snapshot, faults_in
from herorun.record import Record
from herorun.system.git import Repository, find_repository
from herorun.workspace import open_run


@dataclass(frozen=True)
class Verified:
    """What was found. `notes` are what could not be proven either way."""

    entries: int
    commits: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    unseen: bool = False

    @property
    def verdict(self) -> str:
        if self.faults:
            return "blocked"
        return "unknown" if self.unseen else "clear"

    def as_json(self) -> dict[str, Any]:
        """The promised shape."""
        return {
            "verdict": self.verdict,
            "entries": self.entries,
            "faults": list(self.faults),
            "notes": list(self.notes),
        }


def open_record(name: str, start: Path) -> Record:
    """The record of RUN, also in a fresh clone and where the contract file is gone."""
    repository = find_repository(start)
    try:
        record = open_run(name, start).record
    except HerorunError:
        slug = Path(name).stem
        if repository.resolve(f"refs/herorun/record/{slug}") is None:
            remote = "origin" if "origin" in repository.remotes() else None
            record = Record(repository, slug, f"herorun/{slug}", remote, lambda: "")
            record.fetch()
            if record.tip is None:
                raise
        record = Record(repository, slug, f"herorun/{slug}", None, lambda: "")
    record.fetch()
    if record.tip is None:
        raise WrongUse(f"{record.slug} has no record: `herorun init {record.slug}` begins one.")
    return record


def verify_record(record: Record) -> Verified:
    """Walk every commit of the record, and demand that each anchor lies on its line."""
    tip = record.tip
    assert tip is not None
    history = read_history(record, tip)
    faults = faults_in(history)
    anchored, notes, unseen = _anchors(record, tip)
    entries = sum(data.count(b"\n") for data in history[-1].segments.values()) if history else 0
    return Verified(entries, len(history), (*faults, *anchored), notes, unseen)


def read_history(record: Record, tip: str) -> list[Snapshot]:
    """The record at each of its commits, oldest first, in two git calls."""
    changes = _changes(record.repository, tip)
    wanted = sorted({oid for _, _, changed in changes for oid in changed.values() if oid})
    blobs = _blobs(record.repository, wanted)
    files: dict[str, str] = {}
    history = []
    for commit, parents, changed in changes:
        files = {path: oid for path, oid in {**files, **changed}.items() if oid}
        segments = {p: blobs[o] for p, o in files.items() if p.startswith(record.journal_path + "/")}
        logbook = blobs.get(files.get(record.logbook_path, ""), b"").decode("utf-8", "replace")
        history.append(Snapshot(commit, parents, segments, logbook))
    return history


def _changes(repository: Repository, tip: str) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    """`(commit, parents, {path: blob, or empty where it was removed})`, oldest first."""
    out = repository.git(
        "log",
        "--reverse",
        "--topo-order",
        "--root",
        "-m",
        "--first-parent",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--format=%x01%H %P",
        tip,
    ).text
    found = []
    for block in out.split("\x01")[1:]:
        head, _, rest = block.partition("\0")
        commit, *parents = head.strip().split(" ")
        tokens = [token.strip("\n") for token in rest.split("\0")]
        changed = {}
        for facts, path in zip(tokens[::2], tokens[1::2], strict=False):
            oid = facts.split(" ")[3]
            changed[path] = "" if set(oid) == {"0"} else oid
        found.append((commit, tuple(p for p in parents if p), changed))
    return found


def _blobs(repository: Repository, oids: list[str]) -> dict[str, bytes]:
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    out = repository.git("cat-file", "--batch", stdin=asked).out
    found, at = {}, 0
    for oid in oids:
        end = out.index(b"\n", at)
        size = int(out[at:end].rsplit(b" ", 1)[1])
        found[oid] = out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


def _anchors(record: Record, tip: str) -> tuple[list[str], tuple[str, ...], bool]:
    """Points outside the branch that name record commits: what was pushed, what the remote holds, the seal tag."""
    repository = record.repository
    named = {}
    if record.pushed:
        named["the commit that was pushed last"] = record.pushed
    notes, unseen = [], False
    if record.remote:
        try:
            there = repository.remote_tips(record.remote, f"refs/heads/{record.branch}").get(
                f"refs/heads/{record.branch}"
            )
            if there:
                named[f"the branch on {record.remote}"] = there
            else:
                notes.append(f"not anchored: {record.branch} is not on {record.remote}")
        except HerorunError as error:
            notes.append(f"the remote could not be asked: {error}")
            unseen = True
    else:
        notes.append("not anchored: there is no remote")
    named |= _seal_anchors(repository, record.slug)
    faults = []
    for what, commit in named.items():
        if not repository.has(commit):
            notes.append(f"{what} ({commit[:9]}) is not in this clone")
        elif not repository.is_ancestor(commit, tip):
            faults.append(
                f"anchor: {what} ({commit[:9]}) is not part of this record: it was rewritten or forked"
            )
    return faults, tuple(notes), unseen


def _seal_anchors(repository: Repository, slug: str) -> dict[str, str]:
    import json

    named = {}
    tags = repository.git("for-each-ref", "--format=%(refname)", f"refs/tags/herorun/{slug}/").text.split()
    for tag in tags:
        message = repository.git("cat-file", "tag", tag, ok=(0, 128)).text
        try:
            named[f"the record that {tag.removeprefix('refs/tags/')} names"] = json.loads(
                message[message.index("\n{") :]
            )["record"]
        except (ValueError, KeyError):
            continue
    return named
