"""The logbook's line about a dirty tree."""

from herorun.core.finding import Finding
from herorun.core.plan import Patch, Plan


def dirty_tree_line(findings: list[Finding], plan: Plan) -> str:
    """The logbook's `Dirty tree` line."""
    dirty = next((f for f in findings if f.check == "dirty-tree" and (f.waiver or f.open)), None)
    patch = plan.patch.value
    if dirty is None and patch is None:
        return "no"
    waiver = dirty.waiver if dirty else None
    who = f"approved by {waiver.approved_by}" if waiver else "not approved"
    why = f" ({waiver.reason})" if waiver else ""
    return f"yes, {who}{_what_runs(patch, plan.in_place.value)}{why}"


def _what_runs(patch: Patch | None, in_place: bool) -> str:
    if in_place:
        return f"{_describe_patch_identity(patch)}; the checkout is run as it is"
    return _describe_patch_identity(patch) or "; the commit is run, without the edits"


def _describe_patch_identity(patch: Patch | None) -> str:
    return f", patch identity {patch}" if patch else ""
