"""Checkpoints and output roots. An unreachable root raises, so the evidence is Unavailable, never
empty.

Each root costs one listing; only those that a decision needs are examined, newest first, so that a
root with thousands of steps costs only a few requests more. The others are listed, unexamined.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from herorun.core.contract import Contract
from herorun.core.errors import describe_error
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobState,
    LeftCheckpoints,
    Nothing,
    OutputRoots,
    RootAtEnd,
    StartSiblings,
    Unavailable,
)
from herorun.core.evidence.checkpoints import in_order
from herorun.core.lineage import decided_on, given_up, is_rejected, refusal
from herorun.core.ports import Layout, Store
from herorun.core.redaction.scrub import scrub

OWN, RECEIPTS = "_herorun/", "_herorun/receipts"
# If a listing has no times, as on object stores, some checkpoints below the newest are dated by
# their own listing: after a rollback the one written last is among them. FURTHER of them, and at
# least one within REQUESTS for each root.
FURTHER, REQUESTS = 2, 8
PAGE = 1000  # names in one answer of an object store


def read_checkpoints(
    contract: Contract, store: Store, layout: Layout, history: History, final: FinalStep | Nothing
) -> Checkpoints:
    """All checkpoints in the run's permanent and temporary roots, ordered by step, except those
    from before the run.

    Those that a rollback gave up are listed separately. In each root the newest are examined until
    one is complete and no finding excludes it; also the one modified last, the one that the
    contract names, and those of the final step. An unreadable one raises if it may be the newest of
    all, because a resume from an older one would silently repeat steps. An older unreadable one is
    listed as unread.
    """
    last = final.value if isinstance(final, FinalStep) else None
    candidates = []
    for root, temporary in _output_roots(contract):
        listing = [
            c for c in _list_root(store, layout, root, temporary) if c.path not in history.foreign
        ]
        root_candidates = _inspect_checkpoints(
            store, layout, contract, listing, lambda c: refusal(c, contract, history), last
        )
        candidates += [
            _dated_by_its_files(store, layout, candidate, history) for candidate in root_candidates
        ]
    if history.instances:
        _must_be_readable(candidates, lambda c: refusal(c, contract, history))
    back = {
        c for c in candidates if given_up(c, history.given_up) and not decided_on(contract, [c])
    }
    return Checkpoints(in_order(c for c in candidates if c not in back), in_order(back))


def read_start_siblings(contract: Contract, store: Store, layout: Layout) -> StartSiblings:
    """The checkpoints in the same folder as the one that `[start] from` names, perhaps in another
    store than the run's.

    Examined are the named one, the newest until one is complete, and the one that was modified
    last.
    """
    start_path = contract.start.from_
    if start_path is None:
        return StartSiblings()
    listing = _list_root(store, layout, start_path.rstrip("/").rpartition("/")[0] or "/", False)
    candidates = _inspect_checkpoints(store, layout, contract, listing, lambda c: "", None)
    return StartSiblings(in_order(candidates))


def read_left_checkpoints(
    contract: Contract, store: Store, layout: Layout, history: History
) -> LeftCheckpoints | Nothing:
    """The checkpoints in recorded roots that the contract no longer names."""
    current_roots = {root for root, _ in _output_roots(contract)}
    recorded_roots = dict.fromkeys(
        root for instance in history.instances for root in instance.roots
    )
    old_roots = [root for root in recorded_roots if root not in current_roots]
    if not old_roots:
        return Nothing("the contract names every output root that an instance wrote to")
    candidates: list[Candidate] = []
    for root in old_roots:
        listing = [
            c for c in _list_root(store, layout, root, False) if c.path not in history.foreign
        ]
        candidates += _inspect_checkpoints(
            store, layout, contract, listing, lambda c: refusal(c, contract, history), None
        )
    return LeftCheckpoints(in_order(candidates))


def read_output_roots(contract: Contract, store: Store) -> OutputRoots:
    """The entries of each root, without herorun's `_herorun/`."""
    entries: dict[str, tuple[str, ...] | None] = {}
    for root, _ in _output_roots(contract):
        try:
            entries[root] = tuple(name for name in store.names(root) if name != OWN)
        except FileNotFoundError:
            entries[root] = None
    return OutputRoots(entries)


def read_root_at_end(
    job: Job, contract: Contract, store: Store, checkpoints: Checkpoints | Nothing | Unavailable
) -> RootAtEnd | Nothing:
    """Whether the roots exist, also while the job is live. A root with a checkpoint that was just
    read needs no request.
    """
    if job.state in (JobState.PENDING, JobState.BUILDING):
        return Nothing(f"{job.instance} has not begun")
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    nonempty_roots = {candidate.root.rstrip("/") for candidate in candidates}
    root, temporary = (
        contract.output.root.rstrip("/"),
        (contract.output.temporary_root or "").rstrip("/"),
    )
    exists = root in nonempty_roots or _has_files(store, root)
    temporary_there = (
        not temporary or temporary in nonempty_roots or bool(_list_names(store, temporary))
    )
    return RootAtEnd(root, exists, temporary, temporary_there)


def _has_files(store: Store, root: str) -> bool:
    names = _list_names(store, root)
    return any(name != OWN for name in names) or (
        OWN in names and bool(_list_names(store, f"{root}/{RECEIPTS}"))
    )


def _list_names(store: Store, folder: str) -> tuple[str, ...]:
    try:
        return store.names(folder)
    except FileNotFoundError:
        return ()


def _output_roots(contract: Contract) -> list[tuple[str, bool]]:
    roots = [(contract.output.root.rstrip("/"), False)]
    if contract.output.temporary_root:
        roots.append((contract.output.temporary_root.rstrip("/"), True))
    return roots


def _list_root(store: Store, layout: Layout, root: str, temporary: bool) -> tuple[Candidate, ...]:
    try:
        return layout.listed(store, root, temporary)
    except FileNotFoundError:
        return ()  # the query succeeded: the folder does not exist yet


def _inspect_checkpoints(
    store: Store,
    layout: Layout,
    contract: Contract,
    listing: Iterable[Candidate],
    refusal_of: Callable[[Candidate], str],
    final: int | None,
) -> list[Candidate]:
    """The listed checkpoints, with those examined that decisions need; without those that were
    removed since the listing.
    """
    by_path: dict[str, Candidate | None] = {candidate.path: candidate for candidate in listing}
    newest_first = sorted(_open(by_path.values(), contract), key=lambda c: (-c.step, c.path))
    latest = max(
        (c for c in newest_first if c.modified),
        key=lambda c: (str(c.modified), c.step),
        default=None,
    )
    start_path = (contract.start.from_ or "").rstrip("/")
    for candidate in newest_first:
        result = by_path[candidate.path] = _examine_candidate(store, layout, candidate)
        if result and (result.is_unread or (result.complete and not refusal_of(result))):
            break
    also = [latest.path] if latest else _later(store, layout, by_path, newest_first)
    for path in {*also, start_path, *(c.path for c in newest_first if c.step == final)}:
        candidate_then = by_path.get(path)
        if candidate_then and not candidate_then.examined and not candidate_then.is_unread:
            by_path[path] = _examine_candidate(store, layout, candidate_then)
    return [candidate for candidate in by_path.values() if candidate]


def _later(
    store: Store,
    layout: Layout,
    by_path: dict[str, Candidate | None],
    newest_first: list[Candidate],
) -> list[str]:
    """The next ones below those examined that may have been written after the newest; dates
    them.
    """
    recent = [entry for c in newest_first if (entry := by_path[c.path]) and entry.examined]
    newest = next((entry.modified for entry in recent if entry.complete), None)
    pages = 1 + len(by_path) // PAGE
    count = min(FURTHER, max(1, REQUESTS - pages - 2 * len(recent)))
    below = [c for c in newest_first if by_path[c.path] == c][:count]
    for candidate in below:
        try:
            by_path[candidate.path] = layout.dated(store, candidate)
        except OSError as error:
            by_path[candidate.path] = _mark_unread(candidate, error)
    dated_entries = [entry for c in below if (entry := by_path[c.path])]
    return [
        c.path for c in dated_entries if newest is None or c.modified is None or c.modified > newest
    ]


def _dated_by_its_files(
    store: Store, layout: Layout, candidate: Candidate, history: History
) -> Candidate:
    """A checkpoint that a rollback ruled out by its folder's time, dated again by its files:
    rewriting files does not change the folder's time.
    """
    if candidate.examined or candidate.problem or not candidate.modified:
        return candidate
    if given_up(candidate, history.given_up) is None:
        return candidate
    try:
        return layout.dated(store, candidate)
    except OSError:
        return candidate  # it stays ruled out


def _open(candidates: Iterable[Candidate | None], contract: Contract) -> list[Candidate]:
    """The candidates to examine: a rejected lineage is never chosen, so it is only listed."""
    return [
        c
        for c in candidates
        if c and not c.examined and not is_rejected(c.path, contract.start.rejected)
    ]


def _examine_candidate(store: Store, layout: Layout, candidate: Candidate) -> Candidate | None:
    """The examined candidate; if that fails, it is neither complete nor incomplete, with the
    reason.
    """
    try:
        return layout.examined(store, candidate)
    except OSError as error:
        return _mark_unread(candidate, error)


def _mark_unread(candidate: Candidate, error: OSError) -> Candidate:
    return replace(candidate, problem=f"it could not be read: {scrub(describe_error(error))}")


def _must_be_readable(candidates: list[Candidate], refusal_of: Callable[[Candidate], str]) -> None:
    best = max((c.step for c in candidates if c.complete and not refusal_of(c)), default=-1)
    unreadable = next(
        (c for c in candidates if c.is_unread and c.step > best and not refusal_of(c)), None
    )
    if unreadable:
        raise OSError(f"{unreadable.path} may be the newest checkpoint: {unreadable.problem}")
