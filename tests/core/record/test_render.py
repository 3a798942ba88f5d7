"""Events as Markdown that stays in its place: one entry an event, one line a value."""

import pytest

from builders import NOON, a_checkpoint, a_contract, a_history, a_plan
from herorun.core.event import (
    Decided,
    Done,
    Failed,
    Intended,
    Launched,
    Noted,
    Observed,
    Ordered,
    Sealed,
    Word,
)
from herorun.core.journal import START, chain
from herorun.core.markdown import bullets, code, defuse_mentions, one_line
from herorun.core.record.logbook_entries import (
    EVENT_LINES,
    EVENTS,
    INSTANCE_FURTHER,
    INSTANCE_LINES,
    INSTANCES,
    entry_of,
    headline,
)
from herorun.core.record.render import (
    CONTRACT_LINES,
    MARK,
    add_entries,
    command_line,
    digest_of,
    entries_of,
    instance_lines,
    new_logbook,
)
from wording import mentions

TEMPLATE = (
    f"# $title: Hero Run Logbook\n\n## Run Contract\n\n$contract\n\n{INSTANCES}\n\n{EVENTS}\n"
)
HOSTILE = "a\n\n## Event Log\n### x\r\n- Status: fine <!-- herorun --> \x1b[31m <b>"


def logbook(*events):
    text = new_logbook(TEMPLATE, "tiny", {"DRI": "@dri"})
    for line in chain(events, START):
        text = add_entries(text, entries_of([line]))
    return text


def launched_event(number):
    return Launched(
        at=NOON,
        instance=f"tiny-{number}",
        number=number,
        job="job",
        plan_digest="sha256:p",
        output_root="/d",
        commit="c0ffee",
        entry={"Command": "`x`"},
    )


def a_note(title, **lines):
    return Noted(NOON, "ada@here", title, lines)


def test_a_headline_is_in_utc_to_the_minute():
    assert headline(NOON, "tiny-1") == "### 2026-01-01 12:00 UTC - tiny-1"


def test_text_from_outside_is_one_harmless_line():
    line = one_line(HOSTILE)

    assert "\n" not in line and "<" not in line and "\x1b" not in line
    assert line.startswith("a ## Event Log ### x - Status: fine")
    assert one_line(line) == line


def test_a_long_text_is_cut():
    assert len(one_line("x" * 9000)) == 2000 and one_line("x" * 9000).endswith("…")


@pytest.mark.parametrize("text", ["a", "a `b` c", "``", "`", "a``b`c", "", "a\nb"])
def test_a_code_span_cannot_be_closed_from_inside(text):
    span = code(text)
    fence = span[: len(span) - len(span.lstrip("`"))]

    assert span.endswith(fence) and fence not in span[len(fence) : -len(fence)] and "\n" not in span


def test_nobody_is_paged_by_a_log_line():
    assert "@ada" not in defuse_mentions("failed for @ada and x@ada")


@pytest.mark.parametrize("text", ["see #12", "lab/model#12", "GH-12"])
def test_no_other_issue_is_linked_by_a_log_line(text):
    assert (
        text not in defuse_mentions(text)
        and defuse_mentions("color &#35; and # 12") == "color &#35; and # 12"
    )


def test_the_ordered_names_come_first_even_when_empty():
    assert bullets({"Z": "1", "A": "2"}, ("A", "B")) == "- A: 2\n- B:\n- Z: 1"


def test_a_new_logbook_has_the_contracts_lines_in_order():
    text = logbook()
    places = [text.index(f"- {name}:") for name in CONTRACT_LINES]

    assert places == sorted(places)
    assert mentions(text, "tiny", "Hero") and text.rstrip().endswith(EVENTS)


def test_instances_and_events_go_to_their_own_sections_in_order():
    text = logbook(launched_event(1), a_note("first"), launched_event(2), a_note("second"))
    order = [INSTANCES, "- tiny-1", "- tiny-2", EVENTS, "- first", "- second"]
    places = [text.index(what) for what in order]

    assert places == sorted(places)


def test_an_entry_carries_its_id_and_its_lines_hash():
    (line,) = chain([a_note("x")], START)
    search = MARK.search(logbook(a_note("x")))

    assert (search["id"], search["hash"]) == (line.id, line.hash)


def test_the_logbook_only_grows_at_the_end_of_each_section():
    before = logbook(launched_event(1), a_note("first"))
    after = logbook(launched_event(1), a_note("first"), launched_event(2), a_note("second"))
    head, _, tail = before.partition(f"\n{EVENTS}")

    assert after.startswith(head.rstrip()) and tail.strip() in after


@pytest.mark.parametrize(
    "event",
    [
        Observed(at=NOON, version="0", rules="sha256:0", evidence={}),
        Intended(at=NOON, key="k", attempt=1, what="w"),
        Decided(at=NOON, run="healthy", monitor="fresh", progress="~"),
        Done(NOON, "k", 1),
    ],
)
def test_what_only_the_machine_needs_has_no_entry(event):
    assert entry_of(event) is None and digest_of(event) == ""
    assert logbook(event) == logbook()


def test_an_entry_has_the_templates_lines():
    _, text = entry_of(a_note("x", Status="fine"))

    assert [line.split(":")[0] for line in text.splitlines()[2:]] == [
        f"- {n}" for n in (*EVENT_LINES, "By")
    ]
    _, text = entry_of(launched_event(1))
    texts = [f"- {name}" for name in INSTANCE_LINES + INSTANCE_FURTHER]
    assert [line.split(":")[0] for line in text.splitlines()[2:]] == texts


@pytest.mark.parametrize(
    "event",
    [
        a_note(HOSTILE, Status=HOSTILE),
        Failed(NOON, f"tell/{HOSTILE}", 1, HOSTILE),
        Done(NOON, "k", 1, HOSTILE, {"Status": HOSTILE}),
        Sealed(at=NOON, tag=HOSTILE, commit="c", statement_digest="d", lines={"Tag": HOSTILE}),
        Decided(at=NOON, run="healthy", monitor="fresh", progress="~", summary=HOSTILE),
    ],
    ids=lambda event: event.kind,
)
def test_no_event_can_make_an_entry_or_a_section_of_its_own(event):
    text = logbook(event)

    assert text.count("\n## ") == 3 and text.count("\n### ") == 1
    assert len(MARK.findall(text)) == 1


def test_a_command_line_can_be_typed_and_holds_no_secret():
    line = command_line(("python", "t.py", "--name", "a b", "--api-key", "zq7Kp2Vx9mW4"))

    assert line == "python t.py --name 'a b' --api-key '[scrubbed]'"


def test_an_instances_lines_are_complete():
    plan = a_plan(a_contract(), [a_checkpoint(150)], history=a_history())
    lines = instance_lines(plan, "@dri", "ada@here, every 15m", "job-1", tracker_label="Tracker")

    names = INSTANCE_LINES + INSTANCE_FURTHER
    # it reports to jsonl
    assert tuple(lines) == tuple(name.replace("W&B", "Tracker") for name in names)
    assert all(lines.values())
    assert lines["`initialize_from`"].startswith("/data/tiny/step-150 (step 150, full-state)")
    assert lines["Final step"] == "200 (runs/tiny.toml)"


def test_an_order_is_an_event_with_its_time_and_person() -> None:
    entry = entry_of(Ordered(NOON, "ada@here", Word.PAUSE, ("tiny",), "maintenance"))
    assert entry is not None and entry[0] == EVENTS
    assert mentions(entry[1], f"{NOON:%Y-%m-%d %H:%M}", "ada@here", "maintenance")
