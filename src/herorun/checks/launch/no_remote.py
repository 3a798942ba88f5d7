"""The repository has no remote under the contract's name.

Why: a commit and a record that exist on one disk are lost with it, and nobody else can check the run out.
Fix: add the remote and push; or name the right one in `[code] remote`; or let the DRI waive it, and every
report says "not pushed".
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Remotes
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK)
def no_remote(contract: Contract, remotes: Remotes) -> list[Verdict]:
    """One answer for each name; the record's remote is usually the code's."""
    return [_one(name, remotes) for name in dict.fromkeys((contract.code.remote, contract.record_remote))]


def _one(name: str, remotes: Remotes) -> Verdict:
    if name in remotes.urls:
        return passed(f"{name} is {remotes.urls[name]}", subject=name)
    there = ", ".join(sorted(remotes.urls)) or "none"
    return failed(f"there is no remote called {name}; the repository has {there}", subject=name)
