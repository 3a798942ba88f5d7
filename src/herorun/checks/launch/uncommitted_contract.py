"""The contract is not committed as it stands.

Why: nobody has reviewed what is in no commit; a relaunch goes by the committed contract, and would run another plan.
Fix: commit and push the contract file; if it is ignored by git (`git check-ignore -v FILE`), move the rule.
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
    if not file.signed:
        return failed(f"{file.path} differs from what HEAD holds", subject=file.path)
    return passed(f"{file.path} is committed as it stands", subject=file.path)
