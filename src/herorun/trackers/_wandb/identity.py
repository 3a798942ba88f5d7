"""What W&B's client requires of a run's identity, online and offline.

Source: what the client, version 0.31, refuses in an id and in a project. Its server is known to
accept ids of 64 characters.
"""

NAME_RULES = {
    "id": r"[A-Za-z0-9_.-]{1,64}",
    "project": r"[^/\\#?%:\x00-\x1f]{1,128}",
    "entity": r"[^/\s]+",
}
