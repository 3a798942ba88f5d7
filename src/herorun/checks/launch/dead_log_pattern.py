"""A log pattern in the contract matches no text that the installed package can print.

Why: a monitor that waits for words that the installed version never prints sees no failure.
Fix: look up what the installed version prints, and correct the row of the `[babysit] signatures`,
or its `printed_by`.
Source: marin-community/marin, NCCL hang: two patterns that were searched for could not be printed
by the deployed jaxlib.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import PrintedPatterns
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.WARN)
def dead_log_pattern(patterns: PrintedPatterns) -> list[Verdict]:
    """One verdict for each row that names the package that prints it."""
    dead_patterns = [
        failed(f"the signature {name!r} can match no line: {why}", subject=name)
        for name, why in sorted(patterns.absent.items())
    ]
    return dead_patterns or [
        passed(f"the text of {len(patterns.present)} signatures occurs in the installed packages")
    ]
