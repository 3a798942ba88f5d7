"""The run's record names no issue.

Why: people read about failures, relaunches and decisions in the issue.
Fix: set `[issue]` in the contract and run `herorun init RUN`; a record that was created without an
issue must be created again under another slug.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import History, IssuePage
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK)
def missing_issue(history: History, issue: IssuePage) -> Verdict:
    if issue.link:
        return passed(f"the issue is {issue.link}")
    if not history.initialised:
        return not_applicable("there is no record yet: see no-record")
    return failed("the record was created without an issue", subject="[issue]")
