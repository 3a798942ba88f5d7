"""Two curves, step by step: what differs, by the gates that a person set before, and what was not
put to the test.
"""
