"""Jobs that others submitted, looked at by the ids that their back ends gave them: one kind a
module.
"""
