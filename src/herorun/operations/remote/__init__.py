"""Machines elsewhere: patrol, waiting, watchers, timers, the runbook."""
