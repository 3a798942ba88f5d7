"""All that is specific to NeMo Evaluator Launcher (nel): client, states, results, nel on Slurm."""
