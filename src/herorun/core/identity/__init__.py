"""The tracker's identity: what a launch means to do with an id, and what becomes of it."""
