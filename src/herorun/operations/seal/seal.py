"""The seal: one statement, one annotated tag, pushed create-only; sealing twice is one seal."""

from dataclasses import replace
from typing import Any

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.canonical_json import canonical, digest
from herorun.core.errors import (
    Blocked,
    CouldNotLook,
    HerorunError,
    WrongUse,
    describe_error,
    sentence,
)
from herorun.core.event import Done, Failed, Intended, Sealed
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    Instance,
    Job,
    Metrics,
    MilestoneCheckpoint,
    Receipt,
    Sealing,
)
from herorun.core.gate_findings import GateVerdict
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.markdown import quote_line
from herorun.core.redaction.scrub import scrub
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.manifest import Manifest
from herorun.core.seal.render import as_list, seal_lines, tag_message
from herorun.core.seal.statement import facts_of
from herorun.gate import GateReport, run_seal_gate
from herorun.operations.checkpoints.content import NotDigested, digest_now
from herorun.operations.checkpoints.digest_log import DigestLog
from herorun.operations.record.post import post_entry
from herorun.operations.seal.health import gather_health
from herorun.operations.seal.patch_commit import keep_edits
from herorun.operations.seal.resume import unfinished_seal
from herorun.operations.seal.statement import build_record_part, make_statement
from herorun.operations.seal.tag import local_tag, make_tag, push_tag, remote_tag, tag_name
from herorun.operations.seal.teardown import stop_watchers
from herorun.record import Pushed
from herorun.runs import Run, known_slugs
from herorun.schemas.evaluations import SealDocument
from herorun.system.clock import now
from herorun.system.files import hold_lock

FINAL = Sealing()
SEAL_EVIDENCE = (Job, Metrics, Checkpoints, FinalStep, Receipt, MilestoneCheckpoint)


@dataclass(frozen=True, kw_only=True)
class SealOutcome:
    """The result of sealing. `tag` is None if the gate was not clear; `report` is None if the run
    was sealed before.
    """

    report: GateReport | None = None
    tag: str | None = None  # the name of the tag
    commit: str | None = None  # the tagged commit
    statement: dict[str, Any] | None = None  # the in-toto statement in the tag
    warnings: tuple[str, ...] = ()
    remote: str | None = ""  # that has the tag; None: unknown; "": there is no remote
    record_pushed: bool = False  # whether a push of the record with this outcome succeeded

    @property
    def verdict(self) -> GateVerdict:
        """Clear also if the run was sealed before, unless its tag may be in this clone only."""
        if self.report is None:
            return GateVerdict.UNKNOWN if self.remote is None else GateVerdict.CLEAR
        return self.report.verdict

    def document(self) -> SealDocument:
        is_unknown = self.remote is None  # it did not answer
        return SealDocument.of(
            self,
            findings=self.report.entries if self.report else [],
            tag_pushed=None if is_unknown or not self.tag else bool(self.remote),
            # a push of nothing new succeeds without an answer of the remote
            record_pushed=None if is_unknown and self.record_pushed else self.record_pushed,
        )

    def as_json(self) -> dict[str, Any]:
        """The document of `--json`, as a table."""
        return self.document().as_json()


def seal(run: Run, sealing: Sealing = FINAL) -> SealOutcome:
    """Evaluate the seal gate; then make the statement, tag, push, announce and record. A seal that
    ends the run stops its babysitter.
    """
    run.prepare()
    try:
        outcome = _sealed_alone(run, sealing)
    except NotDigested as large:  # the gate is clear; the lock is free during the read
        digest_now(run, large.path)
        outcome = _sealed_alone(run, sealing)
    if outcome.tag and sealing.kind.ends:
        outcome = replace(outcome, warnings=(*outcome.warnings, *stop_watchers(run)))
    return outcome


def _sealed_alone(run: Run, sealing: Sealing) -> SealOutcome:
    with hold_lock(run.lock("act")):
        run.record.fetch()
        run.record.must_understand()
        run.must_be_proven()
        return _seal_run(run, sealing)


def _seal_run(run: Run, sealing: Sealing) -> SealOutcome:
    memory = run.record.memory()
    if before := _before(run, memory, sealing):
        return _again(run, before)
    if sealing.kind is SealKind.SUPERSEDED:
        _must_be_another(run, sealing.name)
    push_result = run.record.push()  # a seal check needs the record on the remote
    tag, report, manifest = tag_name(run, memory), None, None
    statement = unfinished_seal(run, memory, tag, sealing)
    if statement is None:
        report = run_seal_gate(run, sealing, SEAL_EVIDENCE, gather_health(run))
        if report.verdict is not GateVerdict.CLEAR:
            warnings = _warn_unpushed(run, push_result)
            return SealOutcome(report=report, warnings=warnings, record_pushed=bool(push_result))
        statement, manifest = _state_seal(run, memory, sealing, report)
    return _tag(run, report, tag, statement, manifest)


def _warn_unpushed(run: Run, push_result: Pushed) -> tuple[str, ...]:
    """Why the push failed, which the gate does not know."""
    return (
        ()
        if push_result or run.record.remote is None
        else (f"the record is not pushed: {push_result.why}",)
    )


def _state_seal(
    run: Run, memory: Memory, sealing: Sealing, report: GateReport
) -> tuple[dict[str, Any], Manifest | None]:
    current: Instance | None = memory.current
    if current is None:
        raise Blocked(f"{run.slug} was never launched: there is nothing to seal.")
    return make_statement(run, memory, current, sealing, report, keep_edits(run, memory))


def _before(run: Run, memory: Memory, sealing: Sealing) -> Sealed | None:
    """The requested seal, if it exists already. Raises `Blocked` if another seal ended the run."""
    if sealing.kind is SealKind.MILESTONE:
        match = next((each for each in memory.milestones if each.name == sealing.name), None)
        if match:
            return match
    if memory.sealed is None:
        return None
    if (memory.sealed.ending, memory.sealed.name) != (sealing.kind.value, sealing.name):
        how = f"{memory.sealed.ending} {memory.sealed.name}".strip()
        raise Blocked(
            f"{run.slug} is sealed as {memory.sealed.tag} ({how}): a seal is never taken back."
        )
    return memory.sealed


def _must_be_another(run: Run, slug: str) -> None:
    if slug == run.slug or slug not in set(known_slugs(run.repository)):
        raise WrongUse(
            f"{slug!r} is not another run of this repository, so it cannot supersede {run.slug}."
        )


def _tag(
    run: Run,
    report: GateReport | None,
    tag: str,
    statement: dict[str, Any],
    manifest: Manifest | None,
) -> SealOutcome:
    memory, key = run.record.memory(), write_key(Verb.TAG, tag)
    facts = facts_of(statement)
    commit = str(facts["commit"])
    if key not in memory.intended:
        _intend_tag(run, key, memory.attempt(key), statement, manifest)
    _must_push(run, key)
    attempt = run.record.memory().intended[key].attempt
    try:
        oid, unsigned_reason = make_tag(run, tag, commit, tag_message(statement, tag))
        remote = push_tag(run, tag, oid)
    except HerorunError as error:
        run.record.append(Failed(now(), key, attempt, scrub(describe_error(error))))
        raise
    lines = seal_lines(statement, tag)
    checkpoint = str(facts["final_checkpoint"] or "")
    event = Sealed(
        at=now(),
        tag=tag,
        commit=commit,
        statement_digest=digest(statement),
        lines=lines,
        ending=facts["kind"],
        name=facts["name"],
        checkpoint=checkpoint,
    )
    run.record.append(Done(now(), key, attempt, result=oid), event)
    push_result = run.record.push()
    warnings = [] if push_result else [f"the record is not pushed: {push_result.why}"]
    late_caveats = [
        caveat for caveat in build_record_part(memory)["caveats"] if caveat not in facts["caveats"]
    ]
    warnings += [
        f"noted too late for the tag, only the logbook has it: {caveat}" for caveat in late_caveats
    ]
    warnings += [*unsigned_reason, *_announce_seal(run, event)]
    is_pushed = bool(run.record.push())
    return SealOutcome(
        report=report,
        tag=tag,
        commit=commit,
        statement=statement,
        warnings=tuple(warnings),
        remote=remote,
        record_pushed=is_pushed,
    )


def _intend_tag(
    run: Run, key: str, attempt: int, statement: dict[str, Any], manifest: Manifest | None
) -> None:
    """Record the intent, with the statement and the checkpoint's manifest, before the tag is
    made.
    """
    name = f"seal-{digest(statement)[7:19]}.json"
    files = {name: (canonical(statement) + "\n").encode()}
    if manifest:
        files[f"manifest-{manifest.digest[7:19]}.json"] = manifest.text.encode()
    run.record.append(Intended(at=now(), key=key, attempt=attempt, what=name), files=files)
    if manifest:
        DigestLog(run.state, manifest.path).remove()


def _announce_seal(run: Run, event: Sealed) -> list[str]:
    title = (
        f"Sealed as {event.tag}"
        if event.ending == SealKind.FINAL
        else event.lines["Status"].partition(" at ")[0]
    )
    try:
        post_entry(
            run,
            write_key(Verb.POST, event.tag),
            title,
            as_list({name: quote_line(value) for name, value in event.lines.items()}),
            {},
        )
    except (HerorunError, OSError) as error:
        return [f"the issue was not updated: {describe_error(error)}"]
    return []


def _must_push(run: Run, key: str) -> None:
    """Push the record before the tag, which cannot be undone."""
    push_result = run.record.push()
    if not push_result and run.record.remote:
        run.record.append(Failed(now(), key, run.record.memory().attempt(key), push_result.why))
        raise CouldNotLook(
            f"Nothing was tagged: the record could not be pushed: {sentence(push_result.why)} "
            f"Repeat the same command once {run.record.branch} can be pushed to "
            f"{run.record.remote}."
        )


def _again(run: Run, event: Sealed) -> SealOutcome:
    """The outcome for a run that is sealed already: pushes and posts what is still missing."""
    remote, warnings = _publish(run, event.tag)
    warnings += _announce_seal(run, event)
    push_result = run.record.push()
    if not push_result:
        warnings.append(f"the record is not pushed: {push_result.why}")
    return SealOutcome(
        tag=event.tag,
        commit=event.commit,
        warnings=tuple(warnings),
        remote=remote,
        record_pushed=bool(push_result),
    )


def _publish(run: Run, tag: str) -> tuple[str | None, list[str]]:
    """Push the tag of an earlier seal, if the remote lacks it. Returns the remote that has it now,
    None if that is unknown, and warnings.
    """
    oid, remote = local_tag(run, tag), run.contract.code.remote
    try:
        if oid is not None:
            return push_tag(run, tag, oid), []
        fetch = f"the tag is not in this clone: `git fetch {remote} tag {tag}`"
        return (remote if remote_tag(run, tag) else None), [fetch]
    except CouldNotLook as error:
        return None, [f"it is unknown whether {remote} has the tag: {describe_error(error)}"]
