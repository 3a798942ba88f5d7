"""The code that affects the training changed since the last instance, but the tracker id did not.

Why: a curve made by two versions of the code cannot be compared with anything.
Fix: create a new run with its own tracker id from a checkpoint of this one: `herorun fork RUN NEW
--from STEP --reason "..."`; or set files that cannot change the training, and that the command
neither runs nor imports, to "ignore" in `[code] impact`; or let the DRI accept it: `herorun waive
changed-trajectory RUN` prints a waiver to commit.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import config_paths, limit_lines, of_impact, worst
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import (
    Checkpoints,
    CodeChange,
    ImportClosure,
    LeftCheckpoints,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.finding import Verdict, count, failed, few, passed
from herorun.core.lineage import left_no_step


@check(Gate.LAUNCH, Response.BLOCK)
def changed_trajectory(
    change: CodeChange,
    contract: Contract,
    closure: ImportClosure,
    own: Checkpoints | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    left_checkpoints: LeftCheckpoints | Nothing | Unavailable,
) -> Verdict:
    """Judged by impact: none (ignored files), operational (notice), trajectory (block). A run that
    left neither a row nor a checkpoint has no trajectory yet.

    The `[config] files` are left to config-drift, which compares them key by key.
    """
    rules = contract.code.impact
    settings = config_paths(contract)
    changed_files = tuple(path for path in change.files if path not in settings)
    impact = worst(changed_files, rules, closure.files)
    since = f"since {change.instance} ({change.before:.9})"
    if impact in (None, Impact.IGNORE):
        return passed(
            f"no change of code {since}", *limit_lines(change.files), subject=change.instance
        )
    if impact is Impact.NOTICE:
        notices = of_impact(changed_files, rules, closure.files, Impact.NOTICE)
        return passed(
            f"only operational changes {since}: {few(notices)}",
            *limit_lines(notices),
            subject=change.instance,
        )
    files = of_impact(changed_files, rules, closure.files, Impact.BLOCK)
    identity = contract.tracker.id or contract.slug
    if change.tracker_id and identity != change.tracker_id:
        message = f"the training changed {since}, under the new tracker id {identity}"
        return passed(message, *limit_lines(files), subject=change.instance)
    if left_no_step(own, metrics, left_checkpoints):
        message = (
            f"the code changed {since}, but no instance has a row or a checkpoint: {few(files)}"
        )
        return passed(message, *limit_lines(files), subject=change.instance)
    return failed(
        f"{count(len(files), 'file')} that can change the training changed {since}: "
        f"{few(files)}; the tracker id is still {identity}",
        *limit_lines(files),
        subject=change.instance,
    )
