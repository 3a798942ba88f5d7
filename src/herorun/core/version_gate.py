"""Which herorun version evaluates a run, and whether it may act: a changed one must first decide
alike.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import timedelta

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.canonical_json import digest
from herorun.core.event import Replayed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.policy import RelaunchAnswer

REPLAY_WINDOW = timedelta(hours=24)


@dataclass(frozen=True)
class VersionGate:
    """The journal's facts about versions, comparisons and a person's answers."""

    version: str = ""  # of the herorun that ticked last
    replayed: Replayed | None = None  # the newest comparison
    since: bool = False  # whether another version ticked after it
    answers: Mapping[str, RelaunchAnswer] = field(default_factory=dict)  # by the question's key

    def after_tick(self, version: str) -> "VersionGate":
        other = self.replayed is not None and self.replayed.version != version
        return replace(self, version=version, since=self.since or other)

    def after_replay(self, event: Replayed) -> "VersionGate":
        return replace(self, replayed=event, since=False)

    def with_answer(self, keys: Iterable[str], answer: RelaunchAnswer) -> "VersionGate":
        return replace(self, answers={**self.answers, **dict.fromkeys(keys, answer)})

    @property
    def question(self) -> str:
        """The key of the question to a person, answered or not; empty if there is none."""
        return self.replayed.key if self.replayed and self.replayed.why else ""

    @property
    def answer(self) -> RelaunchAnswer | None:
        return self.answers.get(self.question)

    @property
    def free(self) -> bool:
        """Whether the herorun of the newest comparison may act: nothing differs, or a person has
        agreed.
        """
        return not self.question or (self.answer is not None and self.answer.yes)


def must_replay(judge: VersionGate, version: str, pin: str) -> bool:
    """Once a change: another version than ticked last, or one that the contract's pin does not
    allow.
    """
    from herorun.core.requirements import version_fits

    fits, last_replay = version_fits(pin, version), judge.replayed
    if (
        last_replay
        and last_replay.version == version
        and not judge.since
        and (fits or last_replay.pin == pin)
    ):
        return False
    return not fits or judge.version not in ("", version)


def observe_reason(judge: VersionGate, version: str) -> str:
    """Why this herorun only observes; empty where it may act."""
    last_replay = judge.replayed
    if last_replay is None or last_replay.version != version or judge.free:
        return ""
    answer = judge.answer
    return f"herorun {version} only observes: {answer.summary if answer else last_replay.why}"


def question_key(version: str, before: str, pin: str) -> str:
    """One change, one question."""
    return _key(Verb.ESCALATE, version, before, pin)


def news_key(version: str, before: str, pin: str) -> str:
    return _key(Verb.TELL, version, before, pin)


def _key(verb: Verb, version: str, before: str, pin: str) -> str:
    return write_key(verb, "judge", version, digest([version, before, pin])[7:19])
