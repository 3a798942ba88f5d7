"""An instance of the run never checked in.

Why: without a receipt it is unknown whether what ran is what was admitted.
Fix: call `herorun.check_in()` in the training script before the first step of the next run; for
this one, let the DRI accept it in a waiver, which the seal then states: `herorun waive
not-checked-in` prints its text.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import History, LateReceipts, Nothing, Receipt, Unavailable
from herorun.core.finding import Verdict, failed, passed


@check(Gate.SEAL, Response.BLOCK)
def not_checked_in(
    history: History, receipt: Receipt | Nothing, late: LateReceipts | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each instance, by the record and by receipts that no tick has read yet."""
    newest = {receipt.instance} if isinstance(receipt, Receipt) else set()
    receipt_names = (
        {each.instance for each in late.receipts} if isinstance(late, LateReceipts) else set()
    )
    verified_names = history.checked_in | newest | receipt_names
    absent = [
        failed(f"{each.name} never checked in", subject=each.name)
        for each in history.instances
        if each.name not in verified_names
    ]
    return absent or [passed(f"every instance checked in ({len(history.instances)})")]
