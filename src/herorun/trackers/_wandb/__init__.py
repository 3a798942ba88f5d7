"""What only W&B knows: its API in a process of its own, runs, identities, and offline records."""
