"""The start checkpoint is not from the stated run, or is from a lineage in `[start] rejected`.

Why: a checkpoint names neither its run nor its code; only a folder of a recorded run shows them. A
checkpoint of a rejected lineage has the fault for which the lineage was rejected.
Fix: name a checkpoint under the source run's recorded roots, or the right `[start] source_run`;
never one that this run's or the source run's contract lists in `[start] rejected`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import History, Nothing, SourceRun, Unavailable
from herorun.core.finding import Verdict, failed, few, not_applicable, passed, unknown
from herorun.core.lineage import is_rejected, is_under
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def wrong_lineage(
    contract: Contract, plan: Plan, history: History, source: SourceRun | Nothing | Unavailable
) -> Verdict:
    start = plan.start.value
    if start is None:
        return not_applicable(plan.start.source)
    if is_rejected(start.path, contract.start.rejected):
        return failed(f"{start.path} is under [start] rejected of the contract", subject=start.path)
    if is_under(start.path, (root for instance in history.instances for root in instance.roots)):
        return passed(f"{start.path} lies in a root of this run", subject=start.path)
    if isinstance(source, Unavailable):
        return unknown(
            f"could not check where {start.path} comes from: {source.why}", subject=start.path
        )
    if isinstance(source, Nothing):
        return not_applicable(
            "the contract names no source_run: see unverified-lineage", subject=start.path
        )
    return _judge_source(source, start.path)


def _judge_source(source: SourceRun, path: str) -> Verdict:
    if is_rejected(path, source.rejected):
        return failed(f"{path} is under [start] rejected of {source.slug}", subject=path)
    if not is_under(path, source.roots):
        history = f"wrote to {few(source.roots)}" if source.roots else "was never launched"
        return failed(
            f"{path} was not written by {source.slug}, which {history}", *source.roots, subject=path
        )
    return passed(f"{path} lies in a recorded root of {source.slug}", subject=path)
