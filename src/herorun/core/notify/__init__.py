"""Notifications: who is asked or notified, through which channel, how often and when."""
