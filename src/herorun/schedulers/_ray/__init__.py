"""All that is specific to Ray: the job API, the cluster state, packages and worker failures."""
