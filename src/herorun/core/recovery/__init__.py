"""What an ended run is owed: how it ended, what the contract lets us do, and whether it is
relaunched.
"""
