"""Which checkpoints there are, which may go, and what they hold."""
