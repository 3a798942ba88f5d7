"""What the clients of trackers print into a job's log: the run they report to, and dropped rows.

Not in the adapters: a log is read for any tracker. A job without a contract names none, and a
trainer that reports to W&B while its contract names a file of rows is a finding.
"""

import re

from herorun.core.lazy_regex import lazy_regex

KEYWORDS = ("is less than", "view run")  # each line of interest holds one of them
MAX_LINE = 2_000  # characters of a line: a log may hold a line of megabytes, and a tick must end
_RUN_URL = lazy_regex(r"wandb: .*View run .*?(https?://[^/\s]+)/([^/\s]+/[^/\s]+)/runs/([^/\s?]+)")
# W&B's client, and Levanter's, Lightning's and older ones' words for the same: the row is dropped.
_DROPPED_ROW = lazy_regex(
    r"\b(?:log to step|step:?) (\d{1,18}) (?:that )?is less than (?:the )?current (?:W&B )?step:? "
    r"(\d{1,18})",
    re.IGNORECASE,
)
_LINK = lazy_regex(
    r"https?://[^\s'\"<>]+/[^\s/'\"<>]+/[^\s/'\"<>]+/runs/[A-Za-z0-9_.-]*[A-Za-z0-9_-]"
)
_BARE = lazy_regex(r"(?<![\w/.:-])/?runs/([A-Za-z0-9_-]{4,64})\b")


def reported_run(line: str) -> tuple[str, str] | None:
    """The run, as `entity/project/id`, and the server that shows it, as `https://host`.

    >>> reported_run("wandb: View run tiny at: https://wandb.ai/a/b/runs/ab12cd34")
    ('a/b/ab12cd34', 'https://wandb.ai')
    """
    match = _RUN_URL.search(line)
    if not match:
        return None
    server = match[1].rpartition("@")[2]
    return f"{match[2]}/{match[3]}", server if "://" in server else f"https://{server}"


def dropped_step(line: str) -> tuple[int, int] | None:
    """The step of a row that the client dropped, and the step it had come to.

    >>> dropped_step("Step 3 is less than current W&B step 120")
    (3, 120)
    """
    match = _DROPPED_ROW.search(line)
    return (int(match[1]), int(match[2])) if match else None


def tracker_runs(text: str) -> tuple[str, ...]:
    """Links of tracker runs, in order and each once; the id alone where a line has no link.

    >>> tracker_runs("wandb: 🚀 View run at https://wandb.ai/marin/exp/runs/ab12cd34\\n")
    ('https://wandb.ai/marin/exp/runs/ab12cd34',)
    """
    lines = [line[:MAX_LINE] for line in text.splitlines() if "runs/" in line]
    links = dict.fromkeys(match.rstrip(".") for line in lines for match in _LINK.findall(line))
    linked_ids = {link.rpartition("/")[2] for link in links}
    without = "\n".join(_LINK.sub(" ", line) for line in lines)
    ids = dict.fromkeys(match for match in _BARE.findall(without) if match not in linked_ids)
    return (*links, *ids)


def run_id(link: str) -> str:
    """
    >>> run_id("https://wandb.ai/marin/exp/runs/ab12cd34")
    'ab12cd34'
    """
    return link.rpartition("/")[2]
