"""Other machines: how they are reached, and what runs there by itself."""
