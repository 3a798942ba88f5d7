"""Scanning a log for every signature, compared with ripgrep (or grep, where there is none)
searching the same keywords.
"""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.timing import Row, cpu_seconds, in_turns
from herorun.core.triage.prefilter import EDGE
from herorun.core.triage.scan import Scan, finish, scan
from herorun.core.triage.state import AttemptLog, see
from herorun.signatures import load_signature_set

ROUNDS = 3
MEGABYTES = 100
BLOCK = 1 << 17  # bytes, as the command reads


def rows(home: Path) -> Iterator[Row]:
    keywords = home / "keywords"
    words = {
        keyword.strip(EDGE)
        for signature in load_signature_set().signatures
        for keyword in signature.keywords
    }
    keywords.write_text("\n".join(sorted(words)) + "\n", encoding="utf-8")
    for what, lines in (
        ("a training log", training()),
        ("a log whose lines all say INFO", informing()),
        ("prose, no two lines alike", prose()),
    ):
        log = filled_file(home / "log", lines)
        program, searching = search(keywords, log)
        costs = in_turns({"scan": scanning(log), "search": searching}, ROUNDS, cpu_seconds)
        yield Row(
            f"triage of {MEGABYTES} MB, {what}",
            costs["scan"],
            f"`{program}` the keywords",
            costs["search"],
        )


def scanning(log: Path) -> Callable[[], None]:
    def act() -> None:
        signature_set, state, attempt = load_signature_set(), Scan(), AttemptLog()
        with log.open("rb") as file:
            while block := file.read(BLOCK):
                state, matches = scan(signature_set, state, block)
                attempt = see(attempt, matches)
        see(attempt, finish(signature_set, state)[1])

    return act


def search(keywords: Path, log: Path) -> tuple[str, Callable[[], None]]:
    """Lines with any keyword, counted; 1 is its exit code where there are none."""
    own_ripgrep = Path(sys.executable).parent / "rg"  # where the development requirements put it
    finder = shutil.which("rg") or (str(own_ripgrep) if own_ripgrep.exists() else "grep")
    program = Path(finder).name
    argv = [finder, "-c", "-i", "-F", "-f", str(keywords), str(log)]

    def act() -> None:
        process = subprocess.run(argv, capture_output=True, check=False)
        if process.returncode > 1:
            raise SystemExit(f"{program}: {process.stderr.decode()}")

    return f"{program} -ciF", act


def filled_file(path: Path, lines: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as log:
        size = 0
        while size < MEGABYTES * 1_000_000:
            size += log.write(next(lines) + "\n")
    return path


def training() -> Iterator[str]:
    """What eight ranks print: progress, rows of JSON, checkpoints, a warning now and then."""
    lot, step = random.Random(1), 0
    while True:
        step += 1
        when = f"2026-01-01T{step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}Z"
        numbers = {
            "step": step,
            "loss": lot.random() * 4,
            "grad_norm": lot.random(),
            "mfu": lot.random(),
        }
        yield json.dumps(numbers)
        for rank in range(8):
            yield (
                f"{when} [rank{rank}] step {step}/500000 loss {lot.random() * 4:.4f} tokens/s "
                f"{lot.randrange(10**6)}"
            )
        if step % 100 == 0:
            yield (
                f"{when} INFO Saved checkpoint to /ckpt/{lot.randbytes(8).hex()}/step-{step} for "
                f"step {step}"
            )
        if step % 500 == 0:
            yield (
                "a.py:9: UserWarning: the loader's timeout is 1800 s and will be an error in a "
                "later version"
            )


def informing() -> Iterator[str]:
    """As the logging of Python writes them."""
    lot, step = random.Random(3), 0
    while True:
        step += 1
        yield (
            f"2026-01-01 00:{step // 60 % 60:02d}:{step % 60:02d},{step % 1000:03d} [INFO] "
            f"trainer: step {step} loss {lot.random():.4f} tokens/s {lot.randrange(10**6)}"
        )


def prose() -> Iterator[str]:
    """Words as often as in a language, as where a model prints what it generates."""
    lot = random.Random(2)
    words = ["".join(lot.choices("etaoinshrdlucmfw", k=lot.randint(2, 9))) for _ in range(30_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    while True:
        for begin in range(0, 12_000, 12):
            if not begin:
                chosen_words = lot.choices(words, weights, k=12_000)
            yield " ".join(chosen_words[begin : begin + 12])
