"""The run contract: what people signed, as `runs/<slug>.toml` or built in Python.

Unknown keys are errors. The tables of adapters (`tracker`, `scheduler`) take further keys, which
the adapter's own `Options` validate; `[babysit.thresholds]` is validated by each check's `Limits`.
"""

from herorun.core.contract.babysit import BabysitTable, Budget, Budgets, Phase, Recovery
from herorun.core.contract.model import HERO_FLOPS, PLAN_TABLES, Contract, ContractFile, plan_part
from herorun.core.contract.notify import Issue, Logbook, Notify
from herorun.core.contract.parse import (
    Fault,
    WrongContract,
    contract_from,
    explain_faults,
    locate_faults,
    parse_contract,
)
from herorun.core.contract.plan_tables import (
    CheckpointsTable,
    Code,
    Command,
    Config,
    Data,
    Hardware,
    Impact,
    KeyClass,
    OutputTable,
    Runtime,
    SchedulerTable,
    StartTable,
    TrackerTable,
)
from herorun.core.contract.policy import CompareTable, PolicyTable, WaiverTable
from herorun.core.contract.remote import ChainStage, ChainTable, PatrolTable
from herorun.core.contract.values import KIND, SLUG, Duration, RenamedKeys, parse_duration

__all__ = [
    "HERO_FLOPS",
    "KIND",
    "PLAN_TABLES",
    "SLUG",
    "BabysitTable",
    "Budget",
    "Budgets",
    "ChainStage",
    "ChainTable",
    "CheckpointsTable",
    "Code",
    "Command",
    "CompareTable",
    "Config",
    "Contract",
    "ContractFile",
    "Data",
    "Duration",
    "Fault",
    "Hardware",
    "Impact",
    "Issue",
    "KeyClass",
    "Logbook",
    "Notify",
    "OutputTable",
    "PatrolTable",
    "Phase",
    "PolicyTable",
    "Recovery",
    "RenamedKeys",
    "Runtime",
    "SchedulerTable",
    "StartTable",
    "TrackerTable",
    "WaiverTable",
    "WrongContract",
    "contract_from",
    "explain_faults",
    "locate_faults",
    "parse_contract",
    "parse_duration",
    "plan_part",
]
