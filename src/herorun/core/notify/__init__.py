"""Notifications: who is asked or told, through which channel, how often and when."""
