"""Shared by several health checks: pure readings of disks, checkpoints, queues and liveness."""
