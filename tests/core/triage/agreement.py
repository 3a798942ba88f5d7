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
    verdicts = [
        (name, expected, judged((folder / name).read_bytes()).failure.value)
        for name, expected in rows
    ]
    for name, expected, actual in verdicts:
        if expected != actual:
            print(f"{name}: people say {expected}, triage says {actual}")
    expected_counts = Counter(expected for _, expected, _ in verdicts)
    agreed = Counter(expected for _, expected, actual in verdicts if expected == actual)
    print("\n| class | logs | agreed |\n| --- | --- | --- |")
    for kind in sorted(expected_counts):
        print(f"| {kind} | {expected_counts[kind]} | {agreed[kind]} |")
    print(f"| all | {expected_counts.total()} | {agreed.total()} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
