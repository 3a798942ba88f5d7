"""All that is specific to Slurm: its commands, their tables, states, limits, and a job's files."""
