"""How often triage agrees with people: `python tests/core/triage/agreement.py FOLDER`.

FOLDER holds logs and an INDEX.csv with the columns `file` and `class`.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

from judged import judged


def main(folder: Path) -> None:
    with (folder / "INDEX.csv").open(encoding="utf-8", newline="") as index:
        rows = [(row["file"], row["class"]) for row in csv.DictReader(index)]
    said = [
        (name, wanted, judged((folder / name).read_bytes()).failure.value) for name, wanted in rows
    ]
    for name, wanted, found in said:
        if wanted != found:
            print(f"{name}: people say {wanted}, triage says {found}")
    asked = Counter(wanted for _, wanted, _ in said)
    agreed = Counter(wanted for _, wanted, found in said if wanted == found)
    print("\n| class | logs | agreed |\n| --- | --- | --- |")
    for kind in sorted(asked):
        print(f"| {kind} | {asked[kind]} | {agreed[kind]} |")
    print(f"| all | {asked.total()} | {agreed.total()} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
