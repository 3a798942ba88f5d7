"""What was admitted, and whether what runs is that.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

from herorun.core.admission.comparing import compare, refused
from herorun.core.admission.devices import seen_devices
from herorun.core.admission.environment import is_salted, salted
from herorun.core.admission.items import FAIL, PASS, SCHEMA, UNSEEN, Item, Presented, sealed

__all__ = [
    "FAIL",
    "PASS",
    "SCHEMA",
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
