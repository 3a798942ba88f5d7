"""Messages of schedulers and runtimes which say that a job lacks resources or has lost a part of
itself.

Source: marin-community/marin, job-monitoring loop: with no progress over several cadences these
mean `degraded`; and the words in which Ray itself says so.
"""

import re

from herorun.core.lazy_regex import lazy_regex

SIGNALS = (
    ("owner death", lazy_regex(r"OwnerDiedError|owner (has )?died", re.IGNORECASE)),
    (
        "dead node",
        lazy_regex(
            r"\bdead node\b|\bnode death\b|NodeDiedError|node (has )?died|has been marked dead",
            re.IGNORECASE,
        ),
    ),
    (
        "unsatisfied resources",
        lazy_regex(
            r"autoscaler.{0,80}unsatisfi|unsatisfied resource|insufficient resources|cannot be "
            r"scheduled|no available node types can fulfill",
            re.IGNORECASE,
        ),
    ),
)
# A line with a signal holds one of these, in any case.
WORDS = (
    "ownerdied", "owner died", "owner has died", "dead node", "node death", "nodedied", "node died", "node has died",  # noqa: E501  # one entry of a table, or one recorded value
    "marked dead", "unsatisfi", "insufficient resources", "cannot be scheduled", "no available node types",  # noqa: E501  # one entry of a table, or one recorded value
)  # fmt: skip


def signal_in(line: str) -> str:
    """What a line mentions; empty if of none of these."""
    return next((name for name, pattern in SIGNALS if pattern.search(line)), "")
