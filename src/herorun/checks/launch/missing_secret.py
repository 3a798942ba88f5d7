"""A secret that the job needs is not set.

Why: the job would fail when it first needs the secret, or train for days without reporting.
Fix: set the variable where herorun and its babysitter run, or remove its name from `[command]
secrets`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import SecretNames
from herorun.core.finding import Verdict


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def missing_secret(contract: Contract, secrets: SecretNames) -> list[Verdict]:
    """One verdict for each name; an empty value counts as missing."""
    from herorun.core.secret_requirements import judge_secrets

    return judge_secrets(contract.command.secrets, secrets.present, secrets.source)
