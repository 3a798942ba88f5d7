"""The uploaded source bundle differs from the commit, or from the bundle of the reviewed plan.

Why: if the job runs from an archive, the commit in the logbook is meaningless unless both agree
file by file.
Fix: make the bundle again with `git archive` of that commit, and name its path in
`[runtime] bundle`. For a bundle that herorun cannot read, state the digest of its files as
"tree:sha256:...": preflight prints this digest as `code_tree`.
"""

from collections.abc import Iterator

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import Bundle
from herorun.core.finding import Verdict, count, failed, few, passed, unknown

MAX_FILES = 50  # files that are named


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def bundle_mismatch(bundle: Bundle) -> Verdict:
    name, commit = bundle.name, bundle.commit
    if " " in bundle.admitted and bundle.identity != bundle.admitted:
        digests = (
            f"{bundle.identity.rpartition(' ')[2]}, but {bundle.admitted.rpartition(' ')[2]} was "
            "admitted"
        )
        return failed(
            f"the content of {name} is now {digests}", *_list_differences(bundle), subject=name
        )
    if bundle.compared is None:
        return _by_digest(bundle)
    details = list(_list_differences(bundle))
    if details:
        return failed(
            f"{name} differs from commit {commit:.9}: {'; '.join(_describe_counts(bundle))}",
            *details[:MAX_FILES],
            subject=name,
        )
    return passed(
        f"{name} holds {count(bundle.compared, 'file')} of {commit:.9}, byte for byte", subject=name
    )


def _by_digest(bundle: Bundle) -> Verdict:
    if not bundle.name.startswith("tree:"):
        message = (
            f"{bundle.name} is not an archive that herorun can read, so its content cannot be "
            "compared with the commit's"
        )
        return unknown(message, subject=bundle.name)
    if bundle.name.removeprefix("tree:") == bundle.tree:
        return passed(f"{bundle.name} is the code tree of {bundle.commit:.9}", subject=bundle.name)
    return failed(
        f"{bundle.name} is not the code tree of {bundle.commit:.9}, {bundle.tree}",
        subject=bundle.name,
    )


def _kinds(bundle: Bundle) -> dict[str, tuple[str, ...]]:
    return {"changed": bundle.changed, "extra": bundle.extra, "missing": bundle.missing}


def _describe_counts(bundle: Bundle) -> Iterator[str]:
    return (
        f"{len(paths)} {kind} ({few(paths)})" for kind, paths in _kinds(bundle).items() if paths
    )


def _list_differences(bundle: Bundle) -> Iterator[str]:
    return (f"{kind}: {path}" for kind, paths in _kinds(bundle).items() for path in paths)
