"""Evaluates recorded ticks again: the same evidence and the same state, by today's rules.

Under the same rules the result is the same, byte for byte. What cannot be evaluated again is
unknown, never "same".
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any

from herorun.core.babysit.action_key import INTERVENTIONS, verb_of
from herorun.core.babysit.actions import Action
from herorun.core.babysit.alert import AlertKey
from herorun.core.babysit.tick import Rules, Tick, tick
from herorun.core.canonical_json import canonical, plain
from herorun.core.drift import differences
from herorun.core.event import CheckedIn, Decided, Intended, Observed
from herorun.core.evidence import ActionBlock, Evidence
from herorun.core.evidence_log import LostEvidence, decode_evidence
from herorun.core.journal import JournalLine, Memory, fold
from herorun.core.journal.decision import (
    build_decision,
    interventions,
    reason_of,
    restrict_actions,
    to_intend,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub, scrub_tree


class ReplayResult(StrEnum):
    SAME = "same"
    DIFFERS = "differs"
    UNKNOWN = "unknown"  # it could not be judged again


@dataclass(frozen=True)
class PastTick:
    """One tick as the journal has it."""

    observed: Observed
    decided: Decided | None
    intended: tuple[Intended, ...]
    memory: Memory | None  # that it judged with; None: it cannot be folded again


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One tick, judged again."""

    at: datetime
    version: str  # the version of herorun that judged it then
    same_rules: bool
    result: ReplayResult
    differences: tuple[str, ...] = ()  # `what: then -> now`
    interventions: tuple[str, ...] = ()  # actions on the job that would be different now
    why: str = ""  # why it is unknown


def past_ticks(lines: Sequence[JournalLine], since: datetime | None = None) -> Iterator[PastTick]:
    """The recorded ticks in the journal's order, from `since` on. Each line is folded once."""
    memory, folded_lines = Memory(), 0
    for index, line in enumerate(lines):
        observation = line.event
        if not isinstance(observation, Observed) or (since is not None and observation.at < since):
            continue
        line_count = _count_known_lines(lines, index, observation)
        if line_count is not None and line_count >= folded_lines:
            memory, folded_lines = (
                fold((each.event for each in lines[folded_lines:line_count]), memory),
                line_count,
            )
        following = [each.event for each in lines[index + 1 : index + 2]]
        decision = (
            following[0]
            if following and isinstance(following[0], Decided) and following[0].at == observation.at
            else None
        )
        yield PastTick(
            observation,
            decision,
            _list_intents(lines, index + 2, observation.at),
            memory if line_count == folded_lines else None,
        )


def _count_known_lines(
    lines: Sequence[JournalLine], index: int, observation: Observed
) -> int | None:
    """How many lines the tick knew; None where another machine's were put among them since."""
    if not observation.after:
        return index
    back = takewhile(lambda at: lines[at - 1].id != observation.after, range(index, 0, -1))
    line_count = index - sum(1 for _ in back)
    return line_count if line_count == observation.lines else None


def _list_intents(lines: Sequence[JournalLine], start: int, at: datetime) -> tuple[Intended, ...]:
    """What was journalled together with the decision."""
    intents_after = takewhile(
        lambda event: isinstance(event, Intended | CheckedIn) and event.at == at,
        (lines[index].event for index in range(start, len(lines))),
    )
    return tuple(event for event in intents_after if isinstance(event, Intended))


def replay(
    past: PastTick, forms: Mapping[str, Any] | None, why_lost: str, rules: Rules, digest: str
) -> Replay:
    """Judge one tick again by rules of that `digest`; `why_lost` says why there is no evidence."""
    observation = past.observed
    same_rules = observation.rules == digest
    try:
        evidence = _evidence(past, forms, why_lost)
        assert past.memory is not None and past.decided is not None
        outcome = tick(past.memory.alerts, past.memory.ledger, evidence, rules, observation.at)
        changes = _differences(past.decided, past.intended, outcome, evidence, past.memory)
    except LostEvidence as error:
        return Replay(
            at=observation.at,
            version=observation.version,
            same_rules=same_rules,
            result=ReplayResult.UNKNOWN,
            why=str(error),
        )
    except Exception as error:  # what today's rules cannot judge is not judged as it was
        return Replay(
            at=observation.at,
            version=observation.version,
            same_rules=same_rules,
            result=ReplayResult.UNKNOWN,
            why=f"not judged: {error!r}",
        )
    acts = _other_interventions(past.decided, evidence, outcome)
    result = ReplayResult.DIFFERS if changes or acts else ReplayResult.SAME
    return Replay(
        at=observation.at,
        version=observation.version,
        same_rules=same_rules,
        result=result,
        differences=changes,
        interventions=acts,
    )


def _evidence(past: PastTick, forms: Mapping[str, Any] | None, why_lost: str) -> Evidence:
    if past.decided is None:
        raise LostEvidence("the journal does not say what was decided")
    if past.memory is None:
        raise LostEvidence(
            "its state is unknown: another machine's lines are among those that it knew"
        )
    if forms is None:
        raise LostEvidence(why_lost)
    return decode_evidence(forms, past.observed.evidence)


def _differences(
    then: Decided, intents: Sequence[Intended], outcome: Tick, evidence: Evidence, memory: Memory
) -> tuple[str, ...]:
    """None where both are the same bytes."""
    actions = restrict_actions(outcome.actions, _block_of(evidence))
    now = build_decision(outcome, evidence, memory, actions)
    before = _readable(plain(then), {each.key: _normalise_post(each) for each in intents})
    after = _readable(scrub_tree(plain(now)), _replayed_messages(actions, memory))
    if canonical(before) == canonical(after):
        return ()
    return differences(before, after) or ("its form differs",)


def _block_of(evidence: Evidence) -> ActionBlock:
    block = evidence.get(ActionBlock)
    return block if isinstance(block, ActionBlock) else ActionBlock()


def _readable(decision: Any, intent_data: Mapping[str, Any]) -> dict[str, Any]:
    """A decision by the names that people know; no part is left out."""
    alerts = {AlertKey(a["check"], a["subject"]).name: a for a in decision["alerts"]}
    return {**decision, "alerts": alerts, "intended": intent_data}


def _normalise_post(intent: Intended) -> list[Any]:
    """A post's own words stand in its entry: what is posted has the contract's around them."""
    lines = intent.lines
    entry = (lines.get("Status", ""), lines.get("Evidence", "")) if lines else (intent.what, "")
    return [intent.attempt, *entry]


def _replayed_messages(actions: Sequence[Action], memory: Memory) -> dict[str, list[Any]]:
    return {
        action.key: [memory.attempt(action.key), *(scrub(message) for message in reason_of(action))]
        for action in to_intend(actions, memory)
    }


def _other_interventions(then: Decided, evidence: Evidence, outcome: Tick) -> tuple[str, ...]:
    """What was done or only held back then, besides what the rules want now."""
    before = {key for key in then.actions if verb_of(key) in INTERVENTIONS} | {
        *_block_of(evidence).withheld
    }
    now = set(interventions(outcome.actions))
    return (
        *(f"{key}: only then" for key in sorted(before - now)),
        *(f"{key}: only now" for key in sorted(now - before)),
    )


def totals(replays: Sequence[Replay]) -> dict[str, int]:
    counts = {
        result.value: sum(each.result is result for each in replays) for result in ReplayResult
    }
    return {"ticks": len(replays), **counts}
