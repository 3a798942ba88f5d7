"""Which of the contract's secrets are set where the babysitter runs, if jobs get them from
there.
"""

import os

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, OwnSecrets
from herorun.core.ports import Scheduler, scheduler_traits


def read_own_secrets(contract: Contract, scheduler: Scheduler) -> OwnSecrets | Nothing:
    """Nothing if the scheduler supplies the secrets: the launch gate checks that."""
    if not contract.command.secrets:
        return Nothing("the contract names no secrets")
    source = scheduler_traits(scheduler).secrets_source
    if source is not None:
        return Nothing(f"jobs get their secrets from {source}")
    return OwnSecrets(frozenset(name for name in contract.command.secrets if os.environ.get(name)))
