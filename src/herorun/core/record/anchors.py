"""Finds commits of the record that things outside it name: our comments, receipts, admissions.
Pure.
"""

import re
from typing import Any

from herorun.core.lazy_regex import lazy_regex

_COMMIT = "[0-9a-f]{40,64}"
# As `commit_link` writes it: a link to its page, otherwise the commit alone.
_LINK = rf"(?:\[`[0-9a-f]{{9}}`\]\(\S+/commit/({_COMMIT})\)|`({_COMMIT})`)"
_LAUNCH = lazy_regex(rf"^- Record: {_LINK}$", re.MULTILINE)
RECEIPT = "HERORUN_RECEIPT "
# launchers put the rank before it
RECEIPT_LINE = lazy_regex(rf"(?:\[\S*\]:?\s*|\d+:\s*)?{RECEIPT}(\{{.*)")


def named_in_comment(slug: str, body: str) -> str:
    """The record commit that a comment of ours names; empty where it names none, or another run's.

    >>> named_in_comment("tiny", f"**Note**\\n\\nwords\\n\\nRun `tiny`, record `{'ab' * 20}`.")[:9]
    'ababababa'
    >>> named_in_comment("tiny", f"Run `other`, record `{'ab' * 20}`.")
    ''
    """
    text = body.replace("\r\n", "\n")
    pattern = re.compile(rf"^Run `{re.escape(slug)}`, record {_LINK}\.$", re.MULTILINE)
    matches = list(pattern.finditer(text))[-1:]  # what is quoted comes before it
    if not matches and re.search(rf"^- Instance: {re.escape(slug)}-[0-9]+$", text, re.MULTILINE):
        matches = list(_LAUNCH.finditer(text))[:1]
    return (matches[0][1] or matches[0][2]) if matches else ""


def receipts_in(log: str) -> list[str]:
    """The JSON of each line of a job's log that is a receipt, in their order; it may be damaged.

    >>> receipts_in("begins\\n[rank0]: HERORUN_RECEIPT {}\\nof HERORUN_RECEIPT {}")
    ['{}']
    """
    return [match[1] for line in log.splitlines() if (match := RECEIPT_LINE.match(line))]


def named_in_receipt(slug: str, document: Any) -> str:
    """The record commit in the JSON of a receipt or an admission; empty where there is none, or it
    is another run's.

    >>> named_in_receipt("tiny", {"instance": "tiny-1", "record": "ab" * 20}) == "ab" * 20
    True
    >>> named_in_receipt("tiny", {"instance": "tiny-1", "record": None})
    ''
    """
    if not isinstance(document, dict) or not re.fullmatch(
        rf"{re.escape(slug)}-[0-9]+", str(document.get("instance"))
    ):
        return ""
    commit = document.get("record")
    return commit if isinstance(commit, str) and re.fullmatch(_COMMIT, commit) else ""
