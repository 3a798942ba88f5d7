"""The tracker's run: what is there under the contract's identity, what the trainer raised in it,
and what in the environment would change it.
"""

import os
from dataclasses import replace

from herorun.core.contract import Contract
from herorun.core.evidence import (
    Nothing,
    TrackerAlerts,
    TrackerEnvironment,
    TrackerIdentity,
    TrackerTraits,
)
from herorun.core.identity.intent import is_wandb
from herorun.core.plan import Plan
from herorun.core.ports import Tracker, tracker_traits
from herorun.core.redaction.scrub import scrub

MOST_ALERTS = 100  # the newest
# What W&B's client takes from the environment wherever the trainer's own code leaves it open.
CLIENT_VARIABLES = (
    "WANDB_RUN_ID",
    "WANDB_RESUME",
    "WANDB_PROJECT",
    "WANDB_ENTITY",
    "WANDB_NAME",
    "WANDB_RUN_GROUP",
    "WANDB_MODE",
    "WANDB_DISABLED",
    "WANDB_BASE_URL",
    "WANDB_FORK_FROM",
    "WANDB_RESUME_FROM",
)


def read_tracker_identity(tracker: Tracker, contract: Contract) -> TrackerIdentity | Nothing:
    """Asked afresh each time. A tracker that knows no runs by id is asked nothing."""
    identify = getattr(tracker, "identify", None)
    if identify is None:
        return Nothing(f"the tracker {contract.tracker.kind} knows no runs by id")
    identity: TrackerIdentity = identify()
    return identity


def read_tracker_alerts(tracker: Tracker, contract: Contract) -> TrackerAlerts | Nothing:
    """What the trainer itself raised. What people wrote there may hold anything, so it is
    scrubbed.
    """
    alerts = getattr(tracker, "alerts", None)
    if alerts is None:
        return Nothing(f"the tracker {contract.tracker.kind} knows no alerts")
    try:
        raw_alerts = alerts()
    except FileNotFoundError:
        return Nothing("the tracker holds no alerts yet")
    clean = (
        replace(each, title=scrub(each.title)[:200], text=scrub(each.text)[:300])
        for each in raw_alerts
    )
    return TrackerAlerts(tuple(clean)[-MOST_ALERTS:])


def read_tracker_environment(
    tracker: Tracker, contract: Contract, plan: Plan
) -> TrackerEnvironment | Nothing:
    """As the job gets it: of the plan's environment, and of the secrets by name."""
    stated = getattr(tracker, "client_variables", {})
    if not is_wandb(contract.tracker.kind) and not stated:
        return Nothing(f"the tracker {contract.tracker.kind} takes nothing from the environment")
    names = stated or CLIENT_VARIABLES
    secrets = {name: os.environ[name] for name in contract.command.secrets if name in os.environ}
    passed_on = {**plan.env.value, **secrets}
    return TrackerEnvironment(
        {name: passed_on[name] for name in sorted(passed_on) if name in names},
        getattr(tracker, "client_modes", ()),
        stated,
    )


def read_tracker_traits(tracker: Tracker) -> TrackerTraits:
    return tracker_traits(tracker)
