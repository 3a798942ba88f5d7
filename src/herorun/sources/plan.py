"""The plan, and the commit's own content that it is made of."""

from herorun.core.contract import Contract, ContractFile
from herorun.core.evidence import Checkpoints, History, StartSiblings, WorkTree
from herorun.core.plan import Plan, Sources, make_plan
from herorun.system.git import Repository
from herorun.system.resolved import code_tree, resolved_config


def read_sources(repository: Repository, contract: Contract, file: ContractFile, tree: WorkTree) -> Sources:
    """The code tree's digest and the resolved config, of the commit that HEAD names."""
    config, told = resolved_config(repository, contract, tree.commit)
    return Sources(code_tree(repository, tree.commit, file.path), config, told, file.path)


def read_plan(
    contract: Contract,
    tree: WorkTree,
    sources: Sources,
    checkpoints: Checkpoints,
    siblings: StartSiblings,
    history: History,
) -> Plan:
    return make_plan(contract, tree, sources, checkpoints, siblings, history)
