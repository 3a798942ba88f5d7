"""A long logbook has pages: each entry stands on one, and whatever is done to one of them
afterwards is found.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.event import Initialised, Launched, Noted
from herorun.core.journal import JournalLine, chain
from herorun.core.record import logbook as module
from herorun.core.record.logbook import add_to_pages, join_pages, page_number, page_path, pages_of
from herorun.core.record.logbook_entries import EVENTS, INSTANCES
from herorun.core.record.render import add_entries, digest_of, entries_of, new_logbook
from herorun.core.record.verify import RecordSnapshot, judge_history
from herorun.system.templates import template
from wording import mentions

FIRST = ".agents/logbooks/tiny.md"
SECOND, THIRD = ".agents/logbooks/tiny_002.md", ".agents/logbooks/tiny_003.md"
NOTES = 12
Pages = dict[str, str]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 1200)


def events() -> list[Initialised | Noted | Launched]:
    notes = [
        Noted(
            NOON + number * timedelta(hours=1),
            "dri",
            f"note {number}",
            {"Status": f"step {number}"},
        )
        for number in range(NOTES)
    ]
    launched_event = Launched(
        at=NOON,
        instance="tiny-2",
        number=2,
        job="job",
        plan_digest="sha256:p",
        output_root="/d",
        commit="c0ffee",
        entry={"Command": "`x`"},
    )
    return [
        Initialised(NOON, "tiny", {"DRI": "@dri"}, "issue.md"),
        *notes[:10],
        launched_event,
        *notes[10:],
    ]


def first_page() -> str:
    return new_logbook(template("logbook.md"), "tiny", {"DRI": "@dri"})


def growing_record() -> Iterator[tuple[list[JournalLine], Pages]]:
    """The lines and the pages after each of the events."""
    pages, lines = {FIRST: first_page()}, list[JournalLine]()
    for line in chain(events(), "", digest_of):
        lines.append(line)
        newest = [*pages][-1]
        pages = pages | add_to_pages(FIRST, page_number(FIRST, newest) or 0, pages[newest], [line])
        yield lines, pages


def snapshot(lines: list[JournalLine], pages: Pages, number: int = 0) -> RecordSnapshot:
    segment = "".join(f"{line.text}\n" for line in lines).encode()
    parents = (f"{number - 1:040}",) if number else ()
    page_bytes = {path: pages[path].encode() for path in pages_of(FIRST, pages)}
    return RecordSnapshot(f"{number:040}", parents, {"20260101.jsonl": segment}, page_bytes)


def history() -> list[RecordSnapshot]:
    return [
        snapshot(list(lines), pages, number)
        for number, (lines, pages) in enumerate(growing_record())
    ]


def last() -> tuple[list[JournalLine], Pages]:
    return list(growing_record())[-1]


# --- how it grows ---------------------------------------------------------------------------------


def test_a_short_logbook_is_one_page_in_the_seeds_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    lines = chain(events(), "", digest_of)
    assert add_to_pages(FIRST, 1, first_page(), lines) == {
        FIRST: add_entries(first_page(), entries_of(lines))
    }


def test_each_page_leads_to_the_next_and_back() -> None:
    _, pages = last()
    assert [*pages] == [FIRST, SECOND, THIRD]
    assert pages[FIRST].endswith("-->\n\nContinued in [tiny_002.md](tiny_002.md).\n")
    assert mentions(
        pages[THIRD], "3", "Continued", "[tiny_002.md](tiny_002.md", f"{INSTANCES}", f"{EVENTS}"
    )
    assert (
        "Continued from [tiny.md](tiny.md)." in pages[SECOND] and "Continued in" not in pages[THIRD]
    )
    assert f"{INSTANCES}\n\n### 2026-01-01 12:00 UTC - tiny-2" in pages[SECOND]


def test_a_closed_page_never_changes_again() -> None:
    fields: Pages = {}
    for _, pages in growing_record():
        for path in [*pages][:-1]:
            assert fields.setdefault(path, pages[path]) == pages[path]
    assert len(fields) == 2


def test_many_entries_at_once_make_the_same_pages() -> None:
    lines, pages = last()
    assert add_to_pages(FIRST, 1, first_page(), lines) == pages


def test_its_pages_are_one_logbook() -> None:
    lines, pages = last()
    assert join_pages([*pages.values()]) == add_entries(first_page(), entries_of(lines))


def test_a_logbook_that_grew_before_there_were_pages_continues_in_another() -> None:
    lines, _ = last()
    old = add_entries(first_page(), entries_of(lines[:-1]))
    pages = add_to_pages(FIRST, 1, old, lines[-1:])
    assert pages[FIRST] == f"{old}\nContinued in [tiny_002.md](tiny_002.md).\n"
    assert join_pages([*pages.values()]) == add_entries(first_page(), entries_of(lines))
    assert (
        judge_history([snapshot(lines[:-1], {FIRST: old}), snapshot(lines, pages, 1)]).faults == ()
    )


def test_pages_are_recognised_from_what_lies_next_to_them() -> None:
    beside = [
        "tiny_001.md",
        "tiny_02.md",
        "tiny_0002.md",
        "tiny_002.txt",
        "tinier_002.md",
        "tiny.journal/x_002.md",
    ]
    paths = [f".agents/logbooks/{name}" for name in beside]
    thousandth = page_path(FIRST, 1000)
    assert pages_of(FIRST, [thousandth, THIRD, *paths, FIRST, SECOND]) == [
        FIRST,
        SECOND,
        THIRD,
        thousandth,
    ]


# --- what is done to it afterwards ----------------------------------------------------------------


def test_what_only_grew_is_clear() -> None:
    assert judge_history(history()).faults == judge_history(history()[-1:]).faults == ()


def entries(page: str) -> list[str]:
    return re.findall(r"^### .*?-->$", page, re.MULTILINE | re.DOTALL)


def without(path: str, number: int) -> Callable[[Pages], Pages]:
    return lambda pages: {
        **pages,
        path: pages[path].replace(f"{entries(pages[path])[number]}\n\n", ""),
    }


def with_(path: str, old: str, new: str) -> Callable[[Pages], Pages]:
    def edit(pages: Pages) -> Pages:
        assert old in pages[path]
        return {**pages, path: pages[path].replace(old, new, 1)}

    return edit


def swap_entries(pages: Pages) -> Pages:
    one, two, *_ = entries(pages[SECOND])
    text = pages[SECOND].replace(one, "@").replace(two, one).replace("@", two)
    return {**pages, SECOND: text}


def move_entry(pages: Pages) -> Pages:
    """The second page's first entry, to the end of the third."""
    entry = entries(pages[SECOND])[0]
    return {**without(SECOND, 0)(pages), THIRD: f"{pages[THIRD]}\n{entry}\n"}


def double_entry(pages: Pages) -> Pages:
    return {**pages, THIRD: f"{pages[THIRD]}\n{entries(pages[SECOND])[0]}\n"}


def exchange_pages(pages: Pages) -> Pages:
    return {**pages, SECOND: pages[THIRD], THIRD: pages[SECOND]}


def no_pages(*paths: str) -> Callable[[Pages], Pages]:
    return lambda pages: {path: text for path, text in pages.items() if path not in paths}


def fork_pages(pages: Pages) -> Pages:
    """A fourth page next to the third: both follow the second."""
    fork = pages[THIRD].replace("page 3", "page 4")
    return {**pages, page_path(FIRST, 4): fork}


# What was done; what is said where it was committed on top, and where the whole history was made
# anew.
FORGERIES: dict[str, tuple[Callable[[Pages], Pages], str, str]] = {
    "edited": (with_(SECOND, "Status: step 5", "Status: stop 5"), "after it was closed", "differs from"),  # noqa: E501  # one entry of a table, or one recorded value
    "edited on the newest": (with_(THIRD, "step 11", "stop 11"), "was changed, moved", "differs from"),  # noqa: E501  # one entry of a table, or one recorded value
    "back-dated": (with_(SECOND, "2026-01-01 17:00", "2025-01-01 17:00"), "after it was closed", "differs from"),  # noqa: E501  # one entry of a table, or one recorded value
    "reordered": (swap_entries, "after it was closed", "stands in another place"),
    "moved to another page": (move_entry, "after it was closed", "stands in another place"),
    "shown twice": (double_entry, "stands in another place", "stands in another place"),
    "deleted": (without(SECOND, 1), "after it was closed", "is missing"),
    "pages exchanged": (exchange_pages, "after it was closed", "does not begin as its page 2 does"),
    "the first page deleted": (no_pages(FIRST), f"{FIRST} was removed", "is missing"),
    "a page deleted": (no_pages(SECOND), f"{SECOND} was removed", f"its page {SECOND} is missing"),
    "the newest page deleted": (no_pages(THIRD), f"{THIRD} was removed", (
        "continues in tiny_003.md, which "
        "does not exist"
    )),
    "all but the first deleted": (no_pages(SECOND, THIRD), f"{THIRD} was removed", "continues in tiny_002.md"),  # noqa: E501  # one entry of a table, or one recorded value
    "forked": (fork_pages, (
        f"{THIRD} does not end with the "
        "link"
    ), f"{THIRD} does not end with the link"),
    "a link to elsewhere": (
        with_(FIRST, "[tiny_002.md](tiny_002.md)", "[tiny_003.md](tiny_003.md)"),
        "after it was closed",
        f"{FIRST} does not end with the link to {SECOND}",
    ),
    "no link": (
        with_(FIRST, "\nContinued in [tiny_002.md](tiny_002.md).\n", ""),
        "after it was closed",
        f"{FIRST} does not end with the link to {SECOND}",
    ),
    "another beginning": (
        with_(THIRD, "page 3\n", "page 3\n\nAll is well.\n"),
        "the head of",
        "does not begin as its page 3 does",
    ),
    "more after the beginning": (
        with_(THIRD, f"\n\n{INSTANCES}", f"\n\nAll is well.\n\n{INSTANCES}"),
        "the head of",
        "does not begin as its page 3 does",
    ),
    "words without an entry": (
        with_(THIRD, f"{EVENTS}\n", f"{EVENTS}\n\nAll is well.\n"),
        "text without an entry",
        "text that belongs to no entry",
    ),
    "words after a link": (
        with_(SECOND, "(tiny_003.md).\n", "(tiny_003.md).\n\nAll is well.\n"),
        "after it was closed",
        "differs from",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_on_a_later_page_is_found(name: str) -> None:
    edit, on_top, fault_alone = FORGERIES[name]
    lines, pages = last()
    forged_pages = edit(pages)
    assert forged_pages != pages
    faults = judge_history([*history(), snapshot(lines, forged_pages, len(lines))]).faults
    assert on_top in "\n".join(faults)
    assert fault_alone in "\n".join(judge_history([snapshot(lines, forged_pages)]).faults)


def test_an_entry_that_was_added_to_a_closed_page_is_found() -> None:
    """In harmony with the journal: but a closed page stays as it is."""
    lines, pages = last()
    (more,) = chain([Noted(NOON, "dri", "late", {"Status": "late"})], lines[-1].hash, digest_of)
    text, next_page = module.reopen_page(pages[SECOND])
    forged_pages = {
        **pages,
        SECOND: module.close_page(add_entries(text, entries_of([more])), FIRST, 3),
    }
    assert next_page == "tiny_003.md"
    faults = judge_history([*history(), snapshot([*lines, more], forged_pages, len(lines))]).faults
    assert mentions("\n".join(faults), f"{SECOND}", "changed", "closed")
    assert mentions(
        "\n".join(judge_history([snapshot([*lines, more], forged_pages)]).faults), "stands", "place"
    )
