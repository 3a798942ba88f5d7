"""A record's history, read from git commit by commit, also beyond what this clone has."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from herorun.core.errors import HerorunError
from herorun.core.record.logbook import page_number, pages_of
from herorun.core.record.verify import RecordSnapshot
from herorun.record import MAX_BYTES, Record
from herorun.record.seals import bring_tag, is_seal_of, seal_problem
from herorun.runs import open_run
from herorun.runs.launch_trust import prove
from herorun.system import progress
from herorun.system.git import Repository

BATCH = 100  # commits whose content is held at once


def read_history(record: Record, tip: str) -> Iterator[RecordSnapshot]:
    """The record at each of its commits, oldest first; its content is read batch by batch."""
    changes = [
        (commit, parents, _of_record(record, paths))
        for commit, parents, paths in _read_history(record.repository, tip)
    ]
    files: dict[str, str] = {}
    blobs: dict[str, bytes] = {}
    for start in range(0, len(changes), BATCH):
        progress.progress("walking the record", start, len(changes))
        batch = changes[start : start + BATCH]
        oids = {oid for _, _, changed_blobs in batch for oid in changed_blobs.values() if oid}
        previous = {oid: blobs[oid] for oid in files.values()}
        blobs = {**record.repository.blobs(sorted(oids - previous.keys()), MAX_BYTES), **previous}
        for commit, parents, changed_blobs in batch:
            files = {path: oid for path, oid in {**files, **changed_blobs}.items() if oid}
            pages = {path: blobs[files[path]] for path in pages_of(record.logbook_path, files)}
            segments = {path: blobs[oid] for path, oid in files.items() if path not in pages}
            yield RecordSnapshot(commit, parents, segments, pages)
    progress.progress("walking the record", 1, 1)


def _of_record(record: Record, changed_blobs: dict[str, str]) -> dict[str, str]:
    """Journal and logbook; what lies next to them is not judged."""
    inside = f"{record.journal_path}/"
    first = record.logbook_path
    return {
        path: oid
        for path, oid in changed_blobs.items()
        if path.startswith(inside) or page_number(first, path)
    }


_OPTIONS = (
    *("--reverse", "--topo-order", "--root", "-m", "--first-parent"),
    *("--raw", "-z", "--no-abbrev", "--no-renames", "--encoding=UTF-8", "--format=%x01%H %P"),
)


def _read_history(
    repository: Repository, tip: str
) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    """`(commit, parents, {path: blob, or empty where it was removed})`, oldest first."""
    out = repository.git("log", *_OPTIONS, tip).text
    commits: list[tuple[str, tuple[str, ...], dict[str, str]]] = []
    tokens = iter(out.split("\0"))
    for token in map(str.strip, tokens):
        if token.startswith("\x01"):
            commit, *parents = token[1:].split(" ")
            commits.append((commit, tuple(parents), {}))
        elif token:
            oid = token.split(" ")[3]
            commits[-1][2][next(tokens)] = "" if set(oid) == {"0"} else oid
    return commits


def remote_faults(
    name: str, start: Path, record: Record, remote_tip: str | None
) -> tuple[list[str], list[str]]:
    """Faults in what the remote's branch contains beyond this clone's record, as launches and seals
    that nothing proves; and why it is unknown. `remote_tip` is in this clone.
    """
    if remote_tip is None:
        return [], []  # no remote, no branch, no answer: already reported
    try:
        ours, theirs = record.memory_as_written(), record.memory_at(remote_tip)
    except HerorunError:
        return [], []  # damaged: already reported
    for seal in (*theirs.milestones, theirs.sealed):
        if seal and record.remote and is_seal_of(record.slug, seal.tag):
            with contextlib.suppress(HerorunError):  # then the tag is missing, which is a fault
                bring_tag(record.repository, record.remote, seal.tag)
    faults = [
        f"the seal {seal.tag} does not count: {problem}"
        for seal in (*theirs.milestones, theirs.sealed)
        if seal and (problem := seal_problem(record.repository, record.slug, seal))
    ]
    if theirs.launchings == ours.launchings:
        return faults, []
    rules = None
    with contextlib.suppress(HerorunError):
        rules = open_run(name, start).contract
    proof = prove(record, rules, theirs)
    return [*proof.doubts, *faults], [proof.unseen] if proof.unseen else []
