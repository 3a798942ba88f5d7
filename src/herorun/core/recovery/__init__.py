"""What follows the end of an instance: how it ended, what the contract permits, and whether it is
relaunched.
"""
