"""Finishing a run for good, and proving it again later."""
