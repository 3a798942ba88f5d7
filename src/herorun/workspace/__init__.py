"""From the word RUN to everything that a command needs, opened only when it is used."""

from herorun.workspace.admitted import contract_drift
from herorun.workspace.launches import contract_at, final_step, prior_launch, source_launches
from herorun.workspace.opening import believe, contract_path, known_slugs, open_run, watched_run
from herorun.workspace.run import Run, log_of
from herorun.workspace.templates import template
from herorun.workspace.watched import Watched

__all__ = [
    "Run",
    "Watched",
    "believe",
    "contract_at",
    "contract_drift",
    "contract_path",
    "final_step",
    "known_slugs",
    "log_of",
    "open_run",
    "prior_launch",
    "source_launches",
    "template",
    "watched_run",
]
