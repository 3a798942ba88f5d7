"""The questions that a status shows, with the commands that answer them."""

from collections.abc import Mapping
from typing import Any

from herorun.core.babysit.action_key import parse_key
from herorun.core.recovery.question_reasons import NEEDS_FIX, QUESTION_REASONS
from herorun.output import clean
from herorun.output.run_facts import last_command

_BY_DRI = "herorun relaunch ", "herorun fork "  # not what starts nothing, such as a preflight
_TO_SEAL = "herorun waive ", "herorun ack ", "herorun seal "


def label_of_next(document: Mapping[str, Any]) -> str:
    """The command's. What a person decided against, or must decide first, is no advice."""
    command = last_command(document)
    is_to_seal = document["run"] == "down" and command.startswith(_TO_SEAL)
    if is_to_seal or command.startswith("herorun seal "):
        return "to seal"
    if _stays_down(document):
        return "to restart"
    if command.startswith("herorun rollback "):
        return "roll back"
    if _needs_fix(document):
        return "after fix"
    is_asked = _relaunch_questions(document) and _is_yes(document)
    if document["next"] != command and not is_asked:  # another clone holds the lease
        return "if gone"
    is_decision = document["dri_decides"] and command.startswith(_BY_DRI)
    return "if yes" if is_asked or is_decision else "next"


def _needs_fix(document: Mapping[str, Any]) -> bool:
    """Whether the next command, a preflight, could be clear before the fix, and the job fail
    again.
    """
    is_preflight = last_command(document).startswith("herorun preflight ")
    return is_preflight and bool(NEEDS_FIX.intersection(_relaunch_questions(document)))


def _stays_down(document: Mapping[str, Any]) -> bool:
    is_denied = (document["answer"] or "").startswith("denied")
    has_order = is_denied or document["stopped_by"] or document["paused"]
    return document["run"] == "down" and bool(has_order)


def question_lines(document: Mapping[str, Any]) -> list[str]:
    """Each with the commands that answer it, but for the one in the row of the next command."""
    judge = [version for key in document["questions"] if (version := parse_key(key).judged_version)]
    yes, no = (f"herorun {order} {document['slug']}" for order in ("approve", "deny"))
    lines = [
        f"  question   may herorun {clean(v)} act? In the last 24 hours it would have acted "
        f"differently "
        f"(`herorun replay {document['slug']}`). Until you approve, it only observes: no "
        f"relaunch, no stop. Yes: `{yes}`; no, only observe: `{no}`"
        for v in judge
    ]
    if kinds := _relaunch_questions(document):
        reasons = " and ".join(clean(QUESTION_REASONS.get(kind, kind)) for kind in kinds)
        lines.append(f"  question   {_relaunch_question(document, reasons)}`{no}`")
    return lines


def _relaunch_question(document: Mapping[str, Any], reasons: str) -> str:
    """Without the command that says no, which follows."""
    slug, following = document["slug"], str(document["next"])
    if not _is_yes(document):
        way = ""
        if following.startswith("herorun preflight "):
            way = f" {_way_to_launch(document)}"
        # what the launch checks refused is tried again
        is_refused = _relaunch_questions(document) == ["gate"]
        verb = "has not relaunched it yet" if is_refused else "does not relaunch it"
        return f"what next? herorun {verb}: {reasons}.{way} To leave it down: "
    has_row = document["run"] == "down" and following
    yes = f"see `{label_of_next(document)}` below" if has_row else f"`herorun approve {slug}`"
    return f"relaunch it? herorun asks, because {reasons}. Yes: {yes}; no: "


def _way_to_launch(document: Mapping[str, Any]) -> str:
    preflight, launch = document["next"], f"herorun launch {document['slug']}"
    if _relaunch_questions(document) == ["gate"]:
        return f"`{preflight}` shows what blocks a launch; once nothing does: `{launch}`."
    if not _needs_fix(document):
        return (
            f"Find and fix the cause (`herorun logs {document['slug']}`), then check what blocks a "
            f"launch (`{preflight}`); once nothing does: `{launch}`."
        )
    return (
        f"After a fix: `{preflight}`. If the fix can change the training, preflight asks for a "
        f"waiver of the DRI or for a fork. Once it is clear: `{launch}`."
    )


def _relaunch_questions(document: Mapping[str, Any]) -> list[str]:
    """Their kinds. A question about a version of herorun is another one."""
    questions = [parse_key(key) for key in document["questions"]]
    return [question.last for question in questions if not question.judged_version]


def _is_yes(document: Mapping[str, Any]) -> bool:
    """Whether the next command is the answer yes; a rollback or a preflight is another way."""
    command = last_command(document)
    return (
        document["run"] != "down"
        or not command
        or command.startswith(("herorun approve ", "herorun relaunch "))
    )
