"""The run's checkpoints, each examined and listed, and the plan of what may be deleted."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import canonical, plain
from herorun.core.errors import Blocked, CouldNotLook, WrongUse, describe_error, sentence
from herorun.core.evidence import Candidate, FinalStep, Taint
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lineage import acceptable, describe_taints, refusal
from herorun.core.redaction.scrub import scrub
from herorun.core.retention import (
    PrunePlan,
    RetentionPolicy,
    SizedCheckpoint,
    plan_from,
    prune_plan,
)
from herorun.core.untrusted_json import read_json
from herorun.operations.checkpoints.manifest import read_manifest
from herorun.operations.checkpoints.references import all_references
from herorun.operations.health.taints import with_taints_now
from herorun.runs import Run, hide_output
from herorun.schemas.evaluations import CheckpointsList, ListedEntry
from herorun.system.clock import now
from herorun.system.files import read_regular, write_atomic

MAX_PLAN_BYTES = 64 << 20  # bytes: a plan has a line for each checkpoint
# roots or checkpoints that are examined at the same time: over ssh they share one connection
AT_ONCE = 32


@dataclass(frozen=True)
class CheckpointListing:
    """All checkpoints in number order, when they were listed, what taints some of them, and why no
    relaunch starts from some, by path.
    """

    checkpoints: tuple[SizedCheckpoint, ...]
    at: datetime
    taints: tuple[Taint, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)

    def document(self, roots: "SearchedRoots") -> CheckpointsList:
        return CheckpointsList(
            checkpoints=[self._entry(each) for each in self.checkpoints],
            missing_roots=roots.missing,
            unread_roots=roots.unreadable,
        )

    def _entry(self, each: SizedCheckpoint) -> ListedEntry:
        candidate = each.candidate
        state = (
            "complete"
            if candidate.complete
            else "incomplete"
            if candidate.incomplete
            else "unknown"
        )
        age = self.at - candidate.modified if candidate.modified else None
        return ListedEntry.of(
            candidate,
            state=state,
            problem=candidate.problem or each.doubt,
            tainted=describe_taints(candidate, self.taints),
            refused=self.refusals.get(candidate.path, ""),
            bytes=each.bytes,
            files=each.files,
            age_seconds=None if age is None else round(age.total_seconds()),
        )


def list_checkpoints(run: Run) -> CheckpointListing:
    """The checkpoints of every root that the run ever wrote to. An unreadable root raises
    `CouldNotLook`.
    """
    entries = list_by_path(run).values()
    with ThreadPoolExecutor(AT_ONCE) as at_once:
        checkpoints = [
            each for each in at_once.map(lambda one: measure_checkpoint(run, one), entries) if each
        ]
    return CheckpointListing(
        tuple(sorted(checkpoints, key=lambda s: (s.candidate.step, s.candidate.path))), now()
    )


def list_with_refusals(run: Run) -> CheckpointListing:
    """The same, with what the record and the present rows rule out."""
    history = with_taints_now(run, run.record.memory()).history
    listing = list_checkpoints(run)
    candidates = [each.candidate for each in listing.checkpoints]
    refusals = {each.path: refusal(each, run.contract, history) for each in candidates}
    return replace(listing, taints=history.taints, refusals=refusals)


@dataclass(frozen=True)
class ListedCheckpoint:
    """A checkpoint as its root's listing shows it, before it is examined."""

    candidate: Candidate
    link: bool


def list_by_path(run: Run) -> dict[str, ListedCheckpoint]:
    """The checkpoints of all roots, by path, with one or two listings for each root."""
    by_path: dict[str, ListedCheckpoint] = {}
    roots = _recorded_roots(run, run.record.memory())
    with ThreadPoolExecutor(AT_ONCE) as at_once:
        for each in chain.from_iterable(at_once.map(lambda root: _of_root(run, *root), roots)):
            by_path.setdefault(each.candidate.path, each)
    return by_path


def _recorded_roots(run: Run, memory: Memory) -> list[tuple[str, bool]]:
    output = run.contract.output
    every = [(output.root.rstrip("/"), False)]
    every += [(output.temporary_root.rstrip("/"), True)] if output.temporary_root else []
    for instance in memory.instances:
        every.append((instance.output_root.rstrip("/"), False))
        every += [(instance.temporary_root.rstrip("/"), True)] if instance.temporary_root else []
    return list(dict.fromkeys(every))


def _of_root(run: Run, root: str, temporary: bool) -> list[ListedCheckpoint]:
    try:
        links = {f"{root}/{e.name.rstrip('/')}" for e in run.store.entries(root) if e.link}
        return [
            ListedCheckpoint(c, c.path in links)
            for c in run.layout.listed(run.store, root, temporary)
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CouldNotLook(
            sentence(f"The root {root} could not be read: {scrub(describe_error(error))}")
            + " Repeat the same command once it answers."
        ) from None


@dataclass(frozen=True)
class SearchedRoots:
    """The roots in which checkpoints were searched, by whether they exist."""

    present: tuple[str, ...]
    missing: tuple[str, ...]  # perhaps not mounted here
    unreadable: tuple[str, ...]  # the missing ones that an instance wrote to

    def describe(self) -> str:
        """For people, if no checkpoint was found."""
        parts = ["no checkpoint was found"]
        parts += [f"searched: {', '.join(self.present)}"] if self.present else []
        parts += [f"missing here: {', '.join(self.missing)}"] if self.missing else []
        return f"{'; '.join(parts)}{' (not mounted?)' if self.unreadable else ''}"


def searched_roots(run: Run) -> SearchedRoots:
    """An object store has no empty folders, so a root there is never missing."""
    memory = run.record.memory()
    roots = list(dict.fromkeys(root for root, _ in _recorded_roots(run, memory)))
    missing = [root for root in roots if "://" not in root and not _exists(run, root)]
    roots_of_jobs = {instance.output_root.rstrip("/") for instance in memory.instances}
    return SearchedRoots(
        tuple(root for root in roots if root not in missing),
        tuple(missing),
        tuple(root for root in missing if root in roots_of_jobs),
    )


def _exists(run: Run, root: str) -> bool:
    try:
        return run.store.entries(root) is not None
    except FileNotFoundError:
        return False


def measure_checkpoint(run: Run, one: ListedCheckpoint) -> SizedCheckpoint | None:
    """The examined checkpoint, with its files' total size. None if it was removed since the
    listing.
    """
    candidate = one.candidate
    try:
        checkpoint = run.layout.examined(run.store, candidate)
    except OSError as error:
        why = f"it could not be read: {scrub(describe_error(error))}"
        return SizedCheckpoint(replace(candidate, problem=why), doubt=why)
    if checkpoint is None:
        return None
    if one.link:
        return SizedCheckpoint(
            checkpoint,
            doubt="it is a link: its target does not belong to this run, and is not deleted",
        )
    try:
        manifest = read_manifest(run.store, checkpoint.path)
    except OSError as error:
        return SizedCheckpoint(
            checkpoint, doubt=f"it could not be listed: {scrub(describe_error(error))}"
        )
    return SizedCheckpoint(checkpoint, manifest.bytes, len(manifest.files), manifest.digest)


def make_plan(run: Run, keep: int | None = None) -> PrunePlan:
    """The plan of what may be deleted now. What other runs, seals and people need is read first."""
    memory = run.record.memory()
    if memory.rollback_ordered:
        raise Blocked(
            f"A rollback of {run.slug} was interrupted, and nothing is deleted before it is done: "
            f"`herorun status {run.slug}` shows how to continue."
        )
    keep = keep or run.contract.checkpoints.keep
    if keep is None:
        raise WrongUse(
            f"It is not set how many checkpoints of {run.slug} stay: give --keep N, or set keep "
            "under [checkpoints] in its contract."
        )
    memory = with_taints_now(run, memory)
    names, listing = all_references(run), list_checkpoints(run)
    final = run.base_evidence(memory)[FinalStep]
    rules = run.contract.checkpoints
    policy = RetentionPolicy(
        keep,
        rules.permanent_every,
        rules.milestones,
        final.value if isinstance(final, FinalStep) else None,
    )
    trusted_paths = acceptable(
        (each.candidate for each in listing.checkpoints), run.contract, memory.history
    )
    return prune_plan(
        slug=run.slug,
        checkpoints=listing.checkpoints,
        policy=policy,
        references=names,
        recovery=trusted_paths.newest.path if trusted_paths.newest else "",
        trusted_paths={candidate.path for candidate in trusted_paths.candidates},
        now=listing.at,
    )


def write_plan(run: Run, plan: PrunePlan, path: Path) -> None:
    """Write the plan as one JSON document for `prune`; an existing file is not overwritten."""
    if path.exists():
        raise WrongUse(f"{path} already exists: choose another file for the plan.")
    hide_output(run.repository, path)
    document: dict[str, Any] = {"schema": 1, "digest": plan.digest, **plain(plan)}
    write_atomic(path, (canonical(document) + "\n").encode(), 0o644)


def read_plan(path: Path) -> PrunePlan:
    """The plan in a file; `WrongUse` if it is not a plan, or was changed since it was written."""
    try:
        document = read_json(read_regular(path, MAX_PLAN_BYTES))
        plan = plan_from(document)
        if document["schema"] != 1 or document["digest"] != plan.digest:
            raise WrongUse(
                f"{path} was changed since it was printed: its digest does not match. "
                "Make a new plan."
            )
    except OSError as error:
        raise WrongUse(f"The plan cannot be read: {describe_error(error)}.") from None
    except (ValueError, KeyError, TypeError):
        raise WrongUse(f"{path} is not a plan of `herorun checkpoints plan`.") from None
    return plan
