"""Whether the repository has the remotes that the contract names: evaluated at launch and at
seal.
"""

from herorun.core.contract import Contract
from herorun.core.evidence import Remotes
from herorun.core.finding import Verdict, failed, passed


def remote_verdicts(contract: Contract, remotes: Remotes, meaning: str = "") -> list[Verdict]:
    """One verdict for each name; the record's remote is usually the code's. A failure's message
    begins with `meaning`.
    """
    names = dict.fromkeys((contract.code.remote, contract.record_remote))
    return [_judge_remote(name, remotes, meaning) for name in names]


def _judge_remote(name: str, remotes: Remotes, meaning: str) -> Verdict:
    if name in remotes.urls:
        return passed(f"{name} is {remotes.urls[name]}", subject=name)
    urls = ", ".join(sorted(remotes.urls)) or "none"
    return failed(
        f"{meaning}there is no remote called {name}; the repository has {urls}", subject=name
    )
