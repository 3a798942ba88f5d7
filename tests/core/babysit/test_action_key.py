"""Keys of actions are text in the journal, and are taken apart in one place."""

import ast
import re
from pathlib import Path

import pytest

import herorun
from herorun.core.babysit.action_key import ActionKey, Verb, parse_key, verb_of, write_key

KEYS = (
    "tell/tiny-1/day-3",
    "tell/loss-spike[train/loss]@2026-01-01T12:00:00Z/resolved",
    "escalate/wrong-resume@2026-01-01T12:00:00Z",
    "escalate/relaunch/tiny-1/veto",
    "escalate/judge/0.2.0/3f2a9c1d0e4b",
    "again/crashed@2026-01-01T12:00:00Z/2",
    "page/HOOK/escalate/relaunch/tiny-1/veto",
    "prune/3f2a/gs://bucket/tiny/step-5",
    "prune/3f2a//data/tiny/step-5",
    "stop/tiny-1",
    "rollback/tiny-1/400",
    "init",
)


@pytest.mark.parametrize("text", KEYS)
def test_a_key_is_written_as_it_was_read(text: str) -> None:
    assert str(parse_key(text)) == text


def test_the_journal_has_what_it_always_had() -> None:
    alert = "loss-spike[train/loss]@2026-01-01T12:00:00Z"
    assert write_key(Verb.TELL, alert, "resolved") == f"tell/{alert}/resolved"
    assert write_key(Verb.AGAIN, alert, 2) == f"again/{alert}/2"
    assert write_key(Verb.PRUNE, "3f2a", "/data/step-5") == "prune/3f2a//data/step-5"
    assert write_key(Verb.POST, write_key(Verb.SUBMIT, "tiny-1")) == "post/submit/tiny-1"
    assert write_key(Verb.ROLLBACK, "tiny-1", None) == "rollback/tiny-1/None"
    assert write_key(Verb.FORKED_FROM, "tiny") == "forked-from/tiny"


def test_its_fields_have_names() -> None:
    assert parse_key("page/HOOK/tell/tiny-1/finished") == ActionKey(
        Verb.PAGE, "HOOK", "tell/tiny-1/finished"
    )
    assert parse_key("prune/3f2a//data/step-5").detail == "/data/step-5"
    assert parse_key("again/crashed@2026-01-01T12:00:00Z/2").check == "crashed"
    assert parse_key("page/crashed/x").check == ""
    assert parse_key("escalate/judge/0.2.0/3f2a").judged_version == "0.2.0"
    assert parse_key("tell/judge/0.2.0/3f2a").judged_version == ""


def test_an_alert_about_a_path_is_no_question_about_a_relaunch() -> None:
    assert parse_key("escalate/output-moved[/data/a/b]@x").relaunch_question is None


def test_a_verb_is_matched_whole() -> None:
    assert verb_of("stopped/tiny-1") != Verb.STOP


def test_nobody_else_takes_a_key_apart() -> None:
    apart = re.compile(
        r"""key\.(?:split|partition|rpartition)\("/"|key\.(?:startswith|removeprefix)\((?:f?"|[A-Z]{4})"""
        r"""|"(?:tell|escalate|again|page|prune)/"[,)]"""
    )
    folder = Path(herorun.__file__).parent
    rooms = (
        "core/*.py",
        "core/journal/*.py",
        "core/goodput/*.py",
        "operations/**/*.py",
        "output/*.py",
    )
    paths = [path for room in rooms for path in folder.glob(room)]
    texts = [
        f"{path.name}: {line.strip()}"
        for path in paths
        if path.name != "action_key.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if apart.search(line)
    ]
    assert len(paths) > 100
    assert texts == []


def _written_by_hand(source: str) -> list[str]:
    """The texts, with and without fields, that begin as a key does."""
    if not any(f"{verb}/" in source for verb in Verb):
        return []  # to parse the whole package takes a second
    return [
        text.value
        for text in ast.walk(ast.parse(source))
        if isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and re.match(rf"(?:{'|'.join(Verb)})/[^ ]*$", text.value)
    ]


def test_nobody_else_writes_a_key() -> None:
    assert _written_by_hand('f"tell/{name}/finished"') == ["tell/"]
    assert _written_by_hand('key = "escalate/judge/" + version') == ["escalate/judge/"]
    folder = Path(herorun.__file__).parent
    texts = {
        f"{path.relative_to(folder)}: {text}"
        for path in folder.rglob("*.py")
        if path.name != "action_key.py"
        for text in _written_by_hand(path.read_text(encoding="utf-8"))
    }
    assert texts == set()
