"""Proves one launch of a record: its commit is published, and gives its plan again."""

from collections.abc import Mapping

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.event import Launching
from herorun.core.journal.launch_intents import launch_id, plan_value
from herorun.core.lazy_regex import lazy_regex
from herorun.core.trust import config_item
from herorun.core.unstated_plan import describe_unstated_parts
from herorun.record import Record
from herorun.runs.launch_history import contract_at
from herorun.runs.launch_trust import (
    PROVEN_LAUNCHES,
    PUBLISHED_LAUNCHES,
    WRONG_NAME,
    NotProven,
    is_misnamed,
    read_proofs,
    store_proofs,
)
from herorun.runs.recorded_plan import MovedPlan, plan_again
from herorun.system.git.remote_refs import (
    RECORDS,
    Probe,
    commits_among,
    containing,
    is_ref_named,
    query_tips,
    recent_tips,
)
from herorun.system.user_trust import ITEMS, read_trusted_items, trusts_all

_COMMIT = lazy_regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_of(launching: Launching) -> str:
    return str(plan_value(launching.plan, "commit"))


class LaunchVerifier:
    """Asks the remote once, however many launches are to be proven."""

    def __init__(self, record: Record, rules: Contract | None) -> None:
        self.record = record
        self.repository = record.repository
        self.code = rules.code if rules else Contract.model_fields["code"].default
        self._tips: dict[str, str] | None = None
        self._is_new = False  # whether the remote was asked for the tips just now

    def record_only_facts(self, launching: Launching) -> str:
        """What only the record has of a launch that counts; a proof is kept, so that none needs
        the network twice.
        """
        slug, name = self.record.slug, launch_id(launching)
        is_published = name in read_proofs(self.repository, slug, PUBLISHED_LAUNCHES)
        if not is_published:
            self.must_count(launching)
        alone = self.record.remote is None and self.code.remote not in self.repository.remotes()
        message = (
            ""
            if alone
            else describe_unstated_parts(
                self._contract(launching, commit_of(launching)), launching.plan
            )
        )
        if not (message and is_published):
            store_proofs(
                self.repository, slug, [name], PUBLISHED_LAUNCHES if message else PROVEN_LAUNCHES
            )
        return message

    def must_count(self, launching: Launching) -> None:
        """`NotProven` where it was looked at in full; any other error where it is unknown."""
        if is_misnamed(self.record.slug, launching):
            raise NotProven(WRONG_NAME)
        commit = commit_of(launching)
        if not _COMMIT.fullmatch(commit):
            raise NotProven("the record names no commit for it")
        if self.code.remote not in self.repository.remotes():
            if self.record.remote is None:
                return  # only this clone writes this record
            raise NotProven(
                f"this clone has no remote {self.code.remote}, where its commit {commit[:9]} "
                "should be"
            )
        self._must_be_published(commit)
        self._must_rebuild(launching, commit)

    def _must_be_published(self, commit: str) -> None:
        remote, tips = self.code.remote, self._named_tips()
        if self._is_in(commit, tips):
            return
        if not self._is_new:
            self._tips, self._is_new = (
                self._refs_of_contract(query_tips(self.repository, remote)),
                True,
            )
            if self._tips != tips and self._is_in(commit, self._tips):
                return
        if (self.repository.common / "shallow").exists():
            raise CouldNotLook(
                "this clone is shallow: `git fetch --unshallow` brings what is missing"
            )
        raise NotProven(f"its commit {commit[:9]} is on {remote} in no ref that [code] refs names")

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
            self._tips = self._refs_of_contract(tips)
        return self._tips

    def _refs_of_contract(self, tips: Mapping[str, str]) -> dict[str, str]:
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
                f"`herorun trust {self.record.slug}` accepts it"
            )
        if not trusts_all() and items - read_trusted_items(self.repository.main, ITEMS):
            raise CouldNotLook(
                "its [config] command would have to be run, which you have not trusted: `herorun "
                f"trust {self.record.slug}`"
            )
        try:
            plan_again(self.repository, self.record.slug, launching, self.code.remote)
        except MovedPlan:
            raise NotProven(f"its plan cannot be rebuilt from commit {commit[:9]}") from None
        except (KeyError, TypeError, ValueError):
            raise NotProven("the record has its plan in an unknown format") from None

    def _contract(self, launching: Launching, commit: str) -> Contract:
        try:
            contract = contract_at(self.repository, commit, launching.contract_file)
        except CouldNotLook:
            raise
        except (HerorunError, ValueError) as error:
            raise NotProven(
                f"its contract cannot be read from its commit: {str(error).rstrip('.')}"
            ) from None
        if contract.slug != self.record.slug:
            raise NotProven(
                f"{launching.contract_file} in its commit is the contract of {contract.slug}"
            )
        return contract
