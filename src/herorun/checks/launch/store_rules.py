"""Lists the lifecycle rules of the output roots' stores; other checks report their harm.

Why: a lifecycle deletes checkpoints that the contract keeps, and a retention policy keeps those
that a trainer replaces.
Fix: compare the rules with `[checkpoints]`; if one deletes or locks too much, change it or the
root.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import RootFacts
from herorun.core.finding import Verdict, few, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.INFO, at_relaunch=AtRelaunch.WARN)
def store_rules(roots: RootFacts) -> list[Verdict]:
    """Lists the rules only: the checks and the write probe that a rule affects report the harm."""
    verdicts = [
        passed(f"for information, the store's rules of {root}: {few(rules)}", *rules, subject=root)
        for root, rules in roots.rules.items()
        if rules
    ]
    unknowns = [
        unknown(f"could not read the rules of {root}: {why}", why, subject=root)
        for root, why in roots.unknown_rules.items()
    ]
    unknown_rules = [
        not_applicable(f"{root}: {who}", subject=root) for root, who in roots.untold_rules.items()
    ]
    return [*verdicts, *unknowns, *unknown_rules] or [
        not_applicable("no store reports a rule about the roots")
    ]
