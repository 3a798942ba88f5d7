"""Orders and notes of people."""
