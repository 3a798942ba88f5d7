"""The intents of actions, journalled before they are done: the post with its question, its
commands and its urgency.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from herorun import discover
from herorun.core.babysit.action_key import parse_key
from herorun.core.babysit.actions import Action, DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.check import Gate
from herorun.core.event import Intended
from herorun.core.evidence import Evidence, Metrics
from herorun.core.journal import Memory
from herorun.core.journal.decision import reason_of
from herorun.core.markdown import mention_dri, quote_line, without_markup
from herorun.core.notify.escalation import Option
from herorun.core.notify.notifications import is_digest
from herorun.core.notify.page_policy import urgency
from herorun.core.notify.page_routes import takers
from herorun.operations.record.post import post_intent
from herorun.runs import MonitoredRun, Run

if TYPE_CHECKING:
    from herorun.operations.launch.propose import Proposer


def intents(
    run: MonitoredRun, actions: Sequence[Action], at: datetime, memory: Memory, evidence: Evidence
) -> list[Intended]:
    """Intents to journal with the decision, which `memory` already includes."""
    proposer = _proposer(run, memory, evidence) if actions else None
    return [_intent(run, action, at, proposer) for action in actions]


def _proposer(run: MonitoredRun, memory: Memory, evidence: Evidence) -> "Proposer | None":
    """Proposes commands for questions. It gets the metrics of this tick: if it read rows itself,
    the next tick would miss the excursions that ended in them.
    """
    if not isinstance(run, Run):
        return None
    from herorun.operations.launch.propose import Proposer

    rows = {Metrics: evidence[Metrics]} if Metrics in evidence else {}
    return Proposer(run, memory, rows)


def _intent(
    run: MonitoredRun, action: Action, at: datetime, proposer: "Proposer | None"
) -> Intended:
    """The intent of an action; with a channel besides the issue, it also has the page's urgency."""
    checks = (
        {check.name: check for check in discover.checks(Gate.HEALTH)} if run.channels.all else {}
    )
    page_urgency = urgency(action, checks) if run.channels.all else None
    if page_urgency and not takers(page_urgency, run.contract.notify):
        page_urgency = None  # the issue is enough
    return replace(_intend_action(run, action, at, proposer), page=page_urgency or "")


def _options(run: MonitoredRun, question: Escalate, proposer: "Proposer | None") -> str:
    if proposer is None:
        return run.answers(question.ways, question.about)
    relaunch = parse_key(question.key).relaunch_question is not None
    return proposer.markdown(question.ways, question.about, question.before, relaunch)


def _note_of(about: str, proposer: "Proposer | None") -> str:
    """The command that acknowledges an alert; empty if there is none, as for a job without a
    contract.
    """
    if not about or proposer is None:
        return ""
    command = proposer.markdown((Option.ACK,), about)
    return f"\n\nAcknowledge it once a person has looked at it:\n\n{command}"


def _intend_action(
    run: MonitoredRun, action: Action, at: datetime, proposer: "Proposer | None"
) -> Intended:
    match action:
        case Tell(key, title, why, edits, own_comment, about):
            intent = post_intent(
                run=run,
                key=key,
                title=title,
                why=f"{without_markup(why)}{_note_of(about, proposer)}",
                lines=entry_lines(title, why, "notify", "continue"),
                at=at,
                edits=edits,
                own_comment=own_comment,
            )
            if not is_digest(key):
                return intent
            from herorun.operations.babysit.digest_charts import with_pictures

            return with_pictures(run, intent)
        case Escalate(key=key, title=title, why=why, edits=edits, reason=reason):
            return post_intent(
                run=run,
                key=key,
                title=f"Escalation: {title}",
                why=f"{without_markup(why)}\n\n{_question(run, action, proposer)}",
                lines=entry_lines(title, why, f"ask {run.dri}: {reason}", "a person decides"),
                at=at,
                edits=edits,
            )
        case Relaunch() | Stop() | DeleteNode():
            return Intended(
                at=at,
                key=action.key,
                attempt=run.record.memory().attempt(action.key),
                what=reason_of(action)[0],
            )


def entry_lines(status: str, evidence: str, decision: str, following: str) -> dict[str, str]:
    """The lines of an action's entry in the logbook."""
    return {"Status": status, "Evidence": evidence, "Decision": decision, "Next": following}


def _question(run: MonitoredRun, action: Escalate, proposer: "Proposer | None") -> str:
    """The question to the responsible person, with the commands that answer it."""
    stop_when = run.contract.stop_when
    stop = f" The contract says when to stop: {quote_line(stop_when)}" if stop_when else ""
    return (
        f"{mention_dri(run.contract.dri or run.launcher.user or 'unknown')}: your decision "
        f"is needed ({action.reason}).{stop}\n\n{_options(run, action, proposer)}"
    )
