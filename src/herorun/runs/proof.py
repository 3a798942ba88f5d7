"""Which launches of a record count: a line of the branch is believed only if the code proves it.

Anyone who may push the record's branch can write any launch there. One counts where this clone made
it itself, or where its commit is in a published ref of `[code] refs` and its plan can be made again
from that commit. Which refs these are, the contract of the checkout says, never the record.
"""

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.contract import Contract
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, describe_error
from herorun.core.event import Launching
from herorun.core.journal import Memory, scrubbed
from herorun.core.journal.launchings import plan_value
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.record.launch_id import launch_id
from herorun.core.redaction.scrub import scrub
from herorun.core.trust import config_item
from herorun.core.unstated import unstated
from herorun.core.untrusted_json import read_json
from herorun.record import Record
from herorun.runs.launch_history import contract_at
from herorun.runs.replan import MovedPlan, plan_again
from herorun.system.files import locked, write_atomic
from herorun.system.git import Repository
from herorun.system.git.tips import (
    RECORDS,
    Probe,
    answered,
    commits_among,
    containing,
    is_ref_named,
    recent_tips,
)
from herorun.system.trusted import ITEMS, LAUNCHES, REJECTED, trusted, trusts_all

_COMMIT = lazy_regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
PROVEN = "proven"  # all of it was proven, or this clone made it
PUBLISHED = "published"  # its commit was, and what the record alone tells of it was not
MOST_TRIED = 20  # launches without a proof, the newest first: a forger may have written any number
MISNAMED = "its name is not the run's and its number"


def _is_misnamed(slug: str, launching: Launching) -> bool:
    return launching.number < 1 or launching.instance != f"{slug}-{launching.number}"


def commit_of(launching: Launching) -> str:
    return str(plan_value(launching.plan, "commit"))


class NotProven(HerorunError):
    """Nothing proves it, and everything was looked at."""


@dataclass(frozen=True)
class RecordProof:
    """What was found of a record's launches. `unseen` says why nobody here can tell; then nothing
    is acted on.
    """

    rejected_launches: frozenset[str] = frozenset()  # instances
    doubts: tuple[
        str, ...
    ] = ()  # one sentence for each that is no launch of ours, and was not rejected by a person
    unseen: str = ""
    unproven: tuple[Launching, ...] = field(default=())
    # it counts, and only the record has so much of it
    unstated: tuple[tuple[Launching, str], ...] = ()


def note_own(repository: Repository, slug: str, launching: Launching) -> None:
    """This clone makes this launch: it needs no other proof here."""
    _store_ids(repository, slug, [launch_id(scrubbed_launching(launching))])


def scrubbed_launching(launching: Launching) -> Launching:
    """As it is read back from the journal."""
    event = scrubbed(launching)
    assert isinstance(event, Launching)
    return event


def _file(repository: Repository, slug: str, kind: str) -> Path:
    return repository.common / "herorun" / f"{slug}.{kind}.json"


def _read_proofs(repository: Repository, slug: str, kind: str) -> frozenset[str]:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return frozenset(
            str(each) for each in read_json(_file(repository, slug, kind).read_bytes())
        )
    return frozenset()


def _store_ids(repository: Repository, slug: str, ids: Iterable[str], kind: str = PROVEN) -> None:
    path = _file(repository, slug, kind)
    with locked(path.with_suffix(".lock"), what="another herorun that proves this record"):
        proofs = sorted(_read_proofs(repository, slug, kind) | set(ids))
        write_atomic(path, (canonical(proofs) + "\n").encode())


def _proven_launches(repository: Repository, slug: str) -> frozenset[str]:
    """The launches of which nothing is left to prove: this clone made them, a person believes them,
    or all was proven.
    """
    return _read_proofs(repository, slug, PROVEN) | trusted(repository.main, LAUNCHES)


def must_be_whole(record: Record, rules: Contract, launching: Launching) -> None:
    """`Blocked` where a job started by this launch's plan would get what only the record has."""
    if launch_id(launching) in _proven_launches(record.repository, record.slug):
        return
    if message := _Prover(record, rules).counted(launching):
        raise Blocked(f"Nothing was started: {describe_unstated(record.slug, launching, message)}.")


def describe_unstated(slug: str, launching: Launching, message: str) -> str:
    return (
        f"the record alone tells that {launching.instance} ran with {message}, and no published "
        f"contract states it; if you know it to be right: `herorun trust {slug}`"
    )


def prove(record: Record, rules: Contract | None, state: Memory | None = None) -> RecordProof:
    """Of a record, by the `[code]` of `rules`: the newest launch that counts, and those after it
    that do not. `state` is another one of it than this clone's.

    What came before the newest proven one was proven when it was the newest; the order is that of
    the numbers, so one whose number is not its own never counts.
    """
    memory = state or record.memory_as_written()
    if not memory.launchings:
        return RecordProof(doubts=_strays(memory, frozenset()))
    repository, slug = record.repository, record.slug
    own = _proven_launches(repository, slug)
    rejected = trusted(repository.main, REJECTED)
    prover = _Prover(record, rules)
    ordered = sorted(memory.launchings.values(), key=lambda each: each.number, reverse=True)
    wrong_names = [each for each in ordered if _is_misnamed(slug, each)]
    bad = [(each, "" if launch_id(each) in rejected else MISNAMED) for each in wrong_names]
    untold: tuple[tuple[Launching, str], ...] = ()
    for launching in [each for each in ordered if not _is_misnamed(slug, each)][:MOST_TRIED]:
        name = launch_id(launching)
        if name in own:
            break
        if name in rejected:
            bad.append((launching, ""))
            continue
        try:
            message = prover.counted(launching)
            untold = ((launching, message),) if message else ()
            break
        except NotProven as error:
            bad.append((launching, scrub(str(error))))
        except (HerorunError, OSError) as error:
            return RecordProof(
                unseen=f"{launching.instance} could not be proven: {scrub(describe_error(error))}",
                unproven=(launching,),
            )
    names = frozenset(launching.instance for launching, _ in bad)
    doubts = tuple(f"{launching.instance} does not count: {why}" for launching, why in bad if why)
    doubts = doubts[:MOST_TRIED]
    unproven = tuple(launching for launching, why in bad if why)
    return RecordProof(
        names, (*doubts, *_strays(memory, names)), unproven=unproven, unstated=untold
    )


def _strays(memory: Memory, rejected_launches: frozenset[str]) -> tuple[str, ...]:
    """Instances that no launch stands behind, or that say something else than their launch."""
    strays = (each for each in memory.strays if each.name not in rejected_launches)
    return tuple(
        f"{each.name} does not count: the record names job {each.job} for it, and no launch says so"
        for each in strays
    )


class _Prover:
    """Asks the remote once, however many launches are to be proven."""

    def __init__(self, record: Record, rules: Contract | None) -> None:
        self.record = record
        self.repository = record.repository
        self.code = rules.code if rules else Contract.model_fields["code"].default
        self._tips: dict[str, str] | None = None
        self._is_new = False  # whether the remote was asked for the tips just now

    def counted(self, launching: Launching) -> str:
        """What only the record has of a launch that counts; a proof is kept, so that none needs
        the network twice.
        """
        slug, name = self.record.slug, launch_id(launching)
        published = name in _read_proofs(self.repository, slug, PUBLISHED)
        if not published:
            self.must_count(launching)
        alone = self.record.remote is None and self.code.remote not in self.repository.remotes()
        message = (
            ""
            if alone
            else unstated(self._contract(launching, commit_of(launching)), launching.plan)
        )
        if not (message and published):
            _store_ids(self.repository, slug, [name], PUBLISHED if message else PROVEN)
        return message

    def must_count(self, launching: Launching) -> None:
        """`NotProven` where it was looked at in full; any other error where it is unknown."""
        if _is_misnamed(self.record.slug, launching):
            raise NotProven(MISNAMED)
        commit = commit_of(launching)
        if not _COMMIT.fullmatch(commit):
            raise NotProven("the record names no commit for it")
        if self.code.remote not in self.repository.remotes():
            if self.record.remote is None:
                return  # nobody but this clone writes this record
            raise NotProven(
                f"there is no remote {self.code.remote} that could have its commit {commit[:9]}"
            )
        self._must_be_published(commit)
        self._must_rebuild(launching, commit)

    def _must_be_published(self, commit: str) -> None:
        remote, tips = self.code.remote, self._named_tips()
        if self._is_in(commit, tips):
            return
        if not self._is_new:
            self._tips, self._is_new = self._named(answered(self.repository, remote)), True
            if self._tips != tips and self._is_in(commit, self._tips):
                return
        if (self.repository.common / "shallow").exists():
            raise CouldNotLook(
                "this clone is shallow: `git fetch --unshallow` brings what is missing"
            )
        raise NotProven(
            f"its commit {commit[:9]} is in no published ref of {remote} that [code] refs names"
        )

    def _is_in(self, commit: str, tips: dict[str, str]) -> bool:
        """Whether one of the tips contains it; those that are not known here are fetched."""
        local_commits = commits_among(self.repository, tips)
        if self._contains(commit, local_commits):
            return True
        unknown = sorted(tips.keys() - local_commits.keys())
        if not unknown:
            return False
        with Probe(self.repository, self.code.remote, self.record.slug) as probe:
            return self._contains(commit, probe.fetch(unknown))

    def _contains(self, commit: str, tips: dict[str, str]) -> bool:
        repository = self.repository
        return bool(tips and repository.has(commit) and containing(repository, commit, tips))

    def _named_tips(self) -> dict[str, str]:
        if self._tips is None:
            tips, self._is_new = recent_tips(self.repository, self.code.remote)
            self._tips = self._named(tips)
        return self._tips

    def _named(self, tips: Mapping[str, str]) -> dict[str, str]:
        """The refs that [code] refs names; the record's own branch proves nothing of itself."""
        own = f"refs/heads/{self.record.branch}"
        return {
            name: oid
            for name, oid in tips.items()
            if not name.startswith(RECORDS) and name != own and is_ref_named(name, self.code.refs)
        }

    def _must_rebuild(self, launching: Launching, commit: str) -> None:
        contract = self._contract(launching, commit)
        items = set(config_item(contract))
        patch = plan_value(launching.plan, "patch")
        if patch and not any(waiver.check == "dirty-tree" for waiver in contract.waiver):
            raise NotProven("it ran edits that no waiver of its commit approves")
        if items and patch:
            raise CouldNotLook(
                "its [config] command would have to be run on edits that were never published: "
                f"`herorun trust {self.record.slug}` believes it"
            )
        if not trusts_all() and items - trusted(self.repository.main, ITEMS):
            raise CouldNotLook(
                "its [config] command would have to be run, which you have not trusted: `herorun "
                f"trust {self.record.slug}`"
            )
        try:
            plan_again(self.repository, self.record.slug, launching, self.code.remote)
        except MovedPlan:
            raise NotProven(f"its plan cannot be made again from commit {commit[:9]}") from None
        except (KeyError, TypeError, ValueError):
            raise NotProven("the record tells its plan in a form that no herorun writes") from None

    def _contract(self, launching: Launching, commit: str) -> Contract:
        try:
            contract = contract_at(self.repository, commit, launching.contract_file)
        except CouldNotLook:
            raise
        except (HerorunError, ValueError) as error:
            raise NotProven(
                f"its commit holds no such contract: {str(error).rstrip('.')}"
            ) from None
        if contract.slug != self.record.slug:
            raise NotProven(
                f"{launching.contract_file} in its commit is the contract of {contract.slug}"
            )
        return contract
