"""Delays of the babysitter and of people: until an end was seen, until the next submission, until
an order.
"""

from collections.abc import Iterable, Sequence

from herorun.core.babysit.action_key import Verb, parse_key, verb_of, write_key
from herorun.core.event import Done, Event, Launched, Ordered, Word
from herorun.core.goodput.instances import JournalFacts, micros
from herorun.core.goodput.states import SECOND
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

ANSWERS = frozenset({Word.ACK, Word.APPROVE, Word.DENY, Word.STOP, Word.RELAUNCH, Word.ROLLBACK})


@dataclass(frozen=True)
class Delay:
    """In seconds. `unknown` counts delays that are not recorded, `open` those that are not over."""

    count: int = 0
    median: float | None = None
    max: float | None = None
    unknown: int = 0
    open: int = 0


@dataclass(frozen=True)
class Delays:
    detection: Delay  # from an instance's end, by the scheduler's clock, until a tick noticed it
    relaunch: Delay  # from that tick until the next instance was submitted
    human: Delay  # from the delivery of a question until the first order about it


def delays(events: Sequence[Event], facts: JournalFacts) -> Delays:
    return Delays(_detection(facts), _relaunch(events, facts), _human(events))


def _detection(facts: JournalFacts) -> Delay:
    seen_ends = [(life, life.seen_ended) for life in facts.lives if life.seen_ended is not None]
    latencies = [
        at - life.ended_at
        for life, at in seen_ends
        if life.end_is_dated and life.ended_at is not None
    ]
    return _delay_of(latencies, unknown=len(seen_ends) - len(latencies))


def _relaunch(events: Iterable[Event], facts: JournalFacts) -> Delay:
    seen_ends = {life.name: life.seen_ended for life in facts.lives if life.seen_ended is not None}
    latencies = [
        micros(event.at) - seen_ends[event.relaunch_of]
        for event in events
        if isinstance(event, Launched) and event.relaunch_of in seen_ends
    ]
    return _delay_of([each for each in latencies if each >= 0])


def _human(events: Iterable[Event]) -> Delay:
    """A question about an instance is answered by the first order that names it, its alert, or its
    instance; or by a person's own launch of the next one. A relaunch that herorun made in the end
    withdraws it, and so does the end of its alert by evidence.
    """
    open_question: dict[str, int] = {}
    latencies, launched_names = [], set[str]()
    for event in events:
        match event:
            case Done() if verb_of(event.key) == Verb.ESCALATE:
                open_question.setdefault(event.key, micros(event.at))
            case Done() if alert := parse_key(event.key).resolved_alert:
                open_question.pop(write_key(Verb.ESCALATE, alert), None)
            case Ordered() if event.word in ANSWERS:
                for key in [key for key in open_question if _answers(event, key)]:
                    latencies.append(micros(event.at) - open_question.pop(key))
            case Launched():
                keys = [key for key in open_question if _is_about(key, launched_names)]
                delay_times = [micros(event.at) - open_question.pop(key) for key in keys]
                latencies += delay_times if not event.relaunch_of else []
                launched_names.add(event.instance)
    return _delay_of(latencies, still=len(open_question))


def _answers(order: Ordered, key: str) -> bool:
    return _is_about(key, order.about)


def _is_about(key: str, names: Iterable[str]) -> bool:
    question = parse_key(key)
    alert = question.alert
    subjects = {key, *question.segments, *((str(alert), alert.subject) if alert else ())} - {""}
    return not subjects.isdisjoint(names)


def _delay_of(latencies: list[int], unknown: int = 0, still: int = 0) -> Delay:
    if not latencies:
        return Delay(unknown=unknown, open=still)
    return Delay(
        len(latencies), median(latencies) / SECOND, max(latencies) / SECOND, unknown, still
    )
