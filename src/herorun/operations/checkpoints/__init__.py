"""Lists checkpoints, plans which may be deleted, and reads their content."""
