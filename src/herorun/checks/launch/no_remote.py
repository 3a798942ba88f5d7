"""The repository has no remote with the contract's name.

Why: a commit and a record on one disk are lost with it, and no other clone can check the run out.
Fix: add the remote and push; or name the right one in `[code] remote`; or let the DRI accept it:
`herorun waive no-remote RUN` prints a waiver to commit, and every report then says "not pushed".
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Remotes
from herorun.core.finding import Verdict
from herorun.core.git_remotes import remote_verdicts


@check(Gate.LAUNCH, Response.BLOCK)
def no_remote(contract: Contract, remotes: Remotes) -> list[Verdict]:
    return remote_verdicts(contract, remotes)
