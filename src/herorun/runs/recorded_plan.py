"""A launch's plan, made again from the commit and the approved edits that the record names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from herorun.core.decode import decode
from herorun.core.environment import of_plan
from herorun.core.errors import Blocked
from herorun.core.event import Launching
from herorun.core.evidence import (
    Checkpoints,
    Environment,
    History,
    Nothing,
    Snapshot,
    Sourced,
    StartSiblings,
    WorkTree,
)
from herorun.core.plan import Patch, Plan, StartPoint, snapshot_ref
from herorun.core.plan.build import CLEAN, Sources, make_plan
from herorun.runs.launch_history import contract_at
from herorun.system.git import Repository
from herorun.system.git.commit_content import code_tree, resolved_config
from herorun.system.git.plumbing import fetch
from herorun.system.git.worktree_snapshot import describe_snapshot


class MovedPlan(Blocked):
    """What is made from the commit is not the plan in the record."""


def plan_again(repository: Repository, slug: str, launching: Launching, remote: str) -> Plan:
    """`MovedPlan` where its digest is another one. `remote` is where approved edits are kept."""
    commit = str(launching.plan["commit"]["value"])
    contract = contract_at(repository, commit, launching.contract_file)
    snapshot = snapshot_again(repository, slug, remote, commit, launching.plan)
    source = commit if isinstance(snapshot, Nothing) else snapshot.commit
    config, config_source = resolved_config(repository, contract, source)
    sources = Sources(
        code_tree(repository, source, launching.contract_file),
        config,
        config_source,
        launching.contract_file,
    )
    plan = make_plan(
        contract=contract,
        tree=WorkTree(commit=commit),
        sources=sources,
        checkpoints=Checkpoints(),
        siblings=StartSiblings(),
        history=History(),
        snapshot=snapshot,
        environment=Environment(of_plan(launching.plan["env"]["value"])),
    )
    plan = replace(
        plan,
        env=Sourced(plan.env.value, str(launching.plan["env"]["source"])),
        bundle=_admitted_bundle(plan.bundle, launching),
    )
    start = launching.plan["start"]
    point = decode(StartPoint, start["value"]) if start["value"] else None
    plan = replace(plan, start=Sourced(point, str(start["source"])))
    if plan.digest != launching.plan_digest:
        raise MovedPlan(
            f"The plan of {launching.instance} cannot be rebuilt from commit {commit[:9]}: its "
            "digest differs. Run `herorun preflight`, and launch it yourself."
        )
    return plan


def _admitted_bundle(bundle: Sourced[str | None], launching: Launching) -> Sourced[str | None]:
    """The contract names it, and the record says what it held: the launch gate compares that with
    what it holds now.
    """
    recorded_bundle = launching.plan["bundle"]
    name, value = bundle.value, recorded_bundle["value"]
    is_digest = name is not None and isinstance(value, str) and value.startswith(f"{name} sha256:")
    return Sourced(value, str(recorded_bundle["source"])) if is_digest else bundle


def patch_of(snapshot: Snapshot) -> Patch:
    return Patch(snapshot.commit, snapshot.tree, snapshot.diff)


def must_be(patch: Patch, commit: str, where: str) -> None:
    if commit != patch.commit:
        raise Blocked(
            f"{where} is commit {commit[:9]}, not the approved {patch.commit[:9]}, and herorun "
            "never moves it. Commit and push the edits, or ask who made it."
        )


def snapshot_again(
    repository: Repository, slug: str, remote: str, commit: str, plan: Mapping[str, Any]
) -> Snapshot | Nothing:
    """The snapshot that a launch was admitted with, as the record names it, found again and
    proven.
    """
    stated_patch = plan.get("patch", {}).get("value")
    if not stated_patch:
        return CLEAN
    patch = decode(Patch, stated_patch)
    ref = snapshot_ref(slug, patch.tree)
    snapshot_commit = repository.resolve(ref) or _fetch_ref(repository, remote, ref)
    if snapshot_commit is None:
        raise Blocked(
            f"The approved edits of the launch, {ref}, are neither in this clone nor on the "
            "remote: repeat the command in the clone that launched it."
        )
    must_be(patch, snapshot_commit, ref)
    snapshot = describe_snapshot(repository, commit, snapshot_commit)
    if patch_of(snapshot) != patch:
        raise Blocked(
            f"{ref} is not what was approved on commit {commit[:9]}: its tree or its diff differs."
        )
    return snapshot


def _fetch_ref(repository: Repository, remote: str, ref: str) -> str | None:
    if remote not in repository.remotes() or ref not in repository.remote_tips(remote, ref):
        return None
    fetch(repository, remote, {ref: ref})
    return repository.resolve(ref)
