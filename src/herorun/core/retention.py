"""Which checkpoints may be deleted, and why each of the others is kept. Pure.

A candidate for deletion is one that nothing refers to. In doubt a checkpoint is kept, and a
complete one always stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.durations import format_span
from herorun.core.errors import Blocked
from herorun.core.evidence import Candidate
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lineage import is_under

# since an incomplete one last changed: before that somebody may be writing it
AT_REST = timedelta(days=1)
SHORT = 12  # hexadecimal digits of a plan's digest that a person may type in place of all


@dataclass(frozen=True)
class RetentionPolicy:
    """The retention that the contract or the command states."""

    keep: int  # how many of the newest complete checkpoints are kept
    permanent_every: int | None = None  # steps
    milestones: tuple[int, ...] = ()
    final: int | None = None


@dataclass(frozen=True)
class RetentionReference:
    """What other things need: the path of a checkpoint, or of something in it, and who names it."""

    names: Mapping[str, str] = field(default_factory=dict)  # path -> why
    roots: Mapping[str, str] = field(default_factory=dict)  # of other runs -> slug

    def why(self, candidate: Candidate) -> tuple[str, ...]:
        path = candidate.path.rstrip("/")
        reasons = [
            why for name, why in sorted(self.names.items()) if is_under(name.rstrip("/"), [path])
        ]
        others = {slug for root, slug in self.roots.items() if is_under(path, [root])}
        return (*reasons, *(f"it lies in a root of {slug}" for slug in sorted(others)))


@dataclass(frozen=True)
class SizedCheckpoint:
    """A checkpoint with what it is made of. `digest` is of its manifest; empty where it could not
    be listed.
    """

    candidate: Candidate
    bytes: int | None = None
    files: int | None = None
    digest: str = ""
    # why it is not touched, whatever the rules say: a link, a listing that failed, a stranger's
    doubt: str = ""


@dataclass(frozen=True)
class KeptCheckpoint:
    path: str
    step: int
    bytes: int | None
    why: tuple[str, ...]


@dataclass(frozen=True)
class DeletableCheckpoint:
    """A checkpoint that nothing requires and that may be deleted."""

    path: str
    step: int
    bytes: int
    files: int
    manifest: str  # the digest of the manifest
    why: str


@dataclass(frozen=True)
class PrunePlan:
    """What would be deleted, exactly, and what would stay."""

    slug: str
    policy: RetentionPolicy
    victims: tuple[DeletableCheckpoint, ...]
    remaining: tuple[KeptCheckpoint, ...]

    @property
    def digest(self) -> str:
        """The digest of the run, the policy and the victims, without what is kept, which may grow
        meanwhile.
        """
        return digest(
            {"schema": 1, "slug": self.slug, "policy": self.policy, "victims": list(self.victims)}
        )

    @property
    def bytes(self) -> int:
        return sum(victim.bytes for victim in self.victims)

    def is_named(self, typed_name: str) -> bool:
        """Whether what a person typed is this plan's digest, or at least its first 12 digits."""
        prefix, full_digest = (
            typed_name.strip().lower().removeprefix("sha256:"),
            self.digest.removeprefix("sha256:"),
        )
        return len(prefix) >= SHORT and full_digest.startswith(prefix)


def prune_plan(
    slug: str,
    checkpoints: Sequence[SizedCheckpoint],
    policy: RetentionPolicy,
    references: RetentionReference,
    *,
    recovery: str,
    trusted_paths: Iterable[str],
    now: datetime,
) -> PrunePlan:
    """`recovery` is what a relaunch would continue from now; `trusted_paths` are the paths that it
    might choose among.
    """
    paths = set(trusted_paths)
    complete = [
        s.candidate for s in checkpoints if s.candidate.complete and s.candidate.path in paths
    ]
    newest = sorted(complete, key=lambda c: (-c.step, c.temporary, c.path))[: policy.keep]
    latest = {c.path: n for n, c in enumerate(newest, start=1)}
    top = max((c.step for c in complete), default=None)
    victims, remaining = list[DeletableCheckpoint](), list[KeptCheckpoint]()
    for each in sorted(checkpoints, key=lambda s: (s.candidate.step, s.candidate.path)):
        why = (
            *_by_rank(each.candidate, latest, policy, recovery),
            *_by_policy(each.candidate, policy),
            *references.why(each.candidate),
            *_reasons_to_keep(each, top, now),
        )
        if why:
            remaining.append(
                KeptCheckpoint(each.candidate.path, each.candidate.step, each.bytes, why)
            )
        else:
            victims.append(_victim(each, policy))
    plan = PrunePlan(slug, policy, tuple(victims), tuple(remaining))
    must_leave_one(plan, {c.path for c in complete})
    return plan


def must_leave_one(plan: PrunePlan, complete: set[str]) -> None:
    """`Blocked` where nothing complete would stay: with this no rule above can ever be wrong
    enough.
    """
    if plan.victims and not complete & {each.path for each in plan.remaining}:
        raise Blocked(f"No complete checkpoint of {plan.slug} would stay: nothing is deleted.")


def _by_rank(
    candidate: Candidate, latest: Mapping[str, int], policy: RetentionPolicy, recovery: str
) -> list[str]:
    why = []
    if number := latest.get(candidate.path):
        rank = "the newest" if number == 1 else f"number {number}"
        why.append(f"{rank} of the latest {policy.keep}" if policy.keep > 1 else rank)
    if candidate.path == recovery:
        why.append("recovery source: a relaunch continues from it")
    return why


def _by_policy(candidate: Candidate, policy: RetentionPolicy) -> list[str]:
    why = []
    if candidate.step == policy.final:
        why.append("of the final step")
    if candidate.step in policy.milestones:
        why.append("a milestone of the contract")
    every = policy.permanent_every
    if (
        every
        and not candidate.temporary
        and not candidate.incomplete
        and candidate.step % every == 0
    ):
        why.append(f"permanent by the contract: one every {count(every, 'step')}")
    return why


def _reasons_to_keep(each: SizedCheckpoint, top: int | None, now: datetime) -> list[str]:
    candidate = each.candidate
    if each.doubt:
        return [each.doubt]
    if candidate.alike:
        return ["its name only resembles a checkpoint's"]
    if not candidate.examined:
        return [f"it could not be read: {candidate.problem or 'it was not examined'}"]
    if not each.digest or each.bytes is None or each.files is None:
        return ["its files could not be listed"]
    if candidate.complete:
        return []
    if top is None or candidate.step >= top:
        return ["incomplete, and not older than a complete one: it may be a save under way"]
    if candidate.modified is None or now - candidate.modified < AT_REST:
        return [
            ("incomplete, and perhaps changed within the last day: it may be a save in progress")
        ]
    return []


def _victim(each: SizedCheckpoint, policy: RetentionPolicy) -> DeletableCheckpoint:
    candidate = each.candidate
    assert each.bytes is not None and each.files is not None
    newest = f"the {policy.keep} newest" if policy.keep > 1 else "the newest"
    why = (
        f"incomplete: {candidate.problem}"
        if candidate.incomplete
        else f"complete{', temporary' if candidate.temporary else ''}: not {newest}, not permanent "
        "by the contract, named by no contract or record"
    )
    return DeletableCheckpoint(
        candidate.path, candidate.step, each.bytes, each.files, each.digest, why
    )


def due_steps(
    every: int | None, milestones: Iterable[int], began: int, oldest: int, newest: int
) -> list[int]:
    """The steps whose checkpoints are permanent by the contract: regular ones from the oldest that
    is there up to the newest, and milestones above where the run began.

    >>> due_steps(100, (150, 900), began=100, oldest=200, newest=400)
    [150, 200, 300, 400]
    """
    grid = range(-(-max(oldest, began + 1) // every) * every, newest + 1, every) if every else ()
    return sorted({*grid, *(step for step in milestones if began < step <= newest)})


def plan_from(document: Mapping[str, Any]) -> PrunePlan:
    """A plan as it was written; a ValueError, KeyError or TypeError where it is none."""
    policy = document["policy"]
    return PrunePlan(
        str(document["slug"]),
        RetentionPolicy(
            policy["keep"], policy["permanent_every"], tuple(policy["milestones"]), policy["final"]
        ),
        tuple(DeletableCheckpoint(**each) for each in document["victims"]),
        tuple(
            KeptCheckpoint(each["path"], each["step"], each["bytes"], tuple(each["why"]))
            for each in document.get("remaining", document.get("kept"))  # its earlier name
        ),
    )


def format_size(count: int | None) -> str:
    """Bytes for people.

    >>> format_size(1_234_567_890), format_size(512), format_size(None)
    ('1.2 GB', '512 B', 'size unknown')
    """
    if count is None:
        return "size unknown"
    for limit, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count} B"


def format_age(span: timedelta | None) -> str:
    """An age for people.

    >>> format_age(timedelta(days=3, hours=5)), format_age(timedelta(minutes=90)), format_age(None)
    ('3d5h old', '1h30m old', 'age unknown')
    """
    return "age unknown" if span is None else f"{format_span(span)} old"
