"""Which of the contract's secrets are set where the job gets them. Values are never read."""

import os

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Nothing, SecretNames
from herorun.core.ports import Scheduler, scheduler_traits

_HERE = "this environment"


def read_secret_names(contract: Contract, scheduler: Scheduler) -> SecretNames | Nothing:
    """The secrets that are set for this process: a job inherits them from the process that submits
    it, also from a babysitter.

    If the scheduler's jobs get them elsewhere, it names the place in `secrets_source`. They are
    unknown here, unless a person states in its options that they are there (`secrets_vouched`).
    """
    secrets = contract.command.secrets
    if not secrets:
        return Nothing("the contract names no secrets")
    traits = scheduler_traits(scheduler)
    source = traits.secrets_source or _HERE
    if traits.secrets_vouched:
        return SecretNames(frozenset(secrets), f"{source}, by the contract's word")
    if source != _HERE:
        raise CouldNotLook(
            f"{', '.join(secrets)} must be set in {source}, which cannot be read from here."
        )
    return SecretNames(frozenset(name for name in secrets if os.environ.get(name)), source)
