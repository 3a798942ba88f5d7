"""Whether every commit that an anchor outside the branch names lies on the record's line."""

import contextlib
import re
from collections.abc import Mapping

from herorun.core.seal.parse import statement_of
from herorun.core.seal.statement import facts_of
from herorun.operations.record.anchors import ExternalAnchors
from herorun.record import Record
from herorun.system.git import Repository

_COMMIT = r"[0-9a-f]{40,64}"
_OWN = "the commit that was pushed last"


def check_anchors(
    record: Record, lines: list[str], outside: ExternalAnchors | None, is_complete: bool
) -> tuple[list[str], list[str], bool]:
    """Faults, what could not be seen, and whether anything but our own last push names record
    commits.

    `is_complete`: this clone has the remote's commits from the first one on, so the remote does not
    hold what they lack.
    """
    repository = record.repository
    anchors = {**_seal_anchors(repository, record.slug), **(outside.names if outside else {})}
    inside = set(repository.git("rev-list", *lines).text.split()) if anchors else set()
    off = {commit: what for commit, what in anchors.items() if commit not in inside}
    missing = {
        commit: what
        for commit, what in off.items()
        if not is_complete and not repository.has(commit)
    }
    faults = _in_one_line({c: w for c, w in off.items() if c not in missing})
    unfound = [
        f"the record that {what} names ({c[:9]}) is not in this clone"
        for c, what in missing.items()
    ]
    own = record.pushed_tip if record.pushed_tip != record.tip else None
    if own and not repository.has(own):
        unfound.append(f"{_OWN} ({own[:9]}) is not in this clone")
    elif own and not repository.is_ancestor(own, str(record.tip)):
        faults.append(
            f"anchor: {_OWN} ({own[:9]}) is not part of this record: it was rewritten or forked"
        )
    return faults, unfound, bool(anchors)


def _in_one_line(off: Mapping[str, str]) -> list[str]:
    """One fault for each kind of thing that names lost commits: a rewritten record may lack those
    of a hundred.
    """
    by: dict[str, list[str]] = {}
    for commit, what in off.items():
        by.setdefault(" ".join(what.split(" ")[:2]), []).append(commit)
    return [
        (
            f"anchor: the record that {off[commits[0]]} names ({commits[0][:9]}) is not part of "
            "this record: it was rewritten or forked"
        )
        + (f"; {len(commits) - 1} more of the kind" if commits[1:] else "")
        for commits in by.values()
    ]


def _seal_anchors(repository: Repository, slug: str) -> dict[str, str]:
    anchors = {}
    tags = repository.git(
        "for-each-ref", "--format=%(refname)", f"refs/tags/herorun/{slug}/"
    ).text.split()
    for tag in tags:
        message = repository.git("cat-file", "tag", tag, ok=(0, 128)).text
        if commit := _record_named(message):
            anchors[commit] = tag.removeprefix("refs/tags/")
    return anchors


def _record_named(message: str) -> str:
    """The record commit that a tag's message names, also in a form of seal that we cannot read;
    empty without one.
    """
    with contextlib.suppress(ValueError, KeyError):
        commit = facts_of(statement_of(message) or {})["record"]
        if isinstance(commit, str) and re.fullmatch(_COMMIT, commit):
            return commit
    match = re.search(rf'"record":\s*"({_COMMIT})"', message)
    return match[1] if match else ""
