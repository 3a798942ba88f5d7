"""The full lifecycle of a hero run on one machine, by the real commands on a small real training
job.
"""

from herorun.demo.sandbox import Sandbox
from herorun.demo.setup import block_the_gate, set_the_stage
from herorun.demo.walkthrough import run_walkthrough

__all__ = ["Sandbox", "block_the_gate", "run_walkthrough", "set_the_stage"]
