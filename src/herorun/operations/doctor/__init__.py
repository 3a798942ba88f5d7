"""Whether this machine and the back ends work."""
