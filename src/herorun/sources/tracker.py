"""The tracker's run under the contract's identity, the trainer's alerts in it, and variables that
would change its identity.
"""

import os
from dataclasses import replace
from typing import cast

from herorun.core.contract import Contract
from herorun.core.evidence import (
    Nothing,
    PriorLaunch,
    TrackerAlerts,
    TrackerEnvironment,
    TrackerIdentity,
    TrackerTraits,
)
from herorun.core.plan import Plan
from herorun.core.ports import ClientEnvironment, Tracker, tracker_traits
from herorun.core.redaction.scrub import scrub

MAX_ALERTS = 100  # the newest


def read_tracker_identity(tracker: Tracker, contract: Contract) -> TrackerIdentity | Nothing:
    """The identity, queried each time. Nothing for a tracker without run ids."""
    identify = getattr(tracker, "identify", None)
    if identify is None:
        return Nothing(f"the tracker {contract.tracker.kind} has no run ids")
    identity: TrackerIdentity = identify()
    return identity


def read_tracker_alerts(tracker: Tracker, contract: Contract) -> TrackerAlerts | Nothing:
    """The alerts that the trainer raised. Their text may contain anything, so secrets are
    masked.
    """
    alerts = getattr(tracker, "alerts", None)
    if alerts is None:
        return Nothing(f"the tracker {contract.tracker.kind} has no alerts")
    try:
        raw_alerts = alerts()
    except FileNotFoundError:
        return Nothing("the tracker has no alerts yet")
    clean = (
        replace(each, title=scrub(each.title)[:200], text=scrub(each.text)[:300])
        for each in raw_alerts
    )
    return TrackerAlerts(tuple(clean)[-MAX_ALERTS:])


def read_tracker_environment(
    tracker: Tracker, contract: Contract, plan: Plan, prior: PriorLaunch | Nothing
) -> TrackerEnvironment | Nothing:
    """The identity's variables in the job's environment: those of the plan, and secrets by name."""
    from herorun.core.identity.intent import is_same, option

    names = getattr(tracker, "client_variables", ())
    if not names:
        return Nothing(f"the tracker {contract.tracker.kind} takes nothing from the environment")
    client, run = cast(ClientEnvironment, tracker), plan.tracker.value
    secrets = {name: os.environ[name] for name in contract.command.secrets if name in os.environ}
    passed_on = {**plan.env.value, **secrets}
    texts = {name: passed_on[name].strip() for name in sorted(passed_on) if name in names}
    variables = {name: text for name, text in texts.items() if text}
    forks = bool(option(run, "fork_from")) and not is_same(run, prior)
    judged_variables = {
        name: client.client_problem(name, value, run, forks) for name, value in variables.items()
    }
    return TrackerEnvironment(
        variables, {name: why for name, why in judged_variables.items() if why}
    )


def read_tracker_traits(tracker: Tracker) -> TrackerTraits:
    return tracker_traits(tracker)
