"""Checks that an installed package brings: asked like our own, and unknown where they cannot be imported."""

import os
import subprocess
import sys
from pathlib import Path

from herorun.core.check import Gate

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


def test_a_foreign_check_is_asked_and_a_broken_one_is_unknown_and_blocks(tmp_path: Path) -> None:
    (tmp_path / "moon.py").write_text(CHECK)
    (tmp_path / "eclipse.py").write_text("import a_module_that_is_not_there\n")
    facts = tmp_path / "moon-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: moon\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[herorun.checks]\nmoon = moon\neclipse = eclipse\n")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1] / "src")])
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"broken-check-eclipse-{Gate.LAUNCH} block unknown",
        "full-moon warn pass",
    ]
