"""The contract has uncommitted changes, or is not committed.

Why: uncommitted text was not reviewed; a relaunch reads the launch's contract from its commit, and
would run another plan.
Fix: commit and push the contract file; if git ignores it (`git check-ignore -v runs/RUN.toml`),
change the rule.
"""

from dataclasses import replace

from herorun.core.check import Gate, Response, check
from herorun.core.contract import ContractFile
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def uncommitted_contract(file: ContractFile) -> Verdict:
    if file.committed is None:
        return replace(
            failed(f"{file.path} is in no commit", subject=file.path),
            explains=(f"file {file.path}",),
        )
    if not file.is_reviewable:
        return failed(f"{file.path} differs from HEAD", subject=file.path)
    return passed(f"{file.path} is committed", subject=file.path)
