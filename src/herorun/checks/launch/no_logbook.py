"""The run has no record yet.

Why: what is not recorded before the launch cannot be handed off, resumed or audited later.
Fix: run `herorun init RUN`; it creates the record and the issue, and links both.
"""

from dataclasses import replace

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract, ContractFile
from herorun.core.evidence import History
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def no_logbook(contract: Contract, file: ContractFile, history: History) -> Verdict:
    """A record begins with a committed contract, so an uncommitted one comes first."""
    if history.initialised:
        return passed("the record exists")
    missing = f"{contract.slug} has no logbook: run `herorun init {contract.slug}`"
    return replace(failed(missing, subject=contract.slug), causes=(f"file {file.path}",))
