"""The contract of a fork: the parent's, under a name, an identity and roots of its own, from one of
its checkpoints.
"""

from collections.abc import Mapping
from posixpath import join, normpath
from typing import Any

from herorun.core.contract import Contract
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass

OWN = ("waiver", "logbook")  # what was signed for, or belongs to, the parent alone


@dataclass(frozen=True)
class ForkRequest:
    """What a person stated about the new run. Roots of None are derived from the parent's, if they
    contain its slug.
    """

    slug: str
    start: str  # path of the parent's checkpoint
    reason: str
    root: str | None = None
    temporary_root: str | None = None
    tracker_id: str | None = None


def fork_contract(parent: Contract, request: ForkRequest) -> dict[str, Any]:
    """The new contract's tables. `WrongUse` where a root cannot be derived."""
    data = parent.data_for_toml()
    for table in OWN:
        data.pop(table, None)
    data["slug"] = request.slug
    data["output"] = {
        **data.get("output", {}),
        "root": _root(parent.output.root, request.root, parent, request),
    }
    if parent.output.temporary_root:
        data["output"]["temporary_root"] = _root(
            parent.output.temporary_root,
            request.temporary_root,
            parent,
            request,
            "--temporary-root",
        )
    data["tracker"] = {**data.get("tracker", {}), **_fork_tracker_identity(parent, request)}
    for rewinding in ("fork_from", "resume_from"):
        data["tracker"].pop(rewinding, None)
    data["issue"] = {key: value for key, value in data.get("issue", {}).items() if key != "number"}
    data["start"] = {
        "from": request.start,
        "kind": "full-state",
        "source_run": parent.slug,
        "rejected": list(parent.start.rejected),
        "reason": request.reason,
    }
    return {name: value for name, value in data.items() if value != {}}


def _fork_tracker_identity(parent: Contract, request: ForkRequest) -> dict[str, str]:
    identity = request.tracker_id or request.slug
    # there is none to resume yet
    resume = "allow" if parent.tracker.resume == "must" else parent.tracker.resume
    return {"id": identity, "name": identity, "resume": resume}


def _root(
    old: str, new_root: str | None, parent: Contract, request: ForkRequest, option: str = "--root"
) -> str:
    """The parent's root with the new slug in the place of the old one, as whole words of its
    path.
    """
    if new_root:
        return new_root
    parts = [_rename_part(part, parent.slug, request.slug) for part in old.split("/")]
    new = "/".join(parts)
    if new == old:
        raise WrongUse(
            f"{old} does not contain the name {parent.slug}, so no path for the fork can be "
            f"derived from it: give one with {option}."
        )
    return new


def _rename_part(part: str, old: str, new: str) -> str:
    if part == old:
        return new
    return f"{new}{part.removeprefix(old)}" if part.startswith((f"{old}-", f"{old}_")) else part


def shared_paths(parent: Contract, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The options of the tracker that name one place for both, seen from either output root: an
    absolute path, or one that leaves the root. Both may write to one file.
    """
    options = data.get("tracker", {})
    return tuple(
        f"{name} = {value!r}"
        for name, value in options.items()
        if isinstance(value, str)
        and "/" in value
        and _join_root(parent.output.root, value) == _join_root(data["output"]["root"], value)
    )


def _join_root(root: str, path: str) -> str:
    return normpath(join(root, path))


def leftovers(parent: Contract, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the command still names the parent's root or tracker id: a person must look at each."""
    names = {
        parent.output.root.rstrip("/"),
        parent.output.temporary_root,
        parent.tracker.id,
        parent.slug,
    } - {None}
    command = data.get("command", {})
    argv = [
        *command.get("argv", ()),
        *command.get("resume_argv", ()),
        *command.get("env", {}).values(),
    ]
    return tuple(
        dict.fromkeys(word for word in argv if any(str(name) in str(word) for name in names))
    )


def same_identity(one: Contract, other: Contract) -> str:
    """What two runs would share that no two runs may; empty where they share nothing."""
    ours, theirs = one.tracker, other.tracker
    if (ours.kind, ours.entity, ours.project, ours.id or one.slug) == (
        theirs.kind,
        theirs.entity,
        theirs.project,
        theirs.id or other.slug,
    ):
        return f"the tracker id {ours.id or one.slug}"
    shared_roots = _contract_roots(one) & _contract_roots(other)
    return f"the output root {min(shared_roots)}" if shared_roots else ""


def _contract_roots(contract: Contract) -> set[str]:
    roots = (contract.output.root, contract.output.temporary_root)
    return {root.rstrip("/") for root in roots if root}
