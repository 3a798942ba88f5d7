"""The questions that a status shows, with the commands that answer them."""

from collections.abc import Mapping
from typing import Any

from herorun.core.babysit.action_key import parse_key
from herorun.output import clean


def label_of_next(document: Mapping[str, Any]) -> str:
    """The command's. What a person decided against, or must decide first, is no advice."""
    if _stays_down(document):
        return "to restart"
    if document["next"].startswith("herorun rollback "):
        return "to go back"
    return "if yes" if _relaunch_questions(document) and _is_yes(document) else "next"


def _stays_down(document: Mapping[str, Any]) -> bool:
    is_denied = (document["answer"] or "").startswith("denied")
    has_order = is_denied or document["stopped_by"] or document["paused"]
    return document["run"] == "down" and bool(has_order)


def question_lines(document: Mapping[str, Any]) -> list[str]:
    """Each with the two commands that answer it."""
    judge = [version for key in document["questions"] if (version := parse_key(key).judged_version)]
    yes, no = (f"herorun {order} {document['slug']}" for order in ("approve", "deny"))
    lines = [f"  question   may herorun {clean(v)} act? yes: `{yes}`; no: `{no}`" for v in judge]
    if kinds := ", ".join(clean(kind) for kind in _relaunch_questions(document)):
        way = document["next"] if document["run"] == "down" and document["next"] else yes
        word = "yes" if _is_yes(document) else "first" if " preflight " in way else "instead"
        lines.append(f"  question   relaunch ({kinds})? {word}: `{way}`; no: `{no}`")
    return lines


def _relaunch_questions(document: Mapping[str, Any]) -> list[str]:
    """Their kinds. A question about a version of herorun is another one."""
    questions = [parse_key(key) for key in document["questions"]]
    return [question.last for question in questions if not question.judged_version]


def _is_yes(document: Mapping[str, Any]) -> bool:
    """Whether the next command is the answer yes; a rollback or a preflight is another way."""
    command = str(document["next"])
    return (
        document["run"] != "down"
        or not command
        or command.startswith(("herorun approve ", "herorun relaunch "))
    )
