"""The run's durable side: logbook, issue, pages, lease, heartbeat, registry."""
