"""The digests of a checkpoint's content, as a seal makes them; compared with `sha256sum` with one
process a core.

Both read the same files, which the machine's memory holds by then, so that processors are compared
and not disks.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row, in_turns, process, run

ROUNDS = 3
PART = 256 << 20  # bytes of a file, about what a shard of a checkpoint has
PARTS = 40  # 10 GiB
SUM_COMMAND = "find . -type f -print0 | xargs -0 -n 1 -P {cores} sha256sum"
SEAL_PROGRAM = """
import sys
from herorun.operations.checkpoints.manifest import read_contents, read_manifest
from herorun.stores.local import LocalStore
store, path = LocalStore(), sys.argv[1]
for file in read_contents(store, read_manifest(store, path)).files:
    print(file.checksum.partition(":")[2], "", f"./{file.name}")
"""


def rows(home: Path) -> Iterator[Row]:
    folder = home / "step-100"
    parts = write_parts(folder)
    alternative = SUM_COMMAND.format(cores=os.cpu_count())
    ours, theirs = (sys.executable, "-c", SEAL_PROGRAM, str(folder)), ("sh", "-c", alternative)
    if sorted(run(ours).splitlines()) != sorted(run(theirs, folder).splitlines()):
        raise SystemExit("the digests are not those that sha256sum prints")
    costs = in_turns({"seal": process(*ours), "sha256sum": process(*theirs, cwd=folder)}, ROUNDS)
    size = f"{parts * PART / 2**30:g} GiB in {parts} files"
    yield Row(
        f"SHA-256 of a local checkpoint for its seal, {size}, whole process",
        costs["seal"],
        f"`sha256sum`, {os.cpu_count()} processes at a time",
        costs["sha256sum"],
    )


def write_parts(folder: Path) -> int:
    """How many parts there are: fewer than 10 GiB where disk or memory are short."""
    folder.mkdir()
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    parts = max(1, min(PARTS, int(min(shutil.disk_usage(folder).free, free) * 0.6 / PART)))
    block = os.urandom(PART)
    for number in range(parts):
        (folder / f"{number:02}.bin").write_bytes(number.to_bytes(8, "big") + block[8:])
    os.sync()
    return parts
