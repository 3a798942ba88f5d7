"""What only NeMo Evaluator Launcher (nel) knows: its client, states, results, and nel on Slurm."""
