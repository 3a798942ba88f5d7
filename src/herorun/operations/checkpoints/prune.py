"""Deletes exactly what a printed plan names, one checkpoint after another, each checked again right
before.

Completeness markers are deleted first, so that a partly deleted checkpoint never counts as
complete. Each deletion is journalled before and after; the same plan finishes an interrupted one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, describe_error
from herorun.core.event import Done, Failed, Intended
from herorun.core.finding import count
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.core.retention import DeletableCheckpoint, PrunePlan, format_size
from herorun.operations.checkpoints.delete import delete_checkpoint
from herorun.operations.checkpoints.list import list_by_path, make_plan, measure_checkpoint
from herorun.operations.checkpoints.references import all_references
from herorun.operations.record.lease import take_lease
from herorun.operations.record.post import post_entry
from herorun.runs import Run
from herorun.schemas.evaluations import CheckpointsPrune, Left
from herorun.system import progress
from herorun.system.clock import now
from herorun.system.files import hold_lock


@dataclass(frozen=True)
class Pruned:
    """The result: what was deleted, and what was left and why."""

    deleted: tuple[str, ...] = ()
    remaining: tuple[tuple[str, str], ...] = ()  # path, why
    bytes: int = 0
    warnings: tuple[str, ...] = field(default=())

    @property
    def code(self) -> int:
        return 1 if self.remaining else 0

    def document(self) -> CheckpointsPrune:
        remaining = [Left(path=path, why=why) for path, why in self.remaining]
        return CheckpointsPrune.of(self, not_deleted=remaining)


def prune(run: Run, plan: PrunePlan, typed_name: str) -> Pruned:
    """Delete the plan's victims; `typed_name` is the digest that a person typed, which nothing can
    replace.
    """
    if plan.slug != run.slug:
        raise Blocked(f"The plan is for {plan.slug}, not for {run.slug}: nothing was deleted.")
    if not plan.is_named(typed_name):
        raise Blocked(
            "Nothing was deleted: what was typed is not the digest of this plan, which begins with "
            f"{plan.digest.removeprefix('sha256:')[:12]}."
        )
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        run.record.fetch()
        run.record.must_understand()
        run.must_be_proven()
        memory = run.record.memory()
        if not memory.instances:
            raise Blocked(f"{run.slug} was never launched: the data in its root is not its own.")
        begun_paths = _started_victims(plan, memory)
        done_paths = {v.path for v in plan.victims if _is_done(plan, v, memory)}
        with _deleting_nothing():
            if memory.sealed is None:
                take_lease(run)
            _must_be_current(run, plan, begun_paths, done_paths)
        return _prune(run, plan, begun_paths)


@contextmanager
def _deleting_nothing() -> Iterator[None]:
    """An error in here comes after a person confirmed a deletion, so it first says that nothing was
    deleted.
    """
    try:
        yield
    except (Blocked, CouldNotLook) as error:
        raise type(error)(f"Nothing was deleted. {error}") from None


def _key(plan: PrunePlan, victim: DeletableCheckpoint) -> str:
    return write_key(Verb.PRUNE, plan.digest[7:19], victim.path)


def _is_done(plan: PrunePlan, victim: DeletableCheckpoint, memory: Memory) -> bool:
    return _key(plan, victim) in memory.done


def _started_victims(plan: PrunePlan, memory: Memory) -> set[str]:
    """The victims whose deletion by this plan was started before, and interrupted or refused."""
    return {v.path for v in plan.victims if {_key(plan, v)} & {*memory.intended, *memory.failed}}


def _must_be_current(
    run: Run, plan: PrunePlan, begun_paths: set[str], done_paths: set[str]
) -> None:
    """Apply the rules again to the present state: if one victim must be kept now, nothing is
    deleted.
    """
    fresh = make_plan(run, plan.policy.keep)
    allowed_victims = {victim.path: victim for victim in fresh.victims}
    reasons = {each.path: each.why for each in fresh.remaining}
    for victim in plan.victims:
        if victim.path in done_paths | begun_paths:
            continue
        if victim.path in reasons:
            raise Blocked(
                f"{victim.path} must stay now ({'; '.join(reasons[victim.path])}): make a new plan."
            )
        now_there = allowed_victims.get(victim.path)
        if now_there is None:
            raise Blocked(
                f"{victim.path} is gone, and this plan did not delete it: make a new plan."
            )
        if now_there.manifest != victim.manifest:
            raise Blocked(f"{victim.path} changed since the plan was printed: make a new plan.")


def _prune(run: Run, plan: PrunePlan, begun_paths: set[str]) -> Pruned:
    deleted_paths, failures, freed_bytes = list[str](), list[tuple[str, str]](), 0
    for number, victim in enumerate(plan.victims):
        progress.progress("deleting checkpoints", number, len(plan.victims))
        if _is_done(plan, victim, run.record.memory()):
            deleted_paths.append(victim.path)
            continue
        why = _delete_victim(run, plan, victim, victim.path in begun_paths)
        if why:
            failures.append((victim.path, why))
            break  # the next deletion could fail in the same way: a person must check first
        deleted_paths.append(victim.path)
        freed_bytes += victim.bytes
    progress.progress("deleting checkpoints", 1, 1)
    failures += [
        (v.path, f"not tried, because the deletion stopped at {failures[0][0]}")
        for v in plan.victims
        if v.path not in {*deleted_paths, *(p for p, _ in failures)}
    ]
    return Pruned(
        tuple(deleted_paths),
        tuple(failures),
        freed_bytes,
        _post_prune(run, plan, deleted_paths, failures),
    )


def _delete_victim(run: Run, plan: PrunePlan, victim: DeletableCheckpoint, is_begun: bool) -> str:
    """Delete one victim. Returns why it was not deleted, or "". References are checked before the
    intent is recorded, the content after it.
    """
    key, memory = _key(plan, victim), run.record.memory()
    try:
        _check_victim(run, plan, victim)
        _must_be_as_planned(run, victim, is_begun)
    except (HerorunError, OSError) as error:
        return scrub(describe_error(error))
    if key not in memory.intended:
        what = f"delete {victim.path}: {format_size(victim.bytes)}, {victim.why}"
        run.record.append(Intended(at=now(), key=key, attempt=memory.attempt(key), what=what))
    attempt = run.record.memory().intended[key].attempt
    try:
        _must_be_pushed(run)
        _must_be_as_planned(run, victim, is_begun)
        delete_checkpoint(run, victim.path)
    except (HerorunError, OSError) as error:
        why = scrub(describe_error(error))
        run.record.append(Failed(now(), key, attempt, why))
        return why
    lines = {
        "Status": f"checkpoint of step {victim.step} deleted",
        "Evidence": (
            f"{victim.path}, {format_size(victim.bytes)} in {count(victim.files, 'file')}, "
            f"manifest {victim.manifest}"
        ),
        "Decision": (
            f"{victim.why}; confirmed by {run.launcher.user or run.launcher.owner}, plan "
            f"{plan.digest}"
        ),
        "Next": "continue",
    }
    run.record.append(
        Done(now(), key, attempt, f"step {victim.step} deleted", lines, victim.manifest)
    )
    return ""


def _must_be_pushed(run: Run) -> None:
    """Push the intent before a deletion, which cannot be undone."""
    push_result = run.record.push()
    if not push_result and run.record.remote:
        raise CouldNotLook(f"the record of the deletion could not be pushed: {push_result.why}")


def _check_victim(run: Run, plan: PrunePlan, victim: DeletableCheckpoint) -> None:
    """Raise `Blocked` if something refers to the victim now, or if no other complete checkpoint
    would remain.
    """
    entries = list_by_path(run)
    entry = entries.get(victim.path)
    if entry and (why := all_references(run).why(entry.candidate)):
        raise Blocked(f"{victim.path} must be kept: {'; '.join(why)}")
    doomed_paths = {each.path for each in plan.victims}
    stay = [
        entries[each.path]
        for each in plan.remaining
        if each.path in entries and each.path not in doomed_paths
    ]
    newest_first = sorted(stay, key=lambda one: -one.candidate.step)
    if not any(
        (checkpoint := measure_checkpoint(run, one)) and checkpoint.candidate.complete
        for one in newest_first
    ):
        raise Blocked("none of the complete checkpoints that the plan keeps exists any more")


def _must_be_as_planned(run: Run, victim: DeletableCheckpoint, is_begun: bool) -> None:
    """Raise `Blocked` unless the victim is as planned, or is the incomplete rest of our own
    interrupted deletion.
    """
    entry = list_by_path(run).get(victim.path)
    current = measure_checkpoint(run, entry) if entry else None
    if current is None:
        if not is_begun:
            raise Blocked(f"{victim.path} is gone, and this plan did not delete it")
        return
    if current.doubt:
        raise Blocked(f"{victim.path}: {current.doubt}")
    if current.digest != victim.manifest and (not is_begun or current.candidate.complete):
        raise Blocked(f"{victim.path} changed since the plan was printed")


def _post_prune(
    run: Run, plan: PrunePlan, deleted_paths: Sequence[str], failures: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Post the result in the issue, once for each plan and outcome; the record already contains the
    deletions.
    """
    warnings = []
    if deleted_paths:
        outcome = f"{len(deleted_paths)} of {len(plan.victims)} deleted" + (
            f"; stopped: {failures[0][1]}" if failures else ""
        )
        body = "\n".join(f"- `{path}`" for path in deleted_paths)
        key = write_key(Verb.POST, Verb.PRUNE, plan.digest[7:19], len(deleted_paths))
        try:
            post_entry(
                run,
                key,
                f"Checkpoints deleted: {outcome}",
                f"Plan {plan.digest}, confirmed by its digest.\n\n{body}",
                {},
            )
        except (HerorunError, OSError) as error:
            warnings.append(f"the issue was not updated: {describe_error(error)}")
    push_result = run.record.push()
    if not push_result:
        warnings.append(f"the record is not pushed: {push_result.why}")
    return tuple(warnings)
