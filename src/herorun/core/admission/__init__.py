"""The admission, and whether a process matches it.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

from .comparison import compare, list_refused_items
from .devices import seen_devices
from .environment import digest_with_salt, is_salted
from .items import FAIL, PASS, SCHEMA, UNKNOWN, UNSAID, Item, JobFacts, digest_secret

__all__ = [
    "FAIL",
    "PASS",
    "SCHEMA",
    "UNKNOWN",
    "UNSAID",
    "Item",
    "JobFacts",
    "compare",
    "digest_secret",
    "digest_with_salt",
    "is_salted",
    "list_refused_items",
    "seen_devices",
]
