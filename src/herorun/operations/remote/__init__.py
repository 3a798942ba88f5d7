"""Remote machines: patrol, waiting, watchers, timers, the runbook."""
