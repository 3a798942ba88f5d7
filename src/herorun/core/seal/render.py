"""Renders a statement for people, and as the message of a tag. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from herorun.core.evidence import TrackerTraits
from herorun.core.finding import count
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.statement import facts_of

SIGNATURES = (
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN SSH SIGNATURE-----",
    "-----BEGIN SIGNED MESSAGE-----",
)


def seal_lines(statement: Mapping[str, Any], tag: str) -> dict[str, str]:
    """The logbook's and the issue's lines.

    A statement of an earlier version may lack the tracker's label and the dirty tree. Its tag is
    signed and cannot be written again, so it must still be read.
    """
    facts = facts_of(statement)
    tracker, manifest = facts["tracker"], facts["manifest"]
    links = f" ({', '.join(facts['tracker_links'])})" if facts["tracker_links"] else ""
    lines = {
        "Status": f"{_status(facts)} as {tag} at commit {facts['commit']}",
        "Evidence": describe_evidence(facts),
        "Decision": (
            f"seal; {count(len(facts['instances']), 'instance')}, plan {facts['plan_digest']}"
        ),
        "Next": "the run continues"
        if facts["kind"] == SealKind.MILESTONE
        else "none: the run is over",
        _tracker_label(facts): f"{_tracker_run(tracker)}{links}",
        "Output root": str(facts["output_root"]),
        "Checkpoint": _checkpoint(manifest),
        "Metrics": ", ".join(_metrics(facts)) or "none",
        "Launch command": " ".join(facts["launch_command"]),
        "Dirty tree": str(facts.get("dirty_tree", "no")),
        "Caveats": "; ".join(facts["caveats"]) or "none",
    }
    if facts["waivers"]:
        lines["Waivers"] = "; ".join(
            f"{each['check']}: {each['reason']} ({each['approved_by']})"
            for each in facts["waivers"]
        )
    return lines


def _tracker_label(facts: Mapping[str, Any]) -> str:
    """As it is stated. A statement of before 1.0 may lack it: its tag has the label by this rule,
    and is compared with these lines to the letter.
    """
    if "tracker_label" in facts:
        return str(facts["tracker_label"])
    kind = str(facts["tracker"].get("kind", "wandb"))
    return "W&B" if kind == "wandb" or kind.startswith("wandb_") else TrackerTraits().label


def _tracker_run(tracker: Mapping[str, Any]) -> str:
    return " / ".join(str(tracker[key]) for key in ("id", "name") if tracker[key] is not None)


def _status(facts: Mapping[str, Any]) -> str:
    match facts["kind"]:
        case SealKind.MILESTONE:
            return f"milestone {facts['name']} sealed"
        case SealKind.ABORTED:
            return "aborted, and sealed"
        case SealKind.SUPERSEDED:
            return f"superseded by {facts['name']}, and sealed"
    return "sealed"


def _checkpoint(manifest: Mapping[str, Any] | None) -> str:
    if manifest is None:
        return "none"
    size = f"{count(manifest['files'], 'file')}, {count(manifest['bytes'], 'byte')}"
    return (
        f"{manifest['path']}: {size}, compared by {manifest['proof']}; manifest "
        f"{manifest['digest']}"
    )


def _metrics(facts: Mapping[str, Any]) -> list[str]:
    return [f"{k} {v:g}" for k, v in facts["final_metrics"].items() if isinstance(v, int | float)]


def describe_evidence(facts: Mapping[str, Any]) -> str:
    """`final checkpoint /data/tiny/step-200; step 200 of 200; loss 2.5`."""
    temporary = " (temporary)" if facts["final_checkpoint_temporary"] else ""
    word = "checkpoint" if facts["kind"] == SealKind.MILESTONE else "final checkpoint"
    where = facts["final_checkpoint"]
    final_step, last_step = (
        "unknown" if n is None else n for n in (facts["final_step"], facts["reached_step"])
    )
    parts = [
        f"{word} {where}{temporary}" if where else "no complete checkpoint was found",
        f"step {last_step} of {final_step}",
        ", ".join(_metrics(facts)) or "no metrics",
    ]
    return "; ".join(parts)


def as_list(lines: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in lines.items())


def tag_message(statement: Mapping[str, Any], tag: str) -> str:
    """People's words first, then the statement itself; headings survive, because the message is
    kept verbatim.
    """
    lines = as_list(seal_lines(statement, tag))
    document = json.dumps(statement, indent=1, sort_keys=True)
    return f"Seal of hero run {facts_of(statement)['run']}\n\n{lines}\n\n{document}\n"


def split_tag(text: str) -> tuple[dict[str, str], str, str]:
    """The head of an annotated tag as git keeps it, its message, and its signature (empty where it
    has none).
    """
    head, _, body = text.partition("\n\n")
    fields = dict(line.split(" ", 1) for line in head.splitlines() if " " in line)
    at = min((index for mark in SIGNATURES if (index := body.find(f"\n{mark}")) >= 0), default=-1)
    return fields, *((body[: at + 1], body[at + 1 :]) if at >= 0 else (body, ""))
