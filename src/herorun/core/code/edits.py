"""Which edits of the work tree can change the training, and which ones a snapshot must include by
name.
"""

from herorun.core.code.impact import of_impact
from herorun.core.contract import Contract, ContractFile, Impact
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import ImportClosure, Nothing, Unavailable, WorkTree


def blocking_changes(
    contract: Contract,
    file: ContractFile,
    tree: WorkTree,
    closure: ImportClosure | Nothing | Unavailable,
) -> tuple[str, ...]:
    """What differs from HEAD and can change the training; `CouldNotLook` where that hangs on
    imports nobody read.
    """
    edited_files = (*tree.staged, *tree.unstaged, *tree.untracked, *tree.hidden, *tree.importable)
    # each has a check of its own
    others = {file.path, *(submodule.path for submodule in tree.submodules)}
    paths = tuple(dict.fromkeys(path for path in edited_files if path not in others))
    imported_files = closure.files if isinstance(closure, ImportClosure) else frozenset()
    changes = of_impact(paths, contract.code.impact, imported_files, Impact.BLOCK)
    if paths and not changes and isinstance(closure, Unavailable):
        raise CouldNotLook(f"What the entry point imports could not be read: {closure.why}")
    return changes


def list_ignored_files(tree: WorkTree) -> tuple[str, ...]:
    """What git ignores and the job could still import, except files of submodules."""
    inside = tuple(f"{submodule.path}/" for submodule in tree.submodules)
    return tuple(path for path in tree.importable if not path.startswith(inside))
