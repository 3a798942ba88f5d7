"""`herorun report` of a run for real: it crashed, was relaunched and finished."""

import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from builders import NOON
from commands.answers import ask
from commands.test_goodput import TIMESTAMP_FIELD
from herorun.core.event import Decided
from herorun.core.evidence import Metrics, Nothing, TrackerIdentity, TrackerState, Unavailable
from herorun.core.journal import Memory
from herorun.operations.report import report
from herorun.operations.report.links import links_of
from memory_folder import in_memory
from stories import CRASH, JOB, SLUG, TAG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
WARM_UP = {"name": "warm-up ends", "step": 1, "kind": "warm-up-end"}


@pytest.fixture(scope="module")
def finished_story() -> Iterator[Story]:
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        story = Story(Path(folder).resolve()).begin(phase=[WARM_UP])
        (story.work / "train.sh").write_text(
            JOB.replace('{\\"step\\"', "{" + TIMESTAMP_FIELD + '\\"step\\"')
        )
        story.publish()
        story.run_first_job(CRASH)
        story.tick()
        story.wait_for_end("tiny-2")
        story.tick()
        yield story
        story.end()


def test_the_document_tells_what_the_page_shows(finished_story: Story, capsys: CAPTURE) -> None:
    before = finished_story.run.record.tip
    answer = ask(finished_story, capsys, "report", SLUG, "--json")
    document = answer.document
    assert (answer.code, document["state"], document["level"]) == (0, "finished", "good")
    assert document["progress"] == {"step": 4, "final_step": 4, "text": "~4/4"}
    assert mentions(document["eta"]["text"], "steps", "done")
    assert [(one["kind"], one["steps"]) for one in document["instances"]] == [
        ("launch", 3),
        ("relaunch", 4),
    ]
    assert document["instances"][0]["changes"] is None
    assert [change.partition(":")[0] for change in document["instances"][1]["changes"]] == ["start"]
    first, second = document["instances"]
    assert (
        first["command"].startswith("sh train.sh")
        and str(finished_story.root.parent) in first["command"]
    )
    assert second["command"] == first["command"]  # the contract has no `resume_argv`
    assert second["log"] == f"herorun logs {SLUG} --instance tiny-2"
    assert ask(finished_story, capsys, *second["log"].split()[1:]).code == 0
    assert [each["name"] for each in document["links"]] == ["Tracker", "Issue", "Record"]
    assert {(mark["kind"], mark["step"]) for mark in document["annotations"]} == {
        ("launch", 0),
        ("phase", 1),
        ("launch", 2),
        ("checkpoint", 2),
        ("alert", 3),
        ("checkpoint", 4),
        ("final", 4),
    }
    (alert,) = document["alerts"]
    assert (alert["check"], alert["resolved"] is None) == ("crashed", False)
    assert document["charts"][0]["metrics"] == ["train/loss"] and document["charts"][2]["why"]
    assert finished_story.run.record.tip == before  # it only looks


def test_the_page_lies_in_the_private_folder_and_holds_the_run(
    finished_story: Story, capsys: CAPTURE
) -> None:
    answer = ask(finished_story, capsys, "report", SLUG)
    path = finished_story.state / "report.html"
    assert answer.code == 0 and f"Written to {path}" in answer.out
    page = path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert "tiny-2: relaunch" in page and mentions(page, "tiny", "finished", "~4/4 steps")
    assert (
        "<h5>" in page and "herorun event=" not in page
    )  # the logbook's entries, without their hidden marks
    (data,) = re.findall(r'id="data">(.*?)</script>', page)
    (series,) = json.loads(data)["charts"][0]["series"]
    assert series["lines"][0]["x"] == [1, 2, 3, 4] and set(series["lines"][0]["y"]) == {2.5}


def test_rows_that_no_tick_has_kept_yet_are_drawn_and_nothing_is_written(
    finished_story: Story, capsys: CAPTURE
) -> None:
    """The last one is NaN: then no number stands for the newest value."""
    rows = finished_story.root / "metrics.jsonl"
    whole, paths = rows.read_bytes(), (finished_story.state / "metrics").rglob("*")
    before = {path: path.stat().st_mtime_ns for path in paths}
    line = json.loads(whole.splitlines()[-1])
    more = [line | {"step": 4, "train/loss": 2.25}, line | {"step": 5, "train/loss": math.nan}]
    rows.write_bytes(whole + "".join(f"{json.dumps(one)}\n" for one in more).encode())
    try:
        document = ask(
            finished_story, capsys, "report", SLUG, "--json", "--out", "page.html"
        ).document
    finally:
        rows.write_bytes(whole)
    loss = document["charts"][0]
    assert (loss["newest"], loss["not_finite"]) == ("not finite", 1)
    assert any(mentions(note, "2 more", "tracker") for note in document["notes"])
    page = (finished_story.work / "page.html").read_text()
    assert mentions(page, "value", "finite")
    (data,) = re.findall(r'id="data">(.*?)</script>', page)
    assert json.loads(data)["charts"][0]["series"][0]["lines"][0]["x"] == [1, 2, 3, 4, 5]
    assert {
        path: path.stat().st_mtime_ns for path in (finished_story.state / "metrics").rglob("*")
    } == before
    (finished_story.work / "page.html").unlink()


def test_links_lead_to_web_pages_alone(finished_story: Story) -> None:
    """What a tracker says of its address may be anything."""
    memory = finished_story.run.record.memory()
    for url, is_linked in (("https://example.org/t", True), ("javascript:alert(1)", False)):
        tracker_identity = TrackerIdentity(
            state=TrackerState.FINISHED, display_name="tiny", url=url, service="MLflow"
        )
        tracker, issue, _ = links_of(
            finished_story.run, memory, {TrackerIdentity: tracker_identity}
        )
        assert tracker.text == "MLflow tiny" and tracker.url == (url if is_linked else "")
        assert issue.text.endswith("issue.md") and issue.url == ""  # a file of this machine


def test_another_place(finished_story: Story, capsys: CAPTURE) -> None:
    answer = ask(finished_story, capsys, "report", SLUG, "--out", "page.html", "--json")
    assert answer.document["file"] == str(finished_story.work / "page.html")
    assert (finished_story.work / "page.html").read_text().startswith("<!doctype html>")
    (finished_story.work / "page.html").unlink()


def test_the_page_is_opened_in_the_users_browser(
    finished_story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of its own: Python reads BROWSER once."""
    browser, page = tmp_path / "browser", tmp_path / "page.html"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    argv = [sys.executable, "-m", "herorun", "-C", str(finished_story.work), "report", SLUG]
    process = subprocess.run([*argv, "--out", str(page), "--open"], timeout=60, check=False)
    assert process.returncode in (0, 3)
    assert (tmp_path / "opened").read_text() == page.as_uri()


def test_before_the_launch_there_is_a_page_and_no_estimate(story: Story, capsys: CAPTURE) -> None:
    story.init()
    answer = ask(story, capsys, "report", SLUG, "--json")
    assert answer.code == 0 and mentions(answer.document["eta"]["text"], "final", "known")
    assert mentions(answer.document["verdict"], "launched")


def test_rows_that_cannot_be_read_are_reported_and_the_rest_stands(
    finished_story: Story, capsys: CAPTURE
) -> None:
    """Damaged columns, and a tracker that has nothing any more: the exit code is that of not having
    looked.
    """
    (block,) = [path for path in (finished_story.state / "metrics").rglob("*") if path.is_file()]
    whole, rows = block.read_bytes(), finished_story.root / "metrics.jsonl"
    block.write_bytes(whole[:40] + bytes(byte ^ 0xFF for byte in whole[40:]))
    rows = rows.rename(rows.with_suffix(".aside"))
    try:
        answer = ask(finished_story, capsys, "report", SLUG, "--json")
    finally:
        block.write_bytes(whole)
        rows.rename(rows.with_suffix(".jsonl"))
    assert answer.code == 3 and answer.document["charts"] == []
    assert any(note.startswith("no rows: ") for note in answer.document["notes"])
    assert len(answer.document["instances"]) == 2


def test_no_rows_yet_is_no_failure_to_look_and_rows_that_are_gone_are_one() -> None:
    none, failure = {Metrics: Nothing("no metrics file yet")}, {Metrics: Unavailable("no answer")}
    observations = Decided(at=NOON, run="healthy", monitor="fresh", progress="~3/4", alerts=())
    assert report._none_yet(none, Memory())
    assert not report._none_yet(failure, Memory())
    assert not report._none_yet(none, Memory(last_decided=observations))
    assert report._none_yet(none, Memory(last_decided=replace(observations, progress="~unknown/4")))


@pytest.mark.thorough
def test_a_sealed_run_is_shown_and_judged_no_more(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job()
    story.tick()
    assert story.seal() == 0
    document = ask(story, capsys, "report", SLUG, "--json").document
    assert mentions(document["verdict"], "tiny", f"{TAG}", "~4/4") and document["level"] == "good"
    assert document["checkpoint"]["step"] == 4
    assert [mark["step"] for mark in document["annotations"] if mark["kind"] == "seal"] == [4]
