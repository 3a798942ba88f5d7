"""What only Slurm knows: its commands, their tables, states and limits, and the files of a job."""
