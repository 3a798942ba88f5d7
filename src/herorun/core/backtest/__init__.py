"""Runs the live checks over bare curves: alerts, a score against labels, and baselines."""
