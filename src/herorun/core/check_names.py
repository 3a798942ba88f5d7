"""Names that checks had in earlier versions. Contracts, waivers and journals that use them stay
valid.

A journal is verified by its own text; only what is decoded from it gets the present names.
"""

from collections.abc import Mapping

from herorun.core.lazy_regex import lazy_regex

RENAMED: Mapping[str, str] = {
    "blind": "monitor-blind",
    "collapsed-loss": "zero-loss",
    "crowded-host": "host-contention",
    "doubled-rows": "duplicate-rows",
    "mixed-rows": "interleaved-writers",
    "moved-output": "output-moved",
    "no-logbook": "no-record",
    "other-command": "command-mismatch",
    "spent-learning-rate": "exhausted-learning-rate",
    "stale-handoff": "outdated-checkpoint-path",
    "unproved-job": "unverified-job",
    "unpushed-logbook": "unpushed-record",
    "untrained-again": "weights-reset",
    "wedged": "stalled-by-infrastructure",
}
# An alert's key is `check[subject]@time`, alone or within the key of an action.
_IN_A_KEY = lazy_regex(rf"(?:(?<=/)|^)({'|'.join(RENAMED)})(?=[\[@])")


def current_name(name: str) -> str:
    """What a check is called now.

    >>> current_name("wedged"), current_name("dirty-tree")
    ('stalled-by-infrastructure', 'dirty-tree')
    """
    return RENAMED.get(name, name)


def current_key(key: str) -> str:
    """The key of an alert or of an action, with its check as it is called now.

    >>> current_key("tell/blind@2026-01-01T12:00:00Z/firing")
    'tell/monitor-blind@2026-01-01T12:00:00Z/firing'
    """
    return _IN_A_KEY.sub(lambda match: RENAMED[match[1]], key)
