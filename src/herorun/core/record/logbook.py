"""The logbook's pages: `tiny.md`, and when that has grown long `tiny_002.md`, `tiny_003.md` and so
on. Pure.

Each page has the two sections of the template, and a closed one ends with a link to the next; the
Run Contract is in the first. A closed page never changes again, so that an entry changes one page
in git, however long the run.
"""

from collections.abc import Iterable, Sequence

from herorun.core.journal import JournalLine
from herorun.core.lazy_regex import lazy_regex
from herorun.core.record.logbook_entries import EVENTS, INSTANCES
from herorun.core.record.render import add_entries, entries_of

PAGE = 64 * 1024  # bytes after which the next entry begins another page: most runs have one
_PART_NUMBER = lazy_regex(r"_(\d{3,})\.md")
_CLOSING = lazy_regex(r"\n\nContinued in \[(?P<name>[^\]\n]+)\]\((?P=name)\)\.\n\Z")


def page_path(first: str, number: int) -> str:
    """
    >>> page_path("a/tiny.md", 1), page_path("a/tiny.md", 2)
    ('a/tiny.md', 'a/tiny_002.md')
    """
    return first if number == 1 else f"{first.removesuffix('.md')}_{number:03}.md"


def page_number(first: str, path: str) -> int | None:
    """None for what is no page of that logbook.

    >>> page_number("a/tiny.md", "a/tiny.md"), page_number("a/tiny.md", "a/tiny_012.md")
    (1, 12)
    """
    if path == first:
        return 1
    match = _PART_NUMBER.fullmatch(path.removeprefix(first.removesuffix(".md")))
    number = int(match[1]) if match else 0
    return number if number > 1 and path == page_path(first, number) else None


def pages_of(first: str, paths: Iterable[str]) -> list[str]:
    """Those among some paths that are pages of one logbook, in their order."""
    numbers = {path: page_number(first, path) for path in paths}
    return sorted(
        (path for path, number in numbers.items() if number), key=lambda path: numbers[path] or 0
    )


def add_to_pages(
    first: str, number: int, text: str, lines: Iterable[JournalLine]
) -> dict[str, str]:
    """The pages that change, by path, with the entries of some journal lines after those of page
    `number`.
    """
    pages: dict[str, str] = {}
    entries: list[tuple[str, str]] = []
    size = len(text.encode())
    for section, entry in entries_of(lines):
        if size >= PAGE:
            pages[page_path(first, number)] = close_page(
                add_entries(text, entries), first, number + 1
            )
            number, entries = number + 1, []
            text = page_heading(first, number)
            size = len(text.encode())
        entries.append((section, entry))
        size += len(entry.encode()) + 2  # the blank line before it
    return {**pages, page_path(first, number): add_entries(text, entries)}


def page_heading(first: str, number: int) -> str:
    """A page after the first, before its first entry."""
    slug, before = _base_name(first).removesuffix(".md"), _base_name(page_path(first, number - 1))
    return (
        f"# {slug}: Hero Run Logbook, page {number}\n\nContinued from [{before}]({before}).\n\n"
        f"{INSTANCES}\n\n{EVENTS}\n"
    )


def close_page(text: str, first: str, following: int) -> str:
    """A page that the page numbered `following` comes after."""
    name = _base_name(page_path(first, following))
    return f"{text.rstrip()}\n\nContinued in [{name}]({name}).\n"


def reopen_page(text: str) -> tuple[str, str]:
    """A page without the link with which it was closed, and the name of the page that the link
    leads to.
    """
    match = _CLOSING.search(text)
    return (text[: match.start()] + "\n", match["name"]) if match else (text, "")


def parts(text: str) -> tuple[str, str, str]:
    """What stands before the sections, Launched Instances, Event Log."""
    head, _, sections = reopen_page(text)[0].partition(f"\n{INSTANCES}")
    instances, _, events = sections.partition(f"\n{EVENTS}")
    return head, instances, events


def join_pages(pages: Sequence[str]) -> str:
    """All pages as one text in the seed's shape; a logbook of one page as it is."""
    if len(pages) < 2:
        return "".join(pages)
    split = [parts(page) for page in pages]
    sections = [split[0][0].rstrip()]
    for heading, number in ((INSTANCES, 1), (EVENTS, 2)):
        sections += [heading, *filter(None, (part[number].strip() for part in split))]
    return "\n\n".join(sections) + "\n"


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
