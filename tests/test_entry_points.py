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
from herorun.core.ports import Place, missing_members
place = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
for port in ("schedulers", "trackers", "notifiers"):
    for kind in ("theirs", "older"):
        try:
            adapter = discover.connect(port, kind, {}, place)
            print(port, missing_members(discover.PORTS[port], adapter))
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


FOREIGN = {  # template -> a member of its port that an older package has not
    "scheduler": r"^    everywhere = .*$",
    "tracker": r"^    def read\b",
    "notifier": r"^    def find\b",
}


def test_foreign_adapters_are_used_and_those_that_lack_a_member_are_refused(tmp_path: Path) -> None:
    entry_points = ""
    for template, member in FOREIGN.items():
        whole = (TOP / "templates" / f"{template}.py").read_text()
        (tmp_path / f"their_{template}.py").write_text(whole)
        lacking = re.sub(member, "    def renamed", whole, flags=re.MULTILINE)
        lacking = lacking.replace("    def renamed\n", "")  # an attribute's whole line
        (tmp_path / f"older_{template}.py").write_text(lacking)
        entry_points += (
            f"[herorun.{template}s]\ntheirs = their_{template}\nolder = older_{template}\n"
        )
    told = asked(tmp_path, entry_points, CONNECT)
    refused = "The adapter 'older' of {} lacks {}, which core.ports.{} asks for."
    assert told.splitlines() == [
        "schedulers ()",
        refused.format("[scheduler] kind", "everywhere", "Scheduler"),
        "trackers ()",
        refused.format("[tracker] kind", "read", "Tracker"),
        "notifiers ()",
        refused.format("[issue] kind or [notify] kinds", "find", "Notifier"),
    ]


def test_a_foreign_check_is_asked_and_a_broken_one_is_unknown_and_blocks(tmp_path: Path) -> None:
    (tmp_path / "moon.py").write_text(CHECK)
    (tmp_path / "eclipse.py").write_text("import a_module_that_is_not_there\n")
    done = asked(tmp_path, "[herorun.checks]\nmoon = moon\neclipse = eclipse\n", ASK)
    assert done.splitlines() == [
        f"broken-check-eclipse-{Gate.LAUNCH} block unknown",
        "full-moon warn pass",
    ]
