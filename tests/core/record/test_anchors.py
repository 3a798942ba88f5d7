"""Which record commit a comment or a receipt names."""

from typing import Any

import pytest

from herorun.core.identity.links import commit_link
from herorun.core.record.anchors import named_in_comment, named_in_receipt

SHA, OTHER = "ab" * 20, "cd" * 20
ISSUE = "https://github.com/lab/runs/issues/7"
LINK = commit_link(SHA, "git@github.com:lab/runs.git", ISSUE)
LAUNCH = (
    "🤖 **Hero run requested: tiny-1**\n\n- Instance: tiny-1\n- Commit: `{other}`\n- Record: "
    "{link}\n"
)
COMMENTS = {
    "a link": (f"🤖 **x**\n\nwords\n\nRun `tiny`, record {LINK}.", SHA),
    "the commit alone": (f"words\n\nRun `tiny`, record `{SHA}`.\n\n<!-- herorun key=a -->", SHA),
    "SHA-256": (f"Run `tiny`, record `{'ab' * 32}`.", "ab" * 32),
    "lines as the web ends them": (f"words\r\n\r\nRun `tiny`, record `{SHA}`.\r\n\r\nmore", SHA),
    "a quoted one before ours": (
        f"Run `tiny`, record `{OTHER}`.\n\nRun `tiny`, record {LINK}.",
        SHA,
    ),
    "a launch": (LAUNCH.format(link=LINK, other=OTHER), SHA),
    "a launch of another run": (
        LAUNCH.format(link=LINK, other=OTHER).replace("tiny-1", "tiny-big-1"),
        "",
    ),
    "another run's": (f"Run `tiny-big`, record {LINK}.", ""),
    "in the middle of words": (f"he said: Run `tiny`, record {LINK}.", ""),
    "not pushed": ("Run `tiny`, record not pushed yet.", ""),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_a_comment_names_its_runs_record(name: str) -> None:
    body, commit = COMMENTS[name]
    assert named_in_comment("tiny", body) == commit


RECEIPTS: dict[str, tuple[Any, str]] = {
    "one": ({"instance": "tiny-12", "record": SHA}, SHA),
    "another run's": ({"instance": "tiny-big-1", "record": SHA}, ""),
    "of before the first push": ({"instance": "tiny-1", "record": None}, ""),
    "no commit": ({"instance": "tiny-1", "record": "--upload-pack=x"}, ""),
    "no table": ([SHA], ""),
    "empty": ({}, ""),
}


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_receipt_names_its_runs_record(name: str) -> None:
    receipt, commit = RECEIPTS[name]
    assert named_in_receipt("tiny", receipt) == commit
