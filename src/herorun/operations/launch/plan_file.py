"""The plan file: what `preflight --out` writes for review, and what `launch --plan` takes, and
nothing else.

The digest covers the plan. The file also contains evidence of the review that may change without
changing the plan: a launch reports the differences.
"""

import contextlib
import itertools
import json
import os
from pathlib import Path
from typing import Any

from herorun.core.babysit.alert import AlertKey
from herorun.core.canonical_json import canonical, digest
from herorun.core.check_names import current_key, current_name
from herorun.core.code.impact import impact_of
from herorun.core.config.files import parse_json
from herorun.core.contract import Impact
from herorun.core.errors import Blocked, WrongUse, describe_error
from herorun.core.evidence import (
    Checkpoints,
    CodeChange,
    Published,
    TrackerIdentity,
    Unavailable,
)
from herorun.core.finding import count, few
from herorun.core.journal import Memory
from herorun.core.journal.launch_intents import plan_values
from herorun.core.plan import PLAN_SCHEMA, Plan, describe_differences
from herorun.core.redaction.scrub import MASK, scrub, scrub_tree
from herorun.operations.launch.preflight import PreflightOutcome, plan_json
from herorun.runs import Run, hide_from_git, hide_output
from herorun.system.files import read_regular, write_atomic

SCHEMA = 1
MAX_PLAN_BYTES = 64 << 20  # bytes: it holds the resolved config


def write_plan_file(run: Run, path: Path, answer: PreflightOutcome) -> Path | None:
    """Write the plan. If the file itself would block the launch, as a change of the work tree,
    returns a free path to which it must be moved first; otherwise None. `WrongUse` if there is no
    plan, or for a tracked file whose change would block the launch: it stays as it is.
    """
    if answer.plan is None:
        raise WrongUse(f"There is no plan to write to {path}: {answer.why_no_plan}")
    document = {
        "schema": SCHEMA,
        "run": run.slug,
        "plan_digest": answer.plan.digest,
        "plan": plan_json(answer.plan),
        "seen": moving_evidence(answer),
    }
    ours, place = run.repository.top / ".herorun", _resolve_path(path)
    if run.repository.common in place.parents:
        raise WrongUse(
            f"{path} is in git's own folder: name another file, such as `.herorun/plan.json`."
        )
    name = _name_that_blocks(run, place)
    if name and run.repository.git("ls-files", "--cached", "--", name).text:
        raise WrongUse(
            f"{path} is tracked by git, and a change of it blocks the launch: name another file, "
            "such as `.herorun/plan.json`."
        )
    is_private = hide_output(run.repository, place)
    _must_be_free_or_a_plan(place, is_private)
    write_atomic(place, (canonical(document) + "\n").encode(), 0o644)
    untracked_argv = ("ls-files", "--others", "--exclude-standard", "--", name)
    if not name or not run.repository.git(*untracked_argv).text:
        return None
    hide_from_git(ours)
    return _free_path(ours, run.slug)


def _resolve_path(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise WrongUse(f"{path} is no place for a plan: {error}.") from None


def _must_be_free_or_a_plan(place: Path, is_private: bool) -> None:
    """`WrongUse` if something else than a plan is there already: notes, a config of git, or, in a
    private folder, herorun's reserve of disk space or an empty lock. Elsewhere an empty file is no
    loss: `mktemp` made it.
    """
    if not os.path.lexists(place):
        return
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = read_regular(place, MAX_PLAN_BYTES)
        if _looks_like_a_plan(parse_json(content.decode("utf-8")) if content else None):
            return
        if not content and not is_private:
            return
    raise WrongUse(f"{place} is there already, and is not a plan: name another file.")


def _looks_like_a_plan(document: Any) -> bool:
    return isinstance(document, dict) and "plan_digest" in document and "plan" in document


def _name_that_blocks(run: Run, place: Path) -> str:
    """Its path in the work tree; "" if it is outside, or if `dirty-tree` ignores changes of the
    file.
    """
    if not place.is_relative_to(run.repository.top):
        return ""
    name = place.relative_to(run.repository.top).as_posix()
    return name if impact_of(name, run.contract.code.impact) is Impact.BLOCK else ""


def _free_path(folder: Path, slug: str) -> Path:
    """Where nothing is yet. A slug has no dot, so no run's state folder ever gets this name."""
    numbers = itertools.chain([""], (f".{number}" for number in itertools.count(2)))
    paths = (folder / f"plan-{slug}{number}.json" for number in numbers)
    return next(path for path in paths if not os.path.lexists(path))


def moving_evidence(answer: PreflightOutcome) -> dict[str, Any]:
    """The gate's evidence that may change while the plan stays the same."""
    evidence = answer.report.evidence
    published_commit, own = evidence.get(Published), evidence.get(Checkpoints)
    tracker = evidence.get(TrackerIdentity)
    newest = own.newest if isinstance(own, Checkpoints) else None
    tips = (
        {published_commit.ref: published_commit.tip}
        if isinstance(published_commit, Published) and published_commit.ref
        else {}
    )
    document: dict[str, Any] = scrub_tree(
        {
            "verdict": answer.verdict.value,
            "tips": tips,
            "newest_checkpoint": newest.path if newest else None,
            "tracker": tracker.state.value if isinstance(tracker, TrackerIdentity) else None,
        }
    )
    # names are scrubbed; the outcome of `secret-in-command` is no secret
    outcomes = {_finding_name(f): f.verdict.outcome.value for f in answer.report.findings if f.open}
    return {**document, "findings": outcomes}


def _finding_name(finding: Any) -> str:
    return scrub(AlertKey(finding.check, finding.verdict.subject).name)


def read_plan_file(path: Path, slug: str) -> dict[str, Any]:
    """The document. `WrongUse` if `preflight --out` did not write it for this run; the message says
    what is wrong.
    """
    another = f"Write one with `herorun preflight {slug} --out FILE`, and review it."
    again = f"Write it again with `herorun preflight {slug} --out {path}`, and review it."
    try:
        document = parse_json(
            read_regular(path, MAX_PLAN_BYTES).decode("utf-8")
        )  # a key given twice would be read and launched otherwise
    except OSError as error:
        raise WrongUse(f"The plan file cannot be read: {describe_error(error)}.") from None
    except (ValueError, RecursionError):
        raise WrongUse(f"{path} is not a plan: it is not JSON. {another}") from None
    if not _looks_like_a_plan(document):
        raise WrongUse(f"{path} is not a plan: it has no plan_digest or no plan. {another}")
    wrong = _wrong(document, slug)
    if wrong:
        raise WrongUse(f"{path} cannot be launched: {wrong}. {again}")
    return dict(document)


def _wrong(document: dict[str, Any], slug: str) -> str:
    if document.get("schema") != SCHEMA or isinstance(document["schema"], bool):
        return (
            f"its schema is {json.dumps(document.get('schema'))}, but this herorun reads {SCHEMA}"
        )
    if document.get("run", slug) != slug:
        return f"it is the plan of another run, {json.dumps(document['run'])}"
    plan = document["plan"]
    if not isinstance(plan, dict) or not all(
        isinstance(v, dict) and "value" in v for v in plan.values()
    ):
        return "its plan is not a JSON object"
    if MASK not in canonical(plan) and _digest(plan) != document["plan_digest"]:
        return "it was edited, so its values do not match its plan_digest"
    return ""


def _digest(plan: dict[str, Any]) -> str:
    return digest({"schema": PLAN_SCHEMA, **plan_values(plan)})


def must_be(reviewed_plan: dict[str, Any], plan: Plan, slug: str) -> None:
    """Raise `Blocked`, naming every value that differs from the reviewed one."""
    changes = describe_differences(plan_values(reviewed_plan["plan"]), plan_values(plan_json(plan)))
    if not changes and reviewed_plan["plan_digest"] == plan.digest:
        return
    differences = "; ".join(changes) or "a value that is masked in the file"
    raise Blocked(
        f"The plan has moved since it was reviewed: {differences}. Review it again: `herorun "
        f"preflight {slug} --out FILE`."
    )


def moved_since(reviewed_plan: dict[str, Any], answer: PreflightOutcome) -> str:
    """How the gate's evidence differs from that of the review, as text; "" if it does not."""
    before = reviewed_plan.get("seen")
    if not isinstance(before, dict):
        return ""
    after = moving_evidence(answer)
    past, present = before.get("findings"), after["findings"]
    changes = _moved_findings(_by_current_name(past) if isinstance(past, dict) else {}, present)
    changes += describe_differences({**before, "findings": None}, {**after, "findings": None})
    return f"since the plan was reviewed: {'; '.join(changes)}" if changes else ""


def _by_current_name(findings: dict[str, Any]) -> dict[str, Any]:
    return {current_name(current_key(name)): outcome for name, outcome in findings.items()}


def _moved_findings(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One text for each outcome: one that fails to answer can change dozens of findings."""
    names: dict[str, list[str]] = {}
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            outcome = after.get(name)
            names.setdefault(f"now {outcome}" if outcome else "no longer open", []).append(name)
    return [f"{outcome}: {few(each)}" for outcome, each in names.items()]


def since_last_instance(memory: Memory, answer: PreflightOutcome) -> tuple[str, ...]:
    """What this plan changes compared with the newest instance's: one line for each value, and the
    files that differ.
    """
    launching = memory.launchings.get(memory.current.name) if memory.current else None
    if launching is None or answer.plan is None:
        return ()
    values = describe_differences(plan_values(launching.plan), plan_values(plan_json(answer.plan)))
    code = answer.report.evidence.get(CodeChange)
    if isinstance(code, CodeChange) and code.files:
        names = few([scrub(name) for name in code.files])  # as the findings shorten them
        return (*values, f"{count(len(code.files), 'file')} changed: {names}")
    if isinstance(code, Unavailable):
        return (*values, f"changed files unknown: {code.why}")
    return values
