"""How a run is now: its evidence against the health checks, without acting."""
