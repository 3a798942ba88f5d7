"""What a seal states: only what was found, said apart from what was planned."""

import json
from typing import Any

from herorun import __version__
from herorun.core.canonical import canonical, plain, timestamp
from herorun.core.evidence import Candidate, Checkpoints, Evidence, FinalStep, Instance, Metrics
from herorun.core.journal import Memory
from herorun.core.outside import read_json
from herorun.core.scrub import scrub_tree
from herorun.gates import Report
from herorun.system.clock import now
from herorun.workspace import Run


def make_statement(run: Run, memory: Memory, current: Instance, report: Report) -> dict[str, Any]:
    """What was trained, from what, how it ended, and what people want remembered about it."""
    launching = memory.launchings[current.name]
    waivers = [f.waiver for f in report.findings if f.waiver]
    told = {
        "schema": 1,
        "run": run.slug,
        "goal": run.contract.goal,
        "dri": run.dri,
        "sealed_at": timestamp(now()),
        "herorun": __version__,
        "commit": current.commit,
        "dirty_tree": launching.dirty,
        "patch": launching.plan["patch"]["value"],
        "plan_digest": current.plan_digest,
        "launch_command": launching.plan["argv"]["value"],
        "output_root": current.output_root,
        **found_at_end(report.evidence),
        "tracker": launching.plan["tracker"]["value"],
        "waivers": [plain(waiver) for waiver in waivers],
        "record": run.record.tip,
    }
    return {**_as_read(told), **remembered(memory)}


def remembered(memory: Memory) -> dict[str, Any]:
    """The part that comes from the record: a statement that says something else is out of date."""
    instances = [
        {
            "name": i.name,
            "job": i.job,
            "started": timestamp(i.started),
            "plan_digest": i.plan_digest,
            "checked_in": i.name in memory.checked_in,
        }
        for i in memory.instances
    ]
    return _as_read({"instances": instances, "caveats": list(memory.caveats)})


def found_at_end(evidence: Evidence) -> dict[str, Any]:
    """The checkpoint and the step that were found, null where there are none; `final_step` is what was planned."""
    final, metrics = evidence.get(FinalStep), evidence.get(Metrics)
    planned = final.value if isinstance(final, FinalStep) else None
    checkpoint = _last_checkpoint(evidence, planned)
    steps = [metrics.step] if isinstance(metrics, Metrics) else []
    steps += [checkpoint.step] if checkpoint else []
    return {
        "final_checkpoint": checkpoint.path if checkpoint else None,
        "final_checkpoint_temporary": checkpoint.temporary if checkpoint else None,
        "reached_step": max(steps, default=None),
        "final_step": planned,
        "final_metrics": dict(metrics.last or {}) if isinstance(metrics, Metrics) else {},
    }


def _last_checkpoint(evidence: Evidence, planned: int | None) -> Candidate | None:
    """The complete permanent one of the final step; without it the newest complete one."""
    found = evidence.get(Checkpoints)
    if not isinstance(found, Checkpoints):
        return None
    good = (c for c in found.candidates if c.step == planned and c.complete and not c.temporary)
    return next(good, found.newest)


def _as_read(told: dict[str, Any]) -> dict[str, Any]:
    """As whoever reads the tag will see it: secrets masked, in JSON's types."""
    return dict(json.loads(canonical(scrub_tree(told))))


def tag_message(statement: dict[str, Any], tag: str) -> str:
    """People's words first, then the statement itself; headings survive, because the message is kept verbatim."""
    lines = as_list(seal_lines(statement, tag))
    whole = json.dumps(statement, indent=1, sort_keys=True)
    return f"Seal of hero run {statement['run']}\n\n{lines}\n\n{whole}\n"


def statement_of(tag_text: str) -> dict[str, Any] | None:
    """The statement in a tag; None where there is none."""
    try:
        return parse_statement(tag_text[tag_text.index("\n{") :])
    except ValueError:
        return None


def parse_statement(text: str | bytes) -> dict[str, Any]:
    """A whole statement; a ValueError for anything else."""
    found = read_json(text)
    if not isinstance(found, dict) or found.get("schema") != 1:
        raise ValueError("it is no seal statement of this version")
    try:
        seal_lines(found, "")
        [instance["name"] for instance in found["instances"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no whole seal statement ({error})") from None
    return found


def seal_lines(statement: dict[str, Any], tag: str) -> dict[str, str]:
    return {
        "Status": f"sealed as {tag} at commit {statement['commit']}",
        "Evidence": evidence_words(statement),
        "Decision": f"seal; {len(statement['instances'])} instances, plan {statement['plan_digest']}",
        "Next": "none: the run is over",
        "W&B": f"{statement['tracker']['id']} / {statement['tracker']['name']}",
        "Output root": str(statement["output_root"]),
        "Launch command": " ".join(statement["launch_command"]),
        "Dirty tree": str(statement.get("dirty_tree", "no")),
        "Caveats": "; ".join(statement["caveats"]) or "none",
    }


def evidence_words(statement: dict[str, Any]) -> str:
    """`final checkpoint /data/tiny/step-200; step 200 of 200; loss 2.5`."""
    temporary = " (temporary)" if statement["final_checkpoint_temporary"] else ""
    where = statement["final_checkpoint"]
    planned, reached = ("unknown" if n is None else n for n in _steps(statement))
    metrics = [f"{k} {v:g}" for k, v in statement["final_metrics"].items() if isinstance(v, int | float)]
    said = [
        f"final checkpoint {where}{temporary}" if where else "no complete checkpoint was found",
        f"step {reached} of {planned}",
        ", ".join(metrics) or "no metrics",
    ]
    return "; ".join(said)


def _steps(statement: dict[str, Any]) -> tuple[int | None, int | None]:
    return statement["final_step"], statement["reached_step"]


def as_list(lines: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in lines.items())
