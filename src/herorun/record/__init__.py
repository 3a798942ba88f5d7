"""The durable record: journal and logbook on their own branch, written by git plumbing.

The truth is the commit at `refs/herorun/record/<slug>`. Recording never touches the user's
checkout, so it can never dirty the tree that it records.
"""

from herorun.record.fetch import fetch_together
from herorun.record.model import FoldedMemory, Pushed
from herorun.record.protocol import RunRecord
from herorun.record.reader import HOME, MAX_BYTES
from herorun.record.remote import Record

__all__ = ["HOME", "MAX_BYTES", "FoldedMemory", "Pushed", "Record", "RunRecord", "fetch_together"]
