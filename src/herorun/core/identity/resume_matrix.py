"""What the tracker would do with the run's id: intent x state x policy -> one outcome and one
sentence.

Pure, and a table: what W&B's client really does with an id that it knows, or does not know, under
each `resume`.
`allow` begins an empty run where it finds none, without a word; `must` refuses then; `never`
refuses an id that is taken; `auto` goes by a file that one machine has. A deleted id is never given
again.
"""

from collections.abc import Mapping
from enum import StrEnum

from herorun.core.evidence import TrackerState
from herorun.core.lazy_dataclass import dataclass

POLICIES = ("allow", "must", "never", "auto")


class Intent(StrEnum):
    """What this launch means to do with the id."""

    NEW = "new"  # no recorded instance reported under it
    RESUME = "resume"  # one did
    FORK = "fork"  # it begins as a copy of another run's first steps


class AnswerWeight(StrEnum):
    """How much an answer weighs. `warn` continues, and is reported."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ResumeVerdict:
    """What would happen, and what to do. `{id}`, `{state}`, `{policy}` and `{tracker}` stand
    for the case's own.
    """

    weight: AnswerWeight
    sentence: str


def judge_resume(intent: Intent, state: TrackerState, policy: str) -> ResumeVerdict:
    """The table's answer."""
    return _TABLE[intent, state][policy]


def _each(
    allow: ResumeVerdict, must: ResumeVerdict, never: ResumeVerdict, auto: ResumeVerdict
) -> Mapping[str, ResumeVerdict]:
    return dict(zip(POLICIES, (allow, must, never, auto), strict=True))


def _any(judgement: ResumeVerdict) -> Mapping[str, ResumeVerdict]:
    return dict.fromkeys(POLICIES, judgement)


def _pass(sentence: str) -> ResumeVerdict:
    return ResumeVerdict(AnswerWeight.PASS, sentence)


def _warn(sentence: str) -> ResumeVerdict:
    return ResumeVerdict(AnswerWeight.WARN, sentence)


def _fail(sentence: str) -> ResumeVerdict:
    return ResumeVerdict(AnswerWeight.FAIL, sentence)


_UNREACHABLE = _any(
    ResumeVerdict(
        AnswerWeight.UNKNOWN,
        "could not query {tracker} about {id}, so its state is unknown: retry",
    )
)
_DELETED_RUN = _any(
    _fail(
        "{id} was deleted, and {tracker} takes no rows for a deleted run: choose another "
        "[tracker] id"
    )
)
_AUTO = "but resume = auto depends on a file of one machine: use allow"

_BEGINS = _pass("{tracker} has no run {id} yet: the run begins under it")
_NOBODY_TO_RESUME = _fail(
    "resume = must needs an existing run, and {tracker} has no run {id}, so it would "
    'refuse to begin: use resume = "allow"'
)
_FREE = _each(
    _BEGINS,
    _NOBODY_TO_RESUME,
    _BEGINS,
    _warn(f"{{tracker}} has no run {{id}} yet, and the run begins; {_AUTO}"),
)
_TAKEN_REFUSED = _fail(
    "{id} is taken by a {state} run, and with resume = never {tracker} would refuse to begin: "
    "choose another [tracker] id"
)
_SECOND_WRITER = _fail(
    "{id} is running, but no instance of this run reports to it: the rows of two writers would "
    "mix; choose another [tracker] id"
)
_FOREIGN_RUN = _fail(
    "{id} is a {state} run that no instance of this run wrote, and {tracker} would append to it: "
    "choose another [tracker] id"
)
_SOMEBODYS = _each(_FOREIGN_RUN, _FOREIGN_RUN, _TAKEN_REFUSED, _FOREIGN_RUN)

_UNKNOWN_RUN = "an instance of this run reported under {id}, but {tracker} has no such run"
_WHY_LOST = "check [tracker] entity, project and id, and whether the run was deleted"
_EMPTY = _fail(f"{_UNKNOWN_RUN}: {{tracker}} would silently create an empty one; {_WHY_LOST}")
_GOES_ON = _pass("{tracker} shows {id} as {state}, and the run continues it")
_NEVER_RESUMED = _fail(
    "{tracker} shows {id} as {state}, and with resume = never {tracker} would refuse to continue "
    "it: choose a new [tracker] id and output root"
)
_STILL_RUNNING = _fail(
    "{tracker} shows {id} as running, so another job may be logging to it: "
    "make sure that the earlier job has ended, and wait until {tracker} shows the end"
)
_OURS = _each(
    _GOES_ON,
    _GOES_ON,
    _NEVER_RESUMED,
    _warn(f"{{tracker}} shows {{id}} as {{state}}, and would continue it; {_AUTO}"),
)

_FORKED_RUN = _pass(
    "{tracker} begins {id} as a fork: at this launch, the trainer must pass fork_from and no "
    "resume to the client of {tracker}, which refuses both together"
)
_FORK_TAKEN = _any(
    _fail(
        "{id} is taken by a {state} run, and a fork begins a new one: choose another [tracker] id"
    )
)

_TABLE: Mapping[tuple[Intent, TrackerState], Mapping[str, ResumeVerdict]] = {
    (Intent.NEW, TrackerState.ABSENT): _FREE,
    (Intent.NEW, TrackerState.RUNNING): _each(
        _SECOND_WRITER, _SECOND_WRITER, _TAKEN_REFUSED, _SECOND_WRITER
    ),
    (Intent.NEW, TrackerState.FINISHED): _SOMEBODYS,
    (Intent.NEW, TrackerState.CRASHED): _SOMEBODYS,
    (Intent.NEW, TrackerState.FAILED): _SOMEBODYS,
    (Intent.NEW, TrackerState.DELETED): _DELETED_RUN,
    (Intent.NEW, TrackerState.UNREACHABLE): _UNREACHABLE,
    (Intent.RESUME, TrackerState.ABSENT): _each(
        _EMPTY,
        _fail(
            f"{_UNKNOWN_RUN}: with resume = must, {{tracker}} would refuse to begin; {_WHY_LOST}"
        ),
        _EMPTY,
        _EMPTY,
    ),
    (Intent.RESUME, TrackerState.RUNNING): _each(
        _STILL_RUNNING, _STILL_RUNNING, _NEVER_RESUMED, _STILL_RUNNING
    ),
    (Intent.RESUME, TrackerState.FINISHED): _OURS,
    (Intent.RESUME, TrackerState.CRASHED): _OURS,
    (Intent.RESUME, TrackerState.FAILED): _OURS,
    (Intent.RESUME, TrackerState.DELETED): _DELETED_RUN,
    (Intent.RESUME, TrackerState.UNREACHABLE): _UNREACHABLE,
    (Intent.FORK, TrackerState.ABSENT): _each(
        _FORKED_RUN,
        _fail('resume = must needs an existing run, but a fork creates {id}: use "allow"'),
        _FORKED_RUN,
        _warn(f"{{tracker}} begins {{id}} as a fork, {_AUTO}"),
    ),
    (Intent.FORK, TrackerState.RUNNING): _FORK_TAKEN,
    (Intent.FORK, TrackerState.FINISHED): _FORK_TAKEN,
    (Intent.FORK, TrackerState.CRASHED): _FORK_TAKEN,
    (Intent.FORK, TrackerState.FAILED): _FORK_TAKEN,
    (Intent.FORK, TrackerState.DELETED): _DELETED_RUN,
    (Intent.FORK, TrackerState.UNREACHABLE): _UNREACHABLE,
}
