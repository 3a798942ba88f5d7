"""The repository has no remote with the contract's name, so the seal would be on one disk only.

Why: a seal, its record and its commit on one disk are lost with it, and no other clone can verify
anything.
Fix: add the remote and push; or let the DRI waive it: the waiver of the launch counts here too, and
the seal states it.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Remotes
from herorun.core.finding import Verdict
from herorun.core.git_remotes import remote_verdicts


@check(Gate.SEAL, Response.BLOCK)
def no_remote(contract: Contract, remotes: Remotes) -> list[Verdict]:
    """One verdict for each name; a waiver of the launch gate's `no-remote` covers this check
    too.
    """
    return remote_verdicts(contract, remotes, "not pushed: ")
