"""What the wall time of a run went into, from its journal and its rows alone."""
