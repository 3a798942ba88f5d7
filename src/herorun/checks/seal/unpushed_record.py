"""The record is not on its remote.

Why: the seal names a record commit; if only this clone has it, no other clone can verify anything.
Fix: find out why the remote refuses the push; `herorun babysit RUN --once` pushes again.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import RecordState
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.SEAL, Response.BLOCK)
def unpushed_record(record: RecordState, contract: Contract) -> Verdict:
    if record.commit is None:
        return failed(f"there is no record: run `herorun init {contract.slug}`")
    if record.remote is None:
        return not_applicable(
            f"record commit {record.commit:.9} cannot be pushed, because there is no remote: see "
            "no-remote"
        )
    if record.pushed != record.commit:
        remote_commit = f"{record.pushed:.9}" if record.pushed else "nothing"
        return failed(
            f"the newest record commit is {record.commit:.9} here, and {remote_commit} on "
            f"{record.remote}",
            subject=record.remote,
        )
    return passed(f"record commit {record.commit:.9} is on {record.remote}", subject=record.remote)
