"""The pages that people write stay short enough to be read and kept true: they have a limit of
words, counted as `wc -w` counts them.
"""

import re
from pathlib import Path

TOP = Path(__file__).parents[2]
MAX_WORDS = 17_000  # words
PRINTED_MARK = re.compile(r"^<!-- (?:Printed|Written) by .* -->$", re.MULTILINE)
PART = re.compile(r"^<!-- \w+ -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def written_by_hand() -> list[Path]:
    """All pages, except those that name their printer; the changelog only grows."""
    pages = [TOP / f"{name}.md" for name in ("README", "CONTRIBUTING", "AGENTS")]
    pages += sorted((TOP / "docs").rglob("*.md"))
    return [page for page in pages if not PRINTED_MARK.search(page.read_text(encoding="utf-8"))]


def words_of(page: Path) -> int:
    """Without the parts that a program prints between two marks."""
    return len(PART.sub("", page.read_text(encoding="utf-8")).split())


def test_the_pages_written_by_hand_have_a_limit_of_words() -> None:
    words = {page: words_of(page) for page in written_by_hand()}
    longest = sorted(words, key=words.__getitem__)[-5:]
    assert sum(words.values()) <= MAX_WORDS, (
        f"{sum(words.values())} words: remove what a printed page or another page says. "
        f"The longest: {[f'{page.relative_to(TOP)} {words[page]}' for page in longest]}"
    )


def test_only_pages_that_a_program_writes_are_left_out() -> None:
    pages = {path.relative_to(TOP / "docs").as_posix() for path in (TOP / "docs").rglob("*.md")}
    counted_pages = {page.name for page in written_by_hand()}
    assert {page for page in pages if Path(page).name not in counted_pages} == {
        "agents.md",
        "backtest.md",
        "benchmarks.md",
        "checks.md",
        "cli.md",
        "contract.md",
        "json.md",
        "library.md",
        "metrics.md",
        "mutants.md",
        "triage.md",
    }
