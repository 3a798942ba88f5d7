"""From the word RUN to everything that a command needs, opened only when it is used."""

from herorun.runs.admitted_contract import contract_drift
from herorun.runs.base import MonitoredRun
from herorun.runs.launch_history import (
    MAX_CONTRACT_BYTES,
    contract_at,
    final_step,
    prior_launch,
    source_launches,
)
from herorun.runs.loader import apply_proof, contract_path, known_slugs, open_run, watched_run
from herorun.runs.run import Run, hide_from_git, hide_output, log_of

__all__ = [
    "MAX_CONTRACT_BYTES",
    "MonitoredRun",
    "Run",
    "apply_proof",
    "contract_at",
    "contract_drift",
    "contract_path",
    "final_step",
    "hide_from_git",
    "hide_output",
    "known_slugs",
    "log_of",
    "open_run",
    "prior_launch",
    "source_launches",
    "watched_run",
]
