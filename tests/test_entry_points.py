"""Checks that an installed package brings: asked like our own, and unknown where they cannot be
imported.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from herorun.core.check import Gate

TOP = Path(__file__).parents[1]
CHECK = '''"""The moon is full.

Why: it is a test.
Fix: wait.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Now
from herorun.core.finding import Verdict, passed


@check(Gate.LAUNCH, Response.WARN)
def full_moon(now: Now) -> Verdict:
    return passed("it is not")
'''
ASK = """
from herorun import discover
from herorun.core.check import Gate, evaluate
for check in discover.checks(Gate.LAUNCH):
    if "moon" in check.name or "broken" in check.name:
        (finding,) = evaluate([check], {need: None for need in check.needs})
        print(check.name, check.response, finding.verdict.outcome)
"""


CONNECT = """
from herorun import discover
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Scheduler, missing_members
place = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
for kind in ("queue", "older"):
    try:
        print(missing_members(Scheduler, discover.connect("schedulers", kind, {}, place)))
    except WrongUse as error:
        print(error)
"""


def asked(folder: Path, entry_points: str, script: str) -> str:
    """What a script prints beside an installed package whose modules lie in the folder."""
    facts = folder / "moon-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: moon\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(entry_points)
    path = os.pathsep.join([str(folder), str(TOP / "src")])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_foreign_scheduler_is_used_and_one_that_lacks_a_member_is_refused(tmp_path: Path) -> None:
    whole = (TOP / "templates" / "scheduler.py").read_text()
    (tmp_path / "queue_whole.py").write_text(whole)
    (tmp_path / "queue_older.py").write_text(
        re.sub(r"^    everywhere = .*$", "", whole, flags=re.MULTILINE)
    )
    told = asked(
        tmp_path, "[herorun.schedulers]\nqueue = queue_whole\nolder = queue_older\n", CONNECT
    )
    assert told.splitlines() == [
        "()",
        (
            "The adapter 'older' of [scheduler] kind lacks everywhere, which core.ports.Scheduler "
            "asks for."
        ),
    ]


def test_a_foreign_check_is_asked_and_a_broken_one_is_unknown_and_blocks(tmp_path: Path) -> None:
    (tmp_path / "moon.py").write_text(CHECK)
    (tmp_path / "eclipse.py").write_text("import a_module_that_is_not_there\n")
    done = asked(tmp_path, "[herorun.checks]\nmoon = moon\neclipse = eclipse\n", ASK)
    assert done.splitlines() == [
        f"broken-check-eclipse-{Gate.LAUNCH} block unknown",
        "full-moon warn pass",
    ]
