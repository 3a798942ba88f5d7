"""Whether this machine and the back ends can do their part."""
