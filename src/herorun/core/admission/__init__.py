"""The admission, and whether a process matches it.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

from .comparison import compare, refused
from .devices import seen_devices
from .environment import is_salted, salted
from .items import FAIL, PASS, SCHEMA, UNSAID, UNSEEN, Item, Presented, sealed

__all__ = [
    "FAIL",
    "PASS",
    "SCHEMA",
    "UNSAID",
    "UNSEEN",
    "Item",
    "Presented",
    "compare",
    "is_salted",
    "refused",
    "salted",
    "sealed",
    "seen_devices",
]
