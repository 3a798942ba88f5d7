"""Seals a run, and verifies a seal later."""
