"""What this machine keeps next to the record is half-written, or was put there by somebody else:
never a traceback.

A cache that cannot be read is a lost cache; a file that is the only word on something is named in
one sentence.
"""

import os
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.seal.parse import statement_of
from herorun.record import maintenance
from herorun.schedulers import _submission_record
from stories import SLUG, WAIT, Story

EVERY = bool(os.environ.get("HERORUN_CRASH_ALL"))
CAPTURE = pytest.CaptureFixture[str]
CACHES = {"metrics.json", "own-log.json", "lease-seen.json", "heartbeat.json", "tiny.memory.json"}
HOSTILE = {
    "half": b"",
    "nested": b"[" * 200_000,
    "list": b"[1]",
    "null": b"null",
    "digits": b"9" * 5_000,
    "table": (
        b'{"version": [], "state": {"rows": "x"}, "log": 5, "beat": null, "since": 7, "by": {}}'
    ),
    "not-utf8": b'{"id": "\xff\xfe"}',
}


@pytest.fixture
def watched_story(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A live run that was ticked, so that all that a machine keeps is there."""
    monkeypatch.setattr(maintenance, "REMEMBER", 1)
    story.run_first_job(WAIT)
    assert story.tick() == 0
    return story


def local_files(story: Story) -> list[Path]:
    """All JSON that herorun keeps on this machine, and reads again."""
    folders = (story.state, story.work / ".git" / "herorun")
    return sorted(
        path for folder in folders for path in folder.rglob("*.json") if "code" not in path.parts
    )


def run_command(story: Story, capsys: CAPTURE, *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = story.herorun(*words)
    err = capsys.readouterr().err
    assert "internal error" not in err and "Traceback" not in err, err
    return code, err


@pytest.mark.thorough
@pytest.mark.parametrize("word", HOSTILE if EVERY else ("half", "nested", "table"))
def test_a_cache_that_cannot_be_read_is_a_lost_cache(
    watched_story: Story, capsys: CAPTURE, word: str
) -> None:
    caches = [path for path in local_files(watched_story) if path.name in CACHES]
    assert {path.name for path in caches} == CACHES
    for path in caches:
        path.write_bytes(HOSTILE[word] or path.read_bytes()[: path.stat().st_size // 2])
    assert run_command(watched_story, capsys, "babysit", SLUG, "--once")[0] == 0
    assert run_command(watched_story, capsys, "status", SLUG)[0] == 0
    assert run_command(watched_story, capsys, "logbook", "verify", SLUG)[0] == 0


@pytest.mark.thorough
@pytest.mark.parametrize("word", HOSTILE if EVERY else ("half", "nested"))
def test_no_file_of_this_machine_brings_a_command_down(
    watched_story: Story, capsys: CAPTURE, word: str
) -> None:
    for path in local_files(watched_story):
        if path.name in CACHES:
            continue
        before = path.read_bytes()
        path.write_bytes(HOSTILE[word] or before[: len(before) // 2])
        for words in (
            (("babysit", SLUG, "--once"), ("stop", SLUG))
            if EVERY
            else (("babysit", SLUG, "--once"),)
        ):
            code, err = run_command(watched_story, capsys, *words)
            assert code in (0, 1, 3), (path, code, err)
        path.write_bytes(before)
    assert watched_story.tick() in (0, 1)
    assert len(watched_story.starts) == 1


@pytest.mark.parametrize("word", [word for word in HOSTILE if word != "half"])
def test_a_seals_tag_that_states_nothing_is_no_statement(word: str) -> None:
    assert statement_of("tag\n\nSeal\n\n{" + HOSTILE[word].decode("utf-8", "replace")) is None
    assert statement_of('tag\n\n\n{"schema": 1, "run": "tiny"}') is None


@pytest.mark.parametrize("name", ["tiny-1.json", "tiny-1.stop.json"])
@pytest.mark.parametrize("word", [word for word in HOSTILE if word != "half"])
def test_what_was_kept_of_a_submission_is_read_whole_or_named(
    tmp_path: Path, name: str, word: str
) -> None:
    _submission_record.keep_stop(tmp_path, "tiny-1", "17", "dri@here")
    assert _submission_record.read_submission(
        tmp_path, "tiny-1"
    ) == _submission_record.SubmissionRecord(False, "17", "dri@here")
    (tmp_path / name).write_bytes(HOSTILE[word])
    if word == "table":  # JSON of another shape: it says nothing of this job
        assert _submission_record.read_submission(tmp_path, "tiny-1").by is None
        return
    with pytest.raises(CouldNotLook, match=f"{name}.*cannot be read.*delete"):
        _submission_record.read_submission(tmp_path, "tiny-1")
