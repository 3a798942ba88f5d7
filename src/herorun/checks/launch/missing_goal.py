"""A hero run states no goal or no stop criteria.

Why: at 3 a.m. a person decides whether the run continues; without agreed criteria it trains on at
full cost, or is stopped for the wrong reason.
Fix: write `goal` and `stop_when` into the contract, one sentence each; or set `hero = false` for an
ordinary run.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK)
def missing_goal(contract: Contract) -> Verdict:
    stated_texts = {"goal": contract.goal.strip(), "stop_when": contract.stop_when.strip()}
    missing = [name for name, text in stated_texts.items() if not text]
    if missing and contract.is_hero:
        return failed(f"a hero run must state {' and '.join(missing)}", subject=missing[0])
    if missing:
        return not_applicable(f"an ordinary run: {' and '.join(missing)} may be left out")
    return passed(f"goal: {stated_texts['goal']}; stop when: {stated_texts['stop_when']}")
