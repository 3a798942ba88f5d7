"""Jobs that others submitted, queried by the ids that their back ends gave them: one module per
kind.
"""
