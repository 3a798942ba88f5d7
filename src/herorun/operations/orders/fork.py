"""Fork: a new run, with a contract, a logbook and an issue of its own, from a checkpoint of
another; each names the other.

The new contract is written for a person to read and commit. The new run is created only after that,
and the old run is not changed or stopped.
"""

import json
from dataclasses import replace
from pathlib import Path

import tomli_w

from herorun import discover
from herorun.core.contract import SLUG
from herorun.core.errors import Blocked, CouldNotLook, WrongUse, sentence
from herorun.core.evidence import Candidate, Checkpoints, Metrics, Now, StartSiblings
from herorun.core.finding import count
from herorun.core.identity.fork_contract import (
    ForkRequest,
    fork_contract,
    leftovers,
    same_identity,
    shared_paths,
)
from herorun.core.lineage import acceptable
from herorun.core.redaction.scrub import scrub
from herorun.gather import gather
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.launch import LaunchOutcome, launch
from herorun.operations.launch.rollback_target import target_of
from herorun.operations.launch.submit import ShowRequest, ignore_request
from herorun.operations.orders.fork_records import record_both_sides
from herorun.operations.orders.order import OrderOutcome
from herorun.operations.record.init import initialise
from herorun.runs import Run, open_run
from herorun.system.clock import now
from herorun.system.files import create_atomic


def fork(
    old: Run,
    start: Path,
    slug: str,
    step: int | None = None,
    reason: str = "",
    *,
    roots: tuple[str | None, str | None] = (None, None),
    tracker_id: str | None = None,
    and_launch: bool = False,
    babysit: bool = True,
    show_first: ShowRequest = ignore_request,
) -> OrderOutcome:
    """Write the contract; or, if it is committed, create the new run and link both. The same
    command does both in turn.
    """
    if not SLUG.fullmatch(slug) or slug == old.slug:
        raise WrongUse(
            f"{slug!r} is no slug for a new run: use a-z, 0-9 and -, at most 48 characters, and "
            f"not {old.slug}."
        )
    path = old.repository.top / "runs" / f"{slug}.toml"
    if not path.exists():
        return _write_fork(
            old=old,
            path=path,
            slug=slug,
            step=step,
            reason=reason,
            roots=roots,
            tracker_id=tracker_id,
        )
    new = _check_fork(old, open_run(slug, start), step, reason)
    first_part = _begin_fork(old, new, show_first)
    if not and_launch:
        next_step = f"Next: `herorun preflight {slug}`, then `herorun launch {slug}`"
        return replace(first_part, message=f"{first_part.message}. {next_step}")
    outcome = launch(new, babysit=babysit, show_request=show_first)
    return replace(
        first_part,
        message=f"{first_part.message}; {_describe_launched(outcome)}",
        code=outcome.exit_code,
        warnings=(*first_part.warnings, *outcome.warnings),
    )


def _begin_fork(old: Run, new: Run, show_first: ShowRequest) -> OrderOutcome:
    """The new run's record and issue, and the fork in the records of both."""
    facts = fork_facts(old, new)
    show_first("\n".join(f"  {fact}: {value}" for fact, value in facts.items()))
    init = initialise(new)
    warnings = [f"the record of {new.slug} is not pushed: {init.warning}"] if init.warning else []
    warnings += record_both_sides(old, new, facts, init.issue)
    message = f"created as a fork of {old.slug}: issue {init.issue}"
    return OrderOutcome(new, message, warnings=tuple(warnings))


def _describe_launched(outcome: LaunchOutcome) -> str:
    if outcome.launched is None:
        preflight = outcome.preflight
        why = preflight.report.summary
        return f"nothing was submitted, the launch checks are {preflight.verdict}: {why}"
    return (
        f"submitted {outcome.launched.instance} as job {outcome.launched.job}, "
        f"babysitter {outcome.babysitter}"
    )


# --- first: the contract --------------------------------------------------------------------------


def _write_fork(
    old: Run,
    path: Path,
    slug: str,
    *,
    step: int | None,
    reason: str,
    roots: tuple[str | None, str | None],
    tracker_id: str | None,
) -> OrderOutcome:
    if not reason.strip():
        raise WrongUse("State the reason with --reason: the records of both runs keep it.")
    source = _source(old, step)
    data = fork_contract(
        old.contract, ForkRequest(slug, source.path, scrub(reason), *roots, tracker_id)
    )
    head = (
        f"# A fork of {old.slug} from step {source.step}: read it, change what should differ, "
        "commit and push it.\n\n"
    )
    create_atomic(path, (head + tomli_w.dumps(data)).encode())
    notes = [
        f"its command still says {word!r}: is that intended?"
        for word in leftovers(old.contract, data)
    ]
    notes += [
        f"its [tracker] has {option}, as {old.slug} has: does {slug} log to a file of its own?"
        for option in shared_paths(old.contract, data)
    ]
    if old.contract.waiver:
        notes.append(
            f"the waivers of {old.slug} were not taken over: they were signed for another run"
        )
    if source.temporary:
        notes.append(
            f"{source.path} is temporary: keep a copy, or fork from a permanent one with --from"
        )
    message = (
        f"wrote {path}: {slug} starts from step {source.step}, {source.path}. Read the file, "
        f"commit and push it; then `herorun fork {old.slug} {slug}` creates its record"
    )
    return OrderOutcome(old, message, 0, tuple(scrub(note) for note in notes))


def _source(old: Run, step: int | None) -> Candidate:
    """The checkpoint of that step, or else the newest complete one that no finding excludes."""
    memory = with_taints_now(old, old.record.memory())
    if not memory.instances:
        raise Blocked(
            f"{old.slug} was never launched, so there is nothing to fork: launch it first."
        )
    checkpoints = gather([Checkpoints], discover.sources(), old.base_evidence(memory))[Checkpoints]
    if not isinstance(checkpoints, Checkpoints):
        why = sentence(checkpoints.why)
        raise CouldNotLook(
            f"The checkpoints of {old.slug} could not be read: {why} "
            "Repeat the same command once it answers."
        )
    if step is not None:
        return target_of(old, checkpoints, memory, step)
    newest = acceptable(checkpoints.candidates, old.contract, memory.history).newest
    if newest is None:
        raise Blocked(
            f"{old.slug} has no complete checkpoint to fork from: `herorun checkpoints list "
            f"{old.slug}` shows the problem of each."
        )
    return newest


# --- then: the run --------------------------------------------------------------------------------


def _check_fork(old: Run, new: Run, step: int | None, reason: str) -> Run:
    """Raise unless the new contract is a committed fork of that run, and shares nothing that two
    runs must not share.
    """
    start = new.contract.start
    if start.source_run != old.slug or start.from_ is None:
        raise WrongUse(
            f"{new.file.path} exists and is not a fork of {old.slug}: its [start] names "
            "neither that run nor one of its checkpoints. Give the fork another name."
        )
    if not (start.reason or "").strip():
        more = ", and --reason is used only when this command writes the file" if reason else ""
        entry = f"reason = {json.dumps(reason or '...', ensure_ascii=False)}"
        raise Blocked(
            f"{new.file.path} exists, and its [start] has no reason{more}. Add `{entry}` there, "
            f"commit and push it, then: `herorun fork {old.slug} {new.slug}`."
        )
    if not new.file.is_reviewable:
        raise Blocked(
            f"{new.file.path} is not committed, or was changed since: commit and push it, then "
            "repeat this command."
        )
    source = _start_of(new)
    if step is not None and source is not None and source.step != step:
        raise WrongUse(
            f"{new.file.path} starts from {start.from_}, not from step {step}: leave out "
            "--from, or change the file."
        )
    if shared_parts := same_identity(old.contract, new.contract):
        raise Blocked(
            f"{new.slug} and {old.slug} would share {shared_parts}: a fork needs its own. "
            f"Change {new.file.path}, commit and push it, then repeat this command."
        )
    return new


def fork_facts(old: Run, new: Run) -> dict[str, str]:
    """The facts for both records: the reason, both identities with their code, the checkpoint, and
    what the fork leaves behind.
    """
    memory = old.record.memory()
    current = memory.current
    commit = current.commit if current else "unknown"
    head = new.repository.resolve("HEAD") or "unknown"
    start = new.contract.start
    facts = {
        "Reason": start.reason or "",
        "Old identity": f"{_describe_identity(old)}, commit {commit}",
        "New identity": f"{_describe_identity(new)}, commit {head}",
        "Source checkpoint": f"{start.from_} ({start.kind})",
        "Left behind": _left_behind(old, _start_of(new)),
        "Tracker shows": _resume_note(old, new),
    }
    return {name: scrub(value) for name, value in facts.items()}


def _describe_identity(run: Run) -> str:
    tracker = run.contract.tracker
    place = "/".join(
        part for part in (tracker.entity, tracker.project, tracker.id or run.slug) if part
    )
    return f"{run.slug}: {tracker.kind} {place}, root {run.contract.output.root}"


def _start_of(new: Run) -> Candidate | None:
    """The checkpoint that the contract names, as its store lists it; None if it is not listed, or
    the store cannot be read.
    """
    siblings = gather([StartSiblings], discover.sources(), new.base_evidence(new.record.memory()))[
        StartSiblings
    ]
    candidates = siblings.candidates if isinstance(siblings, StartSiblings) else ()
    return Checkpoints(candidates).at(new.contract.start.from_ or "")


def _left_behind(old: Run, source: Candidate | None) -> str:
    """What the old run did beyond the checkpoint, which the new run does not have."""
    inputs = {**old.base_evidence(old.record.memory()), Now: Now(now())}
    metrics = gather([Metrics], discover.sources(), inputs)[Metrics]
    if source is None or not isinstance(metrics, Metrics):
        return f"what {old.slug} did beyond the checkpoint stays there; how much is not known"
    beyond = max(metrics.high_water - source.step, 0)
    return (
        f"what {old.slug} did beyond step {source.step} ({count(beyond, 'step')}) stays there, "
        "and is trained again"
    )


def _resume_note(old: Run, new: Run) -> str:
    tracker = new.contract.tracker
    fork_from = tracker.options.get("fork_from")
    how = (
        f"as a fork of {fork_from} in the tracker"
        if fork_from
        else "from its first step after the checkpoint on"
    )
    return (
        f"{tracker.id or new.slug} begins {how}; {old.contract.tracker.id or old.slug} stays as "
        "it is"
    )
