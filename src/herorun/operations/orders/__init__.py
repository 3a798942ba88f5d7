"""What people order about a run, and what they write to it."""
