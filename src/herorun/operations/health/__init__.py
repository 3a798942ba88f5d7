"""The present health of a run: evaluates its evidence without acting."""
