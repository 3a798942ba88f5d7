"""What check-in adds to a job: import, compare 2,000 files, write the receipt; compared with a bare
start.

It stops comparing when its time is over, and its receipt says how far it came; so does the table.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scratch import repository
from benchmarks.timing import Row, in_turns, process
from herorun.system.file_digest import file_digests

ROUNDS = 15
CALL = "import herorun; herorun.check_in(tracker_id='tiny', loaded=None)"


def rows(home: Path) -> Iterator[Row]:
    work = repository(home)
    names = [str(path.relative_to(work)) for path in (work / "package").rglob("*.py")]
    admission = {
        "schema": 1,
        "instance": "tiny-1",
        "argv": [sys.executable, "-c", CALL],
        "code": str(work),
        "output_root": str(home / "data"),
        "tracker_id": "tiny",
        "start": None,
        "files": file_digests(str(work), names),
    }
    path = home / "admission.json"
    path.write_text(json.dumps(admission), encoding="utf-8")
    costs = in_turns(
        {
            "bare": process(sys.executable, "-c", "pass"),
            "numpy": process(sys.executable, "-c", "import numpy"),
            "check-in": process(sys.executable, "-c", CALL, env={"HERORUN_ADMISSION": str(path)}),
        },
        ROUNDS,
    )
    what = f"`check_in()`, {code_item(home / 'data')}, whole process"
    yield Row(what, costs["check-in"], "`python -c pass`", costs["bare"])
    yield Row(what, costs["check-in"], "`python -c 'import numpy'`", costs["numpy"])


def code_item(root: Path) -> str:
    """How many files the newest receipt says were compared."""
    receipts = (root / "_herorun" / "receipts").glob("*.json")
    newest = max(receipts, key=lambda path: path.stat().st_mtime_ns)
    items = json.loads(newest.read_text(encoding="utf-8"))["items"]
    return next(str(item["message"]) for item in items if item["item"] == "code")
