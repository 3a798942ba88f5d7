"""A hero run notifies no person: its issue is a local file, and [notify] names no channel.

Why: a crash, a NaN or a question to the DRI would be written into a file on one machine; the
job waits or trains on until a person looks.
Fix: name a channel in `[notify] targets`, `page` or `kinds`, or set `[issue] kind = "github"`;
`herorun doctor RUN --send-test` tests a channel; or let the DRI sign that a person watches anyway.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import NotifiedBy
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK)
def unnotified_hero(contract: Contract, notifiers: NotifiedBy) -> Verdict:
    if notifiers.channels:
        return passed(f"notifies by {', '.join(notifiers.channels)}")
    if notifiers.issue:
        return passed(f"notifies by its {contract.issue.kind} issue")
    if not contract.is_hero:
        return not_applicable("an ordinary run may have a local issue file alone")
    return failed(
        "the issue is a file on this machine, and [notify] names no channel",
        subject="[notify] targets",
    )
