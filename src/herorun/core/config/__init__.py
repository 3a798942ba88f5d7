"""The run's settings: reading config files, and what a difference between two of them means."""
