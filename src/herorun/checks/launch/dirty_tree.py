"""The source tree has uncommitted changes that can change the training.

Why: a run whose code cannot be checked out again cannot be resumed, rolled back or audited.
Fix: commit and push the changes, or remove them. A file that cannot change the training, and that
the command neither runs nor imports, can be set to "ignore" in the contract's `[code] impact`. Or
let the DRI accept the changes: `herorun waive dirty-tree RUN` prints a waiver to commit; a job that
is launched with it runs a snapshot of the changes, which herorun pushes.
"""

from collections.abc import Iterator
from dataclasses import replace

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import by_impact, limit_lines
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import ImportClosure, WorkTree
from herorun.core.finding import Verdict, count, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def dirty_tree(tree: WorkTree, contract: Contract, closure: ImportClosure) -> Verdict:
    """Only changes that can affect the training fail; others are listed if people should know them.
    Submodules have their own check.
    """
    changes = list(_list_changes(tree))
    if not changes:
        return passed(f"clean at {tree.commit:.9}")
    kinds = by_impact((path for path, _ in changes), contract.code.impact, closure.files)
    blocking = [f"{path} ({word})" for path, word in changes if kinds[path] is Impact.BLOCK]
    notices = [
        f"{path} ({word}), cannot change it"
        for path, word in changes
        if kinds[path] is Impact.NOTICE
    ]
    silent = len(changes) - len(blocking) - len(notices)
    ignored_text = [f"{silent} more that cannot change the training"] if silent else []
    if not blocking:
        message = f"nothing that can change the training differs from {tree.commit:.9}"
        return passed(message, *limit_lines(notices), *ignored_text)
    number = count(len(blocking), "uncommitted change")
    details = (*limit_lines(blocking), *limit_lines(notices), *ignored_text, *closure.unresolved)
    answer = failed(f"{number} on {tree.commit:.9}: {few(blocking)}", *details)
    return replace(answer, explains=tuple(f"file {path}" for path, _ in changes))


def _list_changes(tree: WorkTree) -> Iterator[tuple[str, str]]:
    """Every path that differs, with how it differs."""
    inside = {submodule.path for submodule in tree.submodules}
    yield from ((path, "staged") for path in tree.staged)
    for path in tree.unstaged:
        if path not in inside:
            yield path, _how(tree, path)
    yield from ((path, "untracked") for path in tree.untracked)
    yield from ((path, "hidden from git status") for path in tree.hidden)
    yield from ((path, "importable, in no commit") for path in tree.importable)


def _how(tree: WorkTree, path: str) -> str:
    if path in tree.eol_only:
        return "modified, line endings only"
    return "modified, mode only" if path in tree.mode_only else "modified"
