"""A run that starts from a parent run's checkpoint differs from the parent in values that may
change the training.

Why: a learning rate 16 times as high, or a different batch, precision or data, looks plausible for
days in a new run's curves.
Fix: restore the value; or set the key's class in `[config] classes`; or let the DRI sign each
intended key: `herorun waive fork-drift RUN` prints the waivers.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Nothing,
    PriorLaunch,
    SourceLaunches,
    StartSiblings,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import Verdict, failed, few, not_applicable, passed
from herorun.core.identity.fork_changes import InheritedChanges, compute_inheritance, writer_of
from herorun.core.lineage import is_under
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub_tree

MAX_VERDICTS = 50  # verdicts; one more sums up the rest


@check(Gate.LAUNCH, Response.BLOCK)
def fork_drift(
    plan: Plan,
    prior: PriorLaunch | Nothing,
    source: SourceLaunches,
    contract: Contract,
    siblings: StartSiblings | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for each key that needs a signature, and one for all the rest."""
    start = plan.start.value
    if start is None or is_under(start.path, plan.roots):
        return [not_applicable("the run starts from no checkpoint of another run")]
    if isinstance(prior, PriorLaunch):
        return [
            not_applicable(
                f"the run has been launched before: config-drift compares with {prior.instance}"
            )
        ]
    written_at = next((c.modified for c in candidates_of(siblings) if c.path == start.path), None)
    before = writer_of(source, written_at)
    # The record contains plans with secrets masked: without masks, every masked value would appear
    # to have changed.
    inheritance = compute_inheritance(before, scrub_tree(plan.values), start, contract.config)
    return [
        *_report_fork_drift(inheritance, before.instance),
        _judge_allowed(inheritance, before.instance),
    ]


def _report_fork_drift(inheritance: InheritedChanges, instance: str) -> list[Verdict]:
    one_by_one = [
        failed(
            f"{change}, compared with {instance}, which wrote the start checkpoint",
            subject=change.key,
        )
        for change in inheritance.unsigned[:MAX_VERDICTS]
    ]
    further = inheritance.unsigned[MAX_VERDICTS:]
    if not further:
        return one_by_one
    message = (
        f"{len(further)} other keys differ from {instance}: "
        f"{few([str(change) for change in further])}"
    )
    return [*one_by_one, failed(message, *map(str, further), subject="further keys")]


def _judge_allowed(inheritance: InheritedChanges, instance: str) -> Verdict:
    """The verdict on differences that need no signature."""
    names = [f"{change} (a name of its own)" for change in inheritance.own]
    if not inheritance.other:
        only = "nothing else differs from" if inheritance.unsigned else "trains as"
        return passed(
            f"{only} {instance}, which wrote the start checkpoint", *names, subject=instance
        )
    texts = [str(change) for change in inheritance.other]
    return passed(
        f"allowed differences from {instance}: {few(texts)}", *texts, *names, subject=instance
    )
