"""The job does not run what was admitted.

Why: between the launch and the first step a wrapper, an image or an environment can change the
code, the config or the paths, and the curves still look plausible.
Fix: look at the item that the message names. Correct the launcher or the contract, and launch
again. The job refused to train, and ended with exit code 78.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Admitted
from herorun.core.finding import Outcome, Verdict, describe_item, unknown


@check(Gate.CHECKIN, Response.REFUSE)
def admitted_mismatch(admission: Admitted) -> list[Verdict]:
    """One verdict for each item. What could not be compared is unknown; only a difference fails."""
    if not admission.items:
        return [unknown("nothing was compared")]
    return [
        Verdict(
            outcome=_OUTCOMES.get(word, Outcome.UNKNOWN),
            message=describe_item(item, message),
            subject=item,
        )
        for item, word, message in admission.items
    ]


_OUTCOMES = {"pass": Outcome.PASS, "fail": Outcome.FAIL}
