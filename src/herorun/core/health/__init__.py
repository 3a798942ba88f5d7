"""What several health checks share: pure readings of disks, saves, queues and signs of life."""
