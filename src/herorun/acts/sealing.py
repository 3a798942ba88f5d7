"""The seal: one statement, one annotated tag, pushed create-only; sealing twice is one seal."""

import json
from dataclasses import dataclass
from typing import Any

from herorun import __version__
from herorun.acts.posting import say
from herorun.core.canonical import canonical, digest, plain, timestamp
from herorun.core.check import Gate, GateVerdict
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, in_words
from herorun.core.event import Done, Failed, Intended, Sealed
from herorun.core.evidence import Checkpoints, FinalStep, Job, Metrics, Receipt
from herorun.core.journal import Memory
from herorun.core.scrub import scrub, scrub_tree
from herorun.gates import Report, ask
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.system.plumbing import annotated_tag, push, tag_text
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
        memory = run.record.memory()
        if memory.sealed:
            return _again(run, memory.sealed)
        run.record.push()  # the gate asks whether the record is on the remote
        key = f"tag/{tag_name(run)}"
        report = None
        statement = _interrupted(run, memory, key)
        if statement is None:
            report = ask(run, Gate.SEAL, wanted=[Job, Metrics, Checkpoints, FinalStep, Receipt])
            if report.verdict is not GateVerdict.CLEAR:
                return Seal(report, None, None, None)
            statement = make_statement(run, memory, report)
        return _tag(run, report, key, statement)


def tag_name(run: Run) -> str:
    return f"herorun/{run.slug}/seal-1"


def make_statement(run: Run, memory: Memory, report: Report) -> dict[str, Any]:
    """What was trained, from what, how it ended, and what people want remembered about it."""
    current = memory.current
    assert current is not None
    metrics, final = report.evidence[Metrics], report.evidence[FinalStep]
    launching = memory.launchings[current.name]
    checkpoint = run.layout.final(run.place.output_root, final.value)
    waivers = [f.waiver for f in report.findings if f.waiver]
    statement: dict[str, Any] = scrub_tree(
        {
            "schema": 1,
            "run": run.slug,
            "goal": run.contract.goal,
            "dri": run.dri,
            "sealed_at": timestamp(now()),
            "herorun": __version__,
            "commit": current.commit,
            "plan_digest": current.plan_digest,
            "launch_command": launching.plan["argv"]["value"],
            "output_root": current.output_root,
            "final_checkpoint": checkpoint,
            "final_step": final.value,
            "final_metrics": dict(sorted((metrics.last or {}).items())),
            "tracker": launching.plan["tracker"]["value"],
            "instances": [
                {
                    "name": i.name,
                    "job": i.job,
                    "started": timestamp(i.started),
                    "plan_digest": i.plan_digest,
                    "checked_in": i.name in memory.checked_in,
                }
                for i in memory.instances
            ],
            "waivers": [plain(waiver) for waiver in waivers],
            "caveats": list(memory.caveats),
            "record": run.record.tip,
        }
    )
    return json.loads(canonical(statement))  # type: ignore[no-any-return]


def _interrupted(run: Run, memory: Memory, key: str) -> dict[str, Any] | None:
    """The statement of a seal that was begun: it is finished as it was meant, not made anew."""
    if tagged := tag_text(run.repository, tag_name(run)):
        return _stated(run, memory, tagged)
    intended = memory.intended.get(key)
    if intended is None or run.record.tip is None:
        return None
    path = f"{run.record.files_path}/{intended.what}"
    data = run.repository.read(run.record.tip, [path])[path]
    if data is None:
        raise HerorunError(f"The statement {path} of the interrupted seal is not in the record.")
    return dict(json.loads(data))


def _stated(run: Run, memory: Memory, text: str) -> dict[str, Any]:
    """What the tag of a seal says that did not go through to its end; the tag is never made anew."""
    try:
        statement = dict(json.loads(text[text.index("\n{") :]))
        same = [i["name"] for i in statement["instances"]] == [i.name for i in memory.instances]
    except (ValueError, KeyError, TypeError):
        same = False
    if not same:
        tag = tag_name(run)
        raise Blocked(
            f"There is a tag {tag} already, and it does not state this run as it is now. If it is left over from a seal that failed: `git tag -d {tag}`, then seal again."
        )
    return statement


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
        oid = annotated_tag(run.repository, tag, commit, tag_message(run, statement))
        _push_tag(run, tag, oid)
    except HerorunError as error:
        run.record.append(Failed(now(), key, attempt, scrub(in_words(error))))
        raise
    lines = seal_lines(run, statement, tag)
    run.record.append(
        Done(now(), key, attempt, result=oid), Sealed(now(), tag, commit, digest(statement), lines)
    )
    pushed = run.record.push()
    warnings = [] if pushed else [f"the record is not pushed: {pushed.why}"]
    try:
        say(run, f"post/{tag}", f"Sealed as {tag}", _list(lines), {})
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
    ref = f"refs/tags/{tag}"
    there = run.repository.remote_tips(remote, ref).get(ref)
    if there == oid:
        return
    if there is not None:
        raise Blocked(f"{remote} has another tag {tag} already: it is never moved. A person must look.")
    push(run.repository, remote, oid, ref, None)


def tag_message(run: Run, statement: dict[str, Any]) -> str:
    """People's words first, then the statement itself; headings survive, because the message is kept verbatim."""
    lines = _list(seal_lines(run, statement, tag_name(run)))
    return f"Seal of hero run {run.slug}\n\n{lines}\n\n{json.dumps(statement, indent=1, sort_keys=True)}\n"


def seal_lines(run: Run, statement: dict[str, Any], tag: str) -> dict[str, str]:
    metrics = ", ".join(
        f"{name} {value:g}"
        for name, value in statement["final_metrics"].items()
        if isinstance(value, (int, float))
    )
    return {
        "Status": f"sealed as {tag} at commit {statement['commit']}",
        "Evidence": f"final checkpoint {statement['final_checkpoint']}; step {statement['final_step']}; {metrics}",
        "Decision": f"seal; {len(statement['instances'])} instances, plan {statement['plan_digest']}",
        "Next": "none: the run is over",
        "W&B": f"{statement['tracker']['id']} / {statement['tracker']['name']}",
        "Output root": str(statement["output_root"]),
        "Launch command": " ".join(statement["launch_command"]),
        "Caveats": "; ".join(statement["caveats"]) or "none",
    }


def _list(lines: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in lines.items())


def _again(run: Run, sealed: Sealed) -> Seal:
    """Sealed before: whatever of it did not reach the world yet goes out now."""
    answer = run.repository.git("rev-parse", "--verify", "--quiet", f"refs/tags/{sealed.tag}", ok=(0, 1))
    warnings = []
    if answer.code == 0:
        try:
            _push_tag(run, sealed.tag, answer.text.strip())
        except CouldNotLook as error:
            warnings.append(f"the tag is not pushed: {in_words(error)}")
    else:
        warnings.append(f"the tag {sealed.tag} is not in this clone: fetch it")
    try:
        say(run, f"post/{sealed.tag}", f"Sealed as {sealed.tag}", _list(dict(sealed.lines)), {})
    except (HerorunError, OSError) as error:
        warnings.append(f"the issue was not told: {in_words(error)}")
    pushed = run.record.push()
    if not pushed:
        warnings.append(f"the record is not pushed: {pushed.why}")
    return Seal(None, sealed.tag, sealed.commit, None, tuple(warnings))
