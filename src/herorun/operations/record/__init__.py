"""The durable parts of a run: logbook, issue, pages, lease, heartbeat, registry."""
