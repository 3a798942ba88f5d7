"""The plan: everything that identifies a launch, each value with its source.

The digest covers the values alone. Tracker state, free disk, the lease and the instance number are
evidence and not part of the plan: they change while the plan does not.
"""

from herorun.core.plan.diff import describe_differences
from herorun.core.plan.model import PLAN_SCHEMA, Plan, argv_to_run
from herorun.core.plan.values import Patch, Retention, StartPoint, TrackerRun, snapshot_ref

__all__ = [
    "PLAN_SCHEMA",
    "Patch",
    "Plan",
    "Retention",
    "StartPoint",
    "TrackerRun",
    "argv_to_run",
    "describe_differences",
    "snapshot_ref",
]
