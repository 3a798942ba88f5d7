"""The output roots that the other contracts of HEAD name."""

import os
from collections.abc import Iterable

from herorun.core.contract import Contract, ContractFile
from herorun.core.evidence import OtherRoots, WorkTree
from herorun.core.untrusted_toml import parse_toml
from herorun.system.git import Repository


def read_other_roots(
    repository: Repository, contract: Contract, file: ContractFile, tree: WorkTree
) -> OtherRoots:
    """The roots of every other readable contract `runs/<slug>.toml`. A sealed run's root still
    counts.
    """
    names = [
        path for _, _, path in repository.entries(tree.commit, "runs") if path.endswith(".toml")
    ]
    paths = [f"runs/{name}" for name in names if f"runs/{name}" != file.path and "/" not in name]
    contents = repository.read(tree.commit, paths)
    roots = {path[5:-5]: _roots_in_contract(data) for path, data in contents.items() if data}
    others = {slug: theirs for slug, theirs in roots.items() if theirs and slug != contract.slug}
    own = [contract.output.root, contract.output.temporary_root]
    all_roots = [root for group in (own, *others.values()) for root in group]
    return OtherRoots(others, _real_paths(all_roots))


def _real_paths(roots: Iterable[str | None]) -> dict[str, str]:
    """The real paths of local folders; a bucket has no links."""
    folders = {root.rstrip("/") for root in roots if root and root.startswith("/")}
    real_paths = {folder: os.path.realpath(folder) for folder in folders}
    return {folder: real for folder, real in real_paths.items() if real != folder}


def _roots_in_contract(data: bytes) -> tuple[str, ...]:
    """The roots that a file names; none if it is not a contract."""
    try:
        output = parse_toml(data.decode()).get("output")
    except ValueError:
        return ()
    roots = (
        [output.get(name) for name in ("root", "temporary_root")]
        if isinstance(output, dict)
        else []
    )
    return tuple(root for root in roots if isinstance(root, str) and root.rstrip("/"))
