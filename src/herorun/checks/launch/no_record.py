"""The run has no record yet, or the record cannot be pushed.

Why: without a record, the run cannot be handed off, resumed or audited later.
Fix: `herorun init RUN` creates the record and the issue.
"""

import shlex
from dataclasses import replace

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract, ContractFile
from herorun.core.evidence import History, Nothing, RemoteTips, Unavailable
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def no_record(
    contract: Contract,
    file: ContractFile,
    history: History,
    tips: RemoteTips | Nothing | Unavailable,
) -> Verdict:
    """Not applicable while the contract is uncommitted: a record begins with a committed one. On
    the code's remote, where the record usually goes, a branch's name may conflict with the
    record's.
    """
    branch = _in_the_way(contract, tips) if isinstance(tips, RemoteTips) else ""
    if branch and isinstance(tips, RemoteTips):
        remote, record = contract.record_remote, contract.record_branch
        free = f"{branch.replace('/', '-')}-old"
        # quoted, because people paste it, and anyone who may push can name a branch `x$(rm -r .)`
        fetch = shlex.join(["git", "fetch", remote, branch])
        refspecs = [f"FETCH_HEAD:refs/heads/{free}", f":refs/heads/{branch}"]
        lease = f"--force-with-lease=refs/heads/{branch}:{tips.by_ref[f'refs/heads/{branch}']}"
        push = shlex.join(["git", "push", "--atomic", lease, remote, *refspecs])
        message = (
            f"the record needs the branch {record} on {remote}, and git cannot create it next to "
            f"the branch {branch}. If the owner of {branch} agrees, rename it to {free}: "
            f"`{fetch} && {push}`. That closes the open pull requests from {branch}"
        )
        return failed(message, subject=branch)
    if history.initialised:
        return passed("the record exists")
    missing = f"{contract.slug} has no record yet"
    return replace(failed(missing, subject=contract.slug), causes=(f"file {file.path}",))


def _in_the_way(contract: Contract, tips: RemoteTips) -> str:
    """The branch whose name is a folder of the record's name, or the reverse: git cannot store
    both.
    """
    if tips.remote != contract.record_remote:
        return ""
    record = contract.record_branch
    branches = (
        ref.removeprefix("refs/heads/")
        for ref in sorted(tips.by_ref)
        if ref.startswith("refs/heads/")
    )
    return next(
        (
            each
            for each in branches
            if record.startswith(f"{each}/") or each.startswith(f"{record}/")
        ),
        "",
    )
