"""Bare curves through the live checks: alerts, a score against labels, and the rules of others
beside ours.
"""
