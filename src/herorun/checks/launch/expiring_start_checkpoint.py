"""A rule of the store will delete the start checkpoint.

Why: a run that must start again from it would find nothing; temporary roots often have such
lifecycle rules.
Fix: copy it to a permanent root and name that in `[start] from`, or exclude it from the rule.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Now, RootFacts
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.WARN, at_relaunch=AtRelaunch.WARN)
def expiring_start_checkpoint(contract: Contract, roots: RootFacts, now: Now) -> Verdict:
    start = (contract.start.from_ or "").rstrip("/")
    if not start:
        return not_applicable("the contract names no start checkpoint")
    when = roots.expires.get(start)
    if when:
        verb = "expires" if when > now.at else "was due to be deleted"
        message = f"{start} {verb} at {when:%Y-%m-%dT%H:%MZ}"
        return failed(message, *roots.rules.get(start, ()), subject=start)
    if start in roots.unknown_rules:
        why = roots.unknown_rules[start]
        return unknown(f"could not check whether {start} expires: {why}", why, subject=start)
    if start in roots.untold_rules:
        return not_applicable(f"{start}: {roots.untold_rules[start]}", subject=start)
    return passed(f"no lifecycle rule of its store deletes {start}", subject=start)
