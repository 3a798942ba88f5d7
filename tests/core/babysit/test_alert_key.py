"""An alert's key is written as it always was, and formatted and parsed in one place."""

import re
from pathlib import Path

import pytest

import herorun
from herorun.core.babysit.alert import AlertKey, parse_alert_key, parse_leading_key

KEYS = {
    "crashed@2026-01-01T12:00:00Z": AlertKey("crashed", "", "2026-01-01T12:00:00Z"),
    "loss-spike[train/loss]@2026-01-01T12:00:00.5Z": AlertKey(
        "loss-spike", "train/loss", "2026-01-01T12:00:00.5Z"
    ),
    "not-finite[loss]": AlertKey("not-finite", "loss"),
    "monitor-blind": AlertKey("monitor-blind"),
    "wrong-root[/a@b/c[0]]@2026-01-01T12:00:00Z": AlertKey(
        "wrong-root", "/a@b/c[0]", "2026-01-01T12:00:00Z"
    ),
    "unfinished-action[tell/crashed[a]@2026-01-01T12:00:00Z/firing]@2026-01-02T12:00:00Z": AlertKey(
        "unfinished-action", "tell/crashed[a]@2026-01-01T12:00:00Z/firing", "2026-01-02T12:00:00Z"
    ),
    "dead-log-pattern[two\nlines]@2026-01-01T12:00:00Z": AlertKey(
        "dead-log-pattern", "two\nlines", "2026-01-01T12:00:00Z"
    ),
}


@pytest.mark.parametrize("text", KEYS)
def test_a_key_is_written_as_it_was_read(text: str) -> None:
    assert parse_alert_key(text) == KEYS[text]
    assert str(KEYS[text]) == text


@pytest.mark.parametrize("text", ["relaunch/tiny-1/veto", "judge/0.2.0/3f2a", "crashed[a", ""])
def test_another_text_is_no_key(text: str) -> None:
    assert parse_alert_key(text) is None


@pytest.mark.parametrize("text", [text for text, key in KEYS.items() if key.since])
@pytest.mark.parametrize("event", ["", "/resolved", "/2"])
def test_a_key_is_found_before_an_event(text: str, event: str) -> None:
    assert parse_leading_key(text + event) == KEYS[text]


def test_only_an_incident_is_found_before_an_event() -> None:
    assert parse_leading_key("monitor-blind") is None
    assert parse_leading_key("tiny-1/finished") is None


def test_nobody_else_formats_or_parses_a_key() -> None:
    by_hand = re.compile(
        r"""\}\[\{[^}]*subject|(?:key|which|alert\w*)\.r?(?:partition|split)\("(?:\[|\]?@)"""
    )
    assert by_hand.search("""f"{self.check}[{self.subject}]@{self.since}\"""")
    assert by_hand.search('key.rpartition("@")[0]') and by_hand.search('which.partition("[")[0]')
    folder = Path(herorun.__file__).parent
    texts = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in folder.rglob("*.py")
        if path.name != "alert.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if by_hand.search(line)
    ]
    assert texts == []
