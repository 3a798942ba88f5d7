"""The tracker's identity: what a launch intends with a run id, and what the tracker will do with
it.
"""
