"""The seal: one statement, one annotated tag, pushed create-only; sealing twice is one seal."""

from dataclasses import dataclass
from typing import Any

from herorun.acts.judged import look
from herorun.acts.posting import say
from herorun.acts.statement import as_list, make_statement, remembered, seal_lines, tag_message
from herorun.acts.unfinished_seal import begun, tag_here, tag_name, tag_there
from herorun.core.canonical import canonical, digest
from herorun.core.check import Gate, GateVerdict
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, in_words
from herorun.core.event import Done, Failed, Intended, Sealed
from herorun.core.evidence import Checkpoints, FinalStep, Job, Metrics, Receipt
from herorun.core.scrub import scrub
from herorun.gates import Report, ask
from herorun.record import Pushed
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.system.plumbing import annotated_tag, push
from herorun.workspace import Run


@dataclass(frozen=True)
class Seal:
    """How sealing ended. `tag` is None where the gate was not clear; `report` is None where it was sealed before."""

    report: Report | None
    tag: str | None
    commit: str | None
    statement: dict[str, Any] | None
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> GateVerdict:
        return self.report.verdict if self.report else GateVerdict.CLEAR

    def as_json(self) -> dict[str, Any]:
        """The promised shape."""
        return {
            "verdict": self.verdict.value,
            "tag": self.tag,
            "commit": self.commit,
            "findings": self.report.as_json() if self.report else [],
            "statement": self.statement,
        }


def seal(run: Run) -> Seal:
    """Ask the seal gate; then state, tag, push, tell and record."""
    run.prepare()
    with locked(run.lock("act")):
        run.record.fetch()
        run.record.must_understand()
        memory = run.record.memory()
        if memory.sealed:
            return _again(run, memory.sealed)
        pushed = run.record.push()  # the gate asks whether the record is on the remote
        key = f"tag/{tag_name(run)}"
        report = None
        statement = begun(run, memory, key)
        if statement is None:
            report = ask(run, Gate.SEAL, [Job, Metrics, Checkpoints, FinalStep, Receipt], look(run))
            if report.verdict is not GateVerdict.CLEAR:
                return Seal(report, None, None, None, _unpushed(run, pushed))
            if memory.current is None:
                raise Blocked(f"{run.slug} was never launched: there is nothing to seal.")
            statement = make_statement(run, memory, memory.current, report)
        return _tag(run, report, key, statement)


def _unpushed(run: Run, pushed: Pushed) -> tuple[str, ...]:
    """Why the record is not on its remote, which the gate only sees from outside."""
    return () if pushed or run.record.remote is None else (f"the record is not pushed: {pushed.why}",)


def _tag(run: Run, report: Report | None, key: str, statement: dict[str, Any]) -> Seal:
    memory = run.record.memory()
    tag, commit = tag_name(run), str(statement["commit"])
    if key not in memory.intended:
        name = f"seal-{digest(statement)[7:19]}.json"
        run.record.append(
            Intended(now(), key, memory.attempt(key), name),
            files={name: (canonical(statement) + "\n").encode()},
        )
    _must_push(run, key)
    attempt = run.record.memory().intended[key].attempt
    try:
        oid = annotated_tag(run.repository, tag, commit, tag_message(statement, tag))
        _push_tag(run, tag, oid)
    except HerorunError as error:
        run.record.append(Failed(now(), key, attempt, scrub(in_words(error))))
        raise
    lines = seal_lines(statement, tag)
    run.record.append(
        Done(now(), key, attempt, result=oid), Sealed(now(), tag, commit, digest(statement), lines)
    )
    pushed = run.record.push()
    warnings = [] if pushed else [f"the record is not pushed: {pushed.why}"]
    late = [caveat for caveat in remembered(memory)["caveats"] if caveat not in statement["caveats"]]
    warnings += [f"noted too late for the tag, only the logbook has it: {caveat}" for caveat in late]
    try:
        say(run, f"post/{tag}", f"Sealed as {tag}", as_list(lines), {})
    except (HerorunError, OSError) as error:
        warnings.append(f"the issue was not told: {in_words(error)}")
    run.record.push()
    return Seal(report, tag, commit, statement, tuple(warnings))


def _must_push(run: Run, key: str) -> None:
    """A tag cannot be taken back: what it names must be on the remote before it."""
    pushed = run.record.push()
    if not pushed and run.record.remote:
        run.record.append(Failed(now(), key, run.record.memory().attempt(key), pushed.why))
        raise CouldNotLook(f"Nothing was tagged: the record could not be pushed: {pushed.why}")


def _push_tag(run: Run, tag: str, oid: str) -> None:
    """Create-only: a tag of that name that says something else is never moved."""
    remote = run.contract.code.remote
    if remote not in run.repository.remotes():
        return
    there = tag_there(run)
    if there == oid:
        return
    if there is not None:
        raise Blocked(f"{remote} has another tag {tag} already: it is never moved. A person must look.")
    push(run.repository, remote, oid, f"refs/tags/{tag}", None)


def _again(run: Run, sealed: Sealed) -> Seal:
    """Sealed before: whatever of it did not reach the world yet goes out now."""
    oid = tag_here(run)
    warnings = []
    if oid is not None:
        try:
            _push_tag(run, sealed.tag, oid)
        except CouldNotLook as error:
            warnings.append(f"the tag is not pushed: {in_words(error)}")
    else:
        warnings.append(f"the tag {sealed.tag} is not in this clone: fetch it")
    try:
        say(run, f"post/{sealed.tag}", f"Sealed as {sealed.tag}", as_list(dict(sealed.lines)), {})
    except (HerorunError, OSError) as error:
        warnings.append(f"the issue was not told: {in_words(error)}")
    pushed = run.record.push()
    if not pushed:
        warnings.append(f"the record is not pushed: {pushed.why}")
    return Seal(None, sealed.tag, sealed.commit, None, tuple(warnings))
