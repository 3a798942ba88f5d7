"""Which questions about a run wait for a person, and what a person types next about one that is
down.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from herorun import discover
from herorun.core.babysit.action_key import Verb, parse_key, write_key
from herorun.core.check import Check, Gate
from herorun.core.contract import Recovery
from herorun.core.journal import Memory
from herorun.core.notify.escalation import Option
from herorun.core.notify.escalation_policy import trouble_began
from herorun.core.recovery.decision import FINAL, RelaunchObjection
from herorun.core.recovery.diagnosis import Cause
from herorun.runs import Run

if TYPE_CHECKING:
    from herorun.operations.launch.propose import Proposer


def open_questions(memory: Memory) -> tuple[str, ...]:
    """The keys of the unanswered questions about the current instance."""
    current = memory.current
    if current is None:
        return ()
    questions = [key for key in memory.done if _kind_of(key, current.name)]
    return (
        () if current.name in memory.answers and not _has_new_request(memory) else tuple(questions)
    )


def _kind_of(key: str, instance: str) -> str:
    """Why the instance is not relaunched automatically, by the key of a question; "" for another
    key.
    """
    question = parse_key(key).relaunch_question
    return question[1] if question and question[0] == instance else ""


def ways_on(run: Run, memory: Memory, checks: Mapping[str, Check]) -> tuple[Option, ...]:
    """The options for a run that is down: the answers to open questions; otherwise a rollback after
    a numeric failure, a launch of new code after a bug in the code or a refusal at check-in (a
    relaunch runs the admitted commit, which meets the same again), or a relaunch.
    """
    questions = open_questions(memory)
    numbers = (
        bool(memory.ledger.taints) or trouble_began(memory.alerts.values(), checks) is not None
    )
    ending = memory.endings.get(memory.current.name) if memory.current else None
    comes_again = ending is not None and (
        ending.cause is Cause.REFUSED or ending.seen.startswith(Cause.CODE_BUG)
    )
    start = Option.LAUNCH if comes_again else Option.RELAUNCH
    if not questions:
        return (Option.ROLLBACK,) if numbers else (start,)
    kinds = [parse_key(key).last for key in questions]
    is_observe_only = run.contract.babysit.recovery is Recovery.OBSERVE
    kind = next((kind for kind in kinds if kind in FINAL), kinds[0])
    ways = RelaunchObjection(kind, "", is_observe_only, numbers=numbers and kind == "veto").ways
    return tuple(start if way is Option.RELAUNCH else way for way in ways)


def continuation_command(proposer: "Proposer") -> str:
    """The command that a person types next about a run that is down: the first of `ways_on`, or
    what replaces it where the launch gate would refuse it now.
    """
    memory = proposer.memory
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    first = trouble_began(memory.alerts.values(), checks)
    ways = ways_on(proposer.run, memory, checks)
    return proposer.proposals(ways, before=first)[0].command


def _has_new_request(memory: Memory) -> bool:
    """Whether a relaunch failed after a yes, so that the question is open again."""
    assert memory.current is not None
    answer = memory.answers[memory.current.name]
    tries = memory.failed.get(write_key(Verb.RELAUNCH, memory.current.name))
    return answer.yes and tries is not None and tries.last > answer.at
