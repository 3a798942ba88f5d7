"""The record of a run: its logbook, the lease that guards it, and its verification."""
