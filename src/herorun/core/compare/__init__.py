"""Compares two curves step by step, by gates that a person set beforehand, and lists what was not
tested.
"""
