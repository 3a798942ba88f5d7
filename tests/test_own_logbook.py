"""The record that this repository carries of its own run is whole: chain, entries, and what it
tells.
"""

from pathlib import Path

from herorun.core.event import Launched, Sealed
from herorun.core.journal import fold, read_lines
from herorun.core.record.verify import RecordSnapshot, judge_history

HOME = Path(__file__).parents[1] / ".agents" / "logbooks"
LOGBOOK = HOME / "char-lm.md"
SEGMENTS = {
    path.name: path.read_bytes() for path in sorted((HOME / "char-lm.journal").glob("*.jsonl"))
}


def lines():
    texts = [text for data in SEGMENTS.values() for text in data.decode().splitlines()]
    return read_lines((f"line {number}", text) for number, text in enumerate(texts, start=1))


def test_the_journal_and_the_logbook_agree():
    snapshot = RecordSnapshot("0" * 40, (), SEGMENTS, {LOGBOOK.name: LOGBOOK.read_bytes()})

    assert judge_history([snapshot]).faults == ()


def test_it_reports_a_kill_one_relaunch_and_a_seal():
    events = [line.event for line in lines()]
    launched_events = [event for event in events if isinstance(event, Launched)]
    memory = fold(events)

    assert [event.relaunch_of for event in launched_events] == ["", "char-lm-1"]
    assert any(key.startswith("tell/crashed[char-lm-1]") for key in memory.done)
    assert "/char-lm-temporary/step-" in launched_events[1].entry["`initialize_from`"]
    assert [event.tag for event in events if isinstance(event, Sealed)] == [
        "herorun/char-lm/seal-1"
    ]
