"""What only Ray knows: the job API, the cluster state, packages and worker failures."""
