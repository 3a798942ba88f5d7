"""The babysitter's rules are those of the contract, each of them."""

from dataclasses import fields
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from builders import a_contract
from herorun.core.contract import Recovery
from herorun.core.recovery.policy import RecoveryPolicy
from herorun.operations.health.rules import rules_of

HOURS = timedelta(hours=1)
POLICY = RecoveryPolicy(
    recovery=Recovery.OBSERVE,
    relaunches=7,
    window=48 * HOURS,
    cadence=HOURS / 2,
    infra=5,
    unknown=4,
    code_bug=3,
    oom=2,
    stop_on=("stalled-steps",),
    accelerator_hours=1000.0,
    accelerators=16,
    delete_bad_node=True,
    zone="us-east1-d",
    resumable=False,
    milestones=(100,),
    rate=2.5,
    quiet_every=timedelta(),
    second_after=3 * HOURS,
)


def rules(**tables: Any) -> Any:
    run: Any = SimpleNamespace(
        contract=a_contract(**tables), health_checks=["checks"], waivers=["waivers"], limits="all"
    )
    return rules_of(run)


def test_each_rule_is_the_contracts() -> None:
    result = rules(
        babysit={
            "recovery": "observe",
            "cadence": "30m",
            "stop_on": ["stalled-steps"],
            "tpu_bad_node": "delete",
            "tpu_zone": "us-east1-d",
            "budgets": {
                "relaunches": 7,
                "window": "48h",
                "infra": 5,
                "unknown": 4,
                "code_bug": 3,
                "oom": 2,
            },
        },
        budget={"accelerator_hours": 1000, "rate": 2.5},
        hardware={"count": 16},
        tracker={"resume": "never"},
        checkpoints={"milestones": [100]},
        logbook={"quiet_ticks": "each"},
        notify={"secondary": ["SECOND_URL"], "secondary_after": "3h"},
    )
    assert result.policy == POLICY
    assert (result.checks, result.waivers, result.limits) == (["checks"], ["waivers"], "all")
    usual = rules().policy
    same = {
        field.name
        for field in fields(RecoveryPolicy)
        if getattr(usual, field.name) == getattr(POLICY, field.name)
    }
    assert same == set()  # each differs, so none is there by its default
