"""The plan, and the commit's content that it is made of."""

from herorun.core.contract import Contract, ContractFile
from herorun.core.errors import WrongUse
from herorun.core.evidence import (
    BundleContent,
    Checkpoints,
    Environment,
    History,
    Nothing,
    Snapshot,
    StartSiblings,
    Unavailable,
    WorkTree,
)
from herorun.core.plan import Plan
from herorun.core.plan.build import Sources, make_plan
from herorun.system.git import Repository
from herorun.system.git.commit_content import code_tree, resolved_config


def read_sources(
    repository: Repository,
    contract: Contract,
    file: ContractFile,
    tree: WorkTree,
    snapshot: Snapshot | Nothing,
) -> Sources:
    """The code tree's digest and the resolved config of the code that would run: HEAD's commit, or
    the approved snapshot.
    """
    commit = tree.commit if isinstance(snapshot, Nothing) else snapshot.commit
    if not commit:
        raise WrongUse(
            "The uncommitted edits are too large for a snapshot, so there is no code to launch: "
            "commit and push them."
        )
    config, source = resolved_config(repository, contract, commit)
    return Sources(code_tree(repository, commit, file.path), config, source, file.path)


def read_plan(
    contract: Contract,
    tree: WorkTree,
    sources: Sources,
    checkpoints: Checkpoints,
    siblings: StartSiblings,
    history: History,
    snapshot: Snapshot | Nothing,
    environment: Environment,
    bundle: BundleContent | Nothing | Unavailable,
) -> Plan:
    return make_plan(
        contract=contract,
        tree=tree,
        sources=sources,
        checkpoints=checkpoints,
        siblings=siblings,
        history=history,
        snapshot=snapshot,
        environment=environment,
        bundle=bundle,
    )
