"""Which of the contract's secrets are set where the job gets them. Values are never read."""

import os

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Nothing, SecretNames
from herorun.core.ports import Scheduler, scheduler_traits

_HERE = "this environment"


def read_secret_names(contract: Contract, scheduler: Scheduler) -> SecretNames | Nothing:
    """A job inherits them from the process that submits it, a babysitter as well: they are looked
    for where this process runs.

    A scheduler whose jobs get them elsewhere says where, in words, as `secrets_source`: that is out
    of sight from here, unless a person states in its options that they are there
    (`secrets_vouched`).
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
