"""Git replaces some of its objects, so it shows different content than the commit contains.

Why: with `git replace` or grafts, reviewers here read a different history and different files than
other clones; herorun ships what the commit really contains.
Fix: `git replace -d OBJECT` for each, and remove `.git/info/grafts`; if you want the replacement,
commit it.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WorkTree
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def replaced_objects(tree: WorkTree) -> Verdict:
    if not tree.replaced:
        return passed("no git object is replaced (`git replace`)")
    count = f"{len(tree.replaced)} object{'s are' if len(tree.replaced) > 1 else ' is'} replaced"
    short = [f"{name:.12}" for name in tree.replaced]
    return failed(
        f"{count} in this repository: {few(short)}", *tree.replaced, subject="refs/replace"
    )
