"""Checkpoints and output roots. A root out of reach raises, and so reads as Unavailable: never as empty."""

from herorun.core.contract import Contract
from herorun.core.evidence import Candidate, Checkpoints, History, OutputRoots, StartSiblings
from herorun.core.ports import Layout, Store

OWN = "_herorun/"


def read_checkpoints(contract: Contract, store: Store, layout: Layout, history: History) -> Checkpoints:
    """Everything under the run's permanent and temporary roots, ordered by step, but what lay there before it."""
    found = [
        candidate
        for root, temporary in _roots(contract)
        for candidate in _candidates(store, layout, root, temporary)
        if candidate.path not in history.foreign
    ]
    return Checkpoints(tuple(sorted(found, key=lambda c: (c.step, c.timestamp, c.path))))


def read_start_siblings(contract: Contract, store: Store, layout: Layout) -> StartSiblings:
    """The checkpoints beside the one that `[start] from` names."""
    named = contract.start.from_
    if named is None:
        return StartSiblings()
    root = named.rstrip("/").rpartition("/")[0]
    return StartSiblings(_candidates(store, layout, root, False))


def read_output_roots(contract: Contract, store: Store) -> OutputRoots:
    """What lies in each root, without our own `_herorun/`."""
    entries: dict[str, tuple[str, ...] | None] = {}
    for root, _ in _roots(contract):
        try:
            entries[root] = tuple(name for name in store.names(root) if name != OWN)
        except FileNotFoundError:
            entries[root] = None
    return OutputRoots(entries)


def _roots(contract: Contract) -> list[tuple[str, bool]]:
    roots = [(contract.output.root.rstrip("/"), False)]
    if contract.output.temporary_root:
        roots.append((contract.output.temporary_root.rstrip("/"), True))
    return roots


def _candidates(store: Store, layout: Layout, root: str, temporary: bool) -> tuple[Candidate, ...]:
    try:
        return layout.candidates(store, root, temporary)
    except FileNotFoundError:
        return ()  # looked, and there is no such folder yet
