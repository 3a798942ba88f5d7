"""A record's history, read from git commit by commit."""

from herorun.core.verify import Snapshot
from herorun.record import Record
from herorun.system.git import Repository


def read_history(record: Record, tip: str) -> list[Snapshot]:
    """The record at each of its commits, oldest first, in two git calls."""
    changes = _changes(record.repository, tip)
    wanted = sorted({oid for _, _, changed in changes for oid in changed.values() if oid})
    blobs = record.repository.blobs(wanted)
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
