"""The run would report to another tracker run than its last instance did.

Why: a curve under a new id is a new run; under the old slug its record, checkpoints and history
would belong to two runs.
Fix: restore `[tracker]`; or create a new run with `herorun fork RUN NEW --reason "..."`; or let the
DRI state the reason in a waiver: the launch then records the reason, both identities and the
differences.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.config.diff import diff_launches
from herorun.core.contract import Contract
from herorun.core.evidence import PriorLaunch
from herorun.core.finding import Verdict, failed, few, passed
from herorun.core.identity.intent import identity_of, is_same, prior_identity
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub_tree

MAX_CHANGES = 10  # changes in the message itself: the person who signs must see them


@check(Gate.LAUNCH, Response.BLOCK)
def changed_identity(plan: Plan, prior: PriorLaunch, contract: Contract) -> Verdict:
    """Compares the plans only, so it works for every kind of tracker; `tracker-identity` needs one
    with run ids.
    """
    run = plan.tracker.value
    if is_same(run, prior):
        return passed(f"reports under {run.id}, as {prior.instance} did", subject=run.id)
    before, after = (
        identity_of(prior_identity(prior)),
        identity_of(scrub_tree(plan.values)["tracker"]),
    )
    changes = [
        str(change)
        for change in diff_launches(prior.plan, scrub_tree(plan.values), contract.config)
    ]
    differs = (
        f"It differs from {prior.instance} in {few(changes, MAX_CHANGES)}"
        if changes
        else f"Nothing else differs from {prior.instance}"
    )
    return failed(
        f"{contract.slug} would report under {after}, but {prior.instance} reported under "
        f'{before}. {differs}. `herorun fork {contract.slug} NEW --reason "..."` creates a new '
        "run, or the DRI signs a waiver",
        *changes,
        subject=after,
    )
