"""A job that logs by `herorun.log` alone: its babysitter reads the rows where the contract's
tracker looks.
"""

import sys
from pathlib import Path

from stories import SLUG, Story

SOURCES = str(Path(__file__).parents[3] / "src")
JOB = """\
import herorun, math
for step in range(4):
    assert herorun.log({"train/loss": 2.5 - step / 10, "odd": math.nan}, step=step)
"""


def test_what_a_job_logs_its_babysitter_reads(story: Story) -> None:
    (story.work / "train.py").write_text(JOB)
    story.sign(
        command={"argv": [sys.executable, "-S", "train.py"], "env": {"PYTHONPATH": SOURCES}},
        tracker={"path": "logs/rows.jsonl"},
    )
    story.run_first_job()
    rows = story.run.tracker.read("").rows
    assert [(row.step, row.values["train/loss"]) for row in rows] == [
        (0, 2.5),
        (1, 2.4),
        (2, 2.3),
        (3, 2.2),
    ]
    assert (story.root / "logs" / "rows.jsonl").exists() and SLUG in str(story.root)
