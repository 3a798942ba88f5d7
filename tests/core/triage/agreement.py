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
        (name, expectation, judged((folder / name).read_bytes()).failure.value)
        for name, expectation in rows
    ]
    for name, expectation, actual in verdicts:
        if expectation != actual:
            print(f"{name}: people say {expectation}, triage says {actual}")
    expected_counts = Counter(expectation for _, expectation, _ in verdicts)
    agreed_verdicts = Counter(
        expectation for _, expectation, actual in verdicts if expectation == actual
    )
    print("\n| class | logs | agreed |\n| --- | --- | --- |")
    for kind in sorted(expected_counts):
        print(f"| {kind} | {expected_counts[kind]} | {agreed_verdicts[kind]} |")
    print(f"| all | {expected_counts.total()} | {agreed_verdicts.total()} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
