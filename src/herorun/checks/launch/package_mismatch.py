"""The command would import other packages than the contract states.

Why: another release of a numerics library or a kernel changes the trajectory while the commit stays
the same.
Fix: install what `[runtime] packages` says, or state there what is installed, in the form of PEP
508, for example "torch==2.9.1".
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Installed, Nothing, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.requirements import problem_of, unmet


@check(Gate.LAUNCH, Response.BLOCK)
def package_mismatch(
    contract: Contract, packages: Installed | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each requirement. If the job runs on another machine, check-in compares the
    exact versions there.
    """
    requirements = contract.runtime.packages
    if not requirements:
        return [not_applicable("the contract states no packages")]
    return [_judge_package(text, packages) for text in requirements]


def _judge_package(text: str, packages: Installed | Nothing | Unavailable) -> Verdict:
    if why := problem_of(text):
        return failed(f"{text!r} is not a valid package requirement: {why}", subject=text)
    match packages:
        case Unavailable(why):
            return unknown(f"could not check {text}: {why}", subject=text)
        case Nothing(why):
            return not_applicable(f"{text}: {why}", subject=text)
        case Installed():
            problem = unmet(text, packages.packages)
            if problem:
                return failed(f"{problem} ({packages.interpreter})", subject=text)
            return passed(f"{text} is met by {packages.interpreter}", subject=text)
