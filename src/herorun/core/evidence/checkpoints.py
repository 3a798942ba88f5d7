"""Checkpoints, and the roots that they lie in."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, field
from datetime import datetime

from herorun.core.clock_skew import SKEW
from herorun.core.evidence.base import Nothing, Unavailable
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Candidate:
    """One checkpoint. `problem` is empty for a complete one; one that was not examined is
    neither complete nor incomplete.

    One that could not be opened has the reason as its problem, and is not examined.
    """

    path: str
    step: int  # from the name
    root: str
    _: KW_ONLY
    temporary: bool = False
    timestamp: str = ""  # as the trainer wrote it, often naive local time: never compared with now
    problem: str = ""
    # when its store last saw it change, if it reports it; of the marker if it can
    modified: datetime | None = None
    examined: bool = True  # older ones are only listed, once a complete one is found
    # its name is only like a checkpoint's: a backup, which is no save under way
    alike: bool = False

    @property
    def complete(self) -> bool:
        return self.examined and not self.problem

    @property
    def incomplete(self) -> bool:
        return self.examined and bool(self.problem)

    @property
    def is_unread(self) -> bool:
        """It could not be examined: it may be complete."""
        return not self.examined and bool(self.problem)

    @property
    def state(self) -> str:
        if self.examined:
            return "incomplete" if self.problem else "complete"
        return "unread" if self.problem else "unexamined"


def in_order(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda c: (c.step, c.timestamp, c.path)))


@dataclass(frozen=True, kw_only=True)
class Taint:
    """What an instance wrote after its numbers went wrong: no run should continue from it."""

    check: str
    since: (
        # of the instance's launch; without a bad step, of the last decision that found it healthy
        datetime
    )
    step: int = 0  # the last step whose checkpoint is trusted
    until: datetime | None = None  # the next launch; None: there was none yet
    instance: str = ""
    subject: str = ""  # of the alert
    bad_step: int | None = None  # the first one in the data; None: the data names none

    @property
    def alert(self) -> str:
        from herorun.core.babysit.alert import AlertKey

        return AlertKey(self.check, self.subject).name

    @property
    def message(self) -> str:
        if self.bad_step is not None:
            return (
                f"tainted by {self.alert}, bad from step {self.bad_step}; trusted up to step "
                f"{self.step}"
            )
        return (
            f"tainted by {self.alert}; the run was last healthy at "
            f"{self.since:%Y-%m-%d %H:%M} UTC, step "
            f"{self.step}"
        )

    def covers(self, candidate: Candidate) -> bool:
        """By the step, among what the instance wrote; by the store's time alone where the data
        names no step.
        """
        modified_at = candidate.modified
        if modified_at is None or self.bad_step is not None:
            is_later = candidate.step > self.step
            return is_later and (
                modified_at is None or self._is_written_since(modified_at, self.since - SKEW)
            )
        return self._is_written_since(modified_at, self.since)

    def _is_written_since(self, modified_at: datetime, since: datetime) -> bool:
        return since < modified_at and (self.until is None or modified_at < self.until)


@dataclass(frozen=True)
class GivenUp:
    """What a rollback ruled out: all that was saved above its step before the instance that went
    back was started.
    """

    step: int  # that the run went back to
    at: datetime
    undated: tuple[
        tuple[str, str], ...
    ] = ()  # if the store reports no time: paths, and the trainer's own times
    reason: str = ""

    def covers(self, candidate: Candidate) -> bool:
        """What is written again later, in the same place, is of the lineage that continues.

        If the store has no time, the trainer's counts; where that is missing too, it is unknown,
        and it is ruled out.
        """
        if candidate.step <= self.step:
            return False
        if candidate.modified is not None:
            return candidate.modified < self.at
        then = [time for path, time in self.undated if path == candidate.path]
        return any(time in ("", candidate.timestamp) or not candidate.timestamp for time in then)


@dataclass(frozen=True)
class Checkpoints:
    """What lies under the run's own roots, ordered by step."""

    candidates: tuple[Candidate, ...] = ()
    given_up: tuple[
        Candidate, ...
    ] = ()  # that a rollback ruled out: they exist, and no run may continue from them

    @property
    def newest(self) -> Candidate | None:
        """The newest complete one, by numeric step."""
        complete = [candidate for candidate in self.candidates if candidate.complete]
        return max(complete, key=lambda c: (c.step, c.timestamp, c.path), default=None)

    @property
    def usable_count(self) -> int:
        """How many there are to fall back on: complete, or older and only listed."""
        return sum(
            1 for candidate in self.candidates if candidate.complete or not candidate.problem
        )

    def at(self, path: str) -> Candidate | None:
        return next((c for c in self.candidates if c.path == path.rstrip("/")), None)


@dataclass(frozen=True)
class StartSiblings:
    """The checkpoints next to the one that the contract's `[start] from` names."""

    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class LeftCheckpoints:
    """What lies in the roots that earlier instances of the run wrote to and that the contract no
    longer names.
    """

    candidates: tuple[Candidate, ...] = ()


def candidates_of(
    *places: Checkpoints | StartSiblings | LeftCheckpoints | Nothing | Unavailable,
) -> tuple[Candidate, ...]:
    """Every checkpoint of the places that could be read."""
    listings = (
        place
        for place in places
        if isinstance(place, (Checkpoints, StartSiblings, LeftCheckpoints))
    )
    return tuple(dict.fromkeys(candidate for place in listings for candidate in place.candidates))


@dataclass(frozen=True)
class OutputRoots:
    """What lies in the output roots, without `_herorun/`; None for a root that does not exist
    yet.
    """

    entries: Mapping[str, tuple[str, ...] | None]


@dataclass(frozen=True)
class RootAtEnd:
    """Whether the roots of a launched job hold anything. The lease that herorun keeps in the output
    root, and makes again where it is gone, counts for nothing."""

    path: str
    there: bool = True
    temporary: str = ""  # the temporary root; empty: the contract has none
    temporary_there: bool = True


@dataclass(frozen=True)
class OtherRoots:
    """The output roots of the repository's other contracts, by slug, and the real path of each
    root, the run's own too, to which symbolic links of this machine lead.
    """

    roots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    real_paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RootFacts:
    """What the stores say of the roots themselves: region, and rules that delete what lies there.

    Keyed by the root, the start checkpoint's folder among them. A region of None: its store does
    not tell.
    """

    regions: Mapping[str, str | None]
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # in words, for people
    expires: Mapping[str, datetime] = field(default_factory=dict)  # path -> when a rule deletes it
    unknown_regions: Mapping[str, str] = field(default_factory=dict)  # root -> why unknown
    unknown_rules: Mapping[str, str] = field(default_factory=dict)
    untold_rules: Mapping[str, str] = field(default_factory=dict)  # root -> who reports them


@dataclass(frozen=True)
class SourceRun:
    """The recorded run that wrote the start checkpoint, as `[start] source_run` names it."""

    slug: str
    roots: tuple[str, ...]  # of all its instances
    rejected: tuple[str, ...] = ()  # its own rejected lineages
    foreign: frozenset[str] = frozenset()  # as `History.foreign`, of that run
    taints: tuple[Taint, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
