"""What only MLflow knows: its REST API, runs and histories."""
