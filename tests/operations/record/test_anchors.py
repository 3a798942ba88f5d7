"""`logbook verify` holds the record against what names its commits outside the branch."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from herorun.operations.record import anchors
from herorun.operations.record.anchors import compare_anchors
from herorun.operations.record.post import record_link
from herorun.operations.record.verify import (
    NOT_ANCHORED_NOTE as BARE,
    RecordVerification,
    verify_run,
)
from memory_folder import in_memory
from stories import SLUG, Story, git, note
from wording import mentions

REF = "refs/herorun/record/tiny"
BRANCH = "refs/heads/herorun/tiny"


@pytest.fixture(scope="module")
def launched_story() -> Iterator[Story]:
    """A launched run, and next to it its page, and a receipt as its check-in would leave it."""
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        story = Story(Path(folder).resolve()).begin()
        story.run_first_job()
        yield story
        story.end()


@pytest.fixture(scope="module")
def rewritten(launched_story: Story) -> Iterator[Story]:
    """Another origin, where somebody has put a record of his own in the place of the run's: it is
    whole in itself.
    """
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        forged_story = Story(Path(folder).resolve()).begin(
            output={"root": str(launched_story.root)}
        )
        assert forged_story.init() == 0
        forged_story.run.record.append(note("never happened"))
        assert forged_story.run.record.push()
        yield forged_story


@pytest.fixture
def fresh(rewritten: Story) -> Iterator[Story]:
    """A clone that knows nothing but that origin."""
    clone = rewritten.clone("fresh")
    yield clone
    shutil.rmtree(clone.home)


@pytest.fixture
def receipt(launched_story: Story) -> Iterator[Path]:
    """What check-in leaves: it takes the record's commit from the admission."""
    admission = json.loads(
        (launched_story.state / "admissions" / "tiny-1" / "admission.json").read_text()
    )
    path = launched_story.root / "_herorun" / "receipts" / "tiny-1.1.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"instance": "tiny-1", "record": admission["record"]}))
    yield path
    path.unlink()


def verification_of(story: Story) -> RecordVerification:
    return verify_run(SLUG, story.work)


def take_page(source: Story, target: Story) -> None:
    """The issue as it stands, on another machine."""
    target.state.mkdir(parents=True)
    shutil.copy(source.state / "issue.md", target.state / "issue.md")


def test_a_healthy_run_is_anchored_by_its_own_comment(launched_story: Story) -> None:
    verification = verification_of(launched_story)
    assert (verification.verdict, verification.faults, BARE in verification.notes) == (
        "clear",
        (),
        False,
    )
    assert mentions(compare_anchors(SLUG, launched_story.work).names.values(), "comment", "issue")


def test_a_comment_names_what_is_pushed(launched_story: Story) -> None:
    """What is not, another clone's push may put on top of its own, under another name."""
    run = launched_story.run
    run.record.append(note("not pushed"))
    assert run.record.pushed_tip and run.record.tip != run.record.pushed_tip
    assert record_link(run) == f"`{run.record.pushed_tip}`"
    assert run.record.push()


def test_without_a_remote_it_names_what_is_here(story: Story) -> None:
    git(story.work, "remote", "remove", "origin")
    assert story.init() == 0
    assert record_link(story.run) == f"`{story.run.record.tip}`"


def test_a_rewritten_branch_is_found_from_a_fresh_clone_by_a_comment(
    launched_story: Story, fresh: Story
) -> None:
    take_page(launched_story, fresh)
    verification = verification_of(fresh)
    assert verification.verdict == "blocked"
    assert mentions(verification.faults[0], "comment", "issue")
    assert mentions(verification.faults[0], "rewritten", "forked")


def test_and_by_a_receipt(fresh: Story, receipt: Path) -> None:
    verification = verification_of(fresh)
    assert verification.verdict == "blocked" and mentions(
        verification.faults[0], "receipt", "tiny-1.1.json"
    )


def test_and_by_a_receipt_that_stands_in_a_log_alone(launched_story: Story, fresh: Story) -> None:
    admission = json.loads(
        (launched_story.state / "admissions" / "tiny-1" / "admission.json").read_text()
    )
    line = json.dumps({"instance": "tiny-1", "record": admission["record"]})
    log = Path(str(fresh.run.scheduler.log("tiny-1")))
    log.parent.mkdir(parents=True)
    log.write_text(f"begins\n[0]: HERORUN_RECEIPT {line}\n" + "loss 1\n" * 5000)
    verification = verification_of(fresh)
    assert verification.verdict == "blocked"
    assert mentions(verification.faults[0], "receipt", "tiny-1")
    log.write_text("HERORUN_RECEIPT {\n")
    verification = verification_of(fresh)
    assert (verification.verdict, BARE in verification.notes) == ("clear", True)
    assert any(mentions(note, "receipt", "tiny-1") for note in verification.notes)


def test_also_where_the_forged_record_names_no_contract_that_can_be_read(
    fresh: Story, receipt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(name: str, start: Path) -> NoReturn:
        raise KeyError("commit")

    monkeypatch.setattr(anchors, "watched_run", unreadable)
    verification = verification_of(fresh)
    assert verification.verdict == "blocked"
    assert any(mentions(note, "admitted", "contract") for note in verification.notes)


def test_without_either_it_is_reported_not_to_be_anchored(fresh: Story) -> None:
    verification = verification_of(fresh)
    assert (verification.verdict, verification.faults) == ("clear", ())
    assert BARE in verification.notes
    assert any(mentions(n, "issue", "read") and mentions(n, "machine") for n in verification.notes)


def test_while_the_remote_is_out_of_reach_a_commit_that_is_not_here_proves_nothing(
    launched_story: Story, fresh: Story, receipt: Path
) -> None:
    assert fresh.init() == 0
    git(fresh.work, "remote", "set-url", "origin", str(fresh.home / "nowhere"))
    verification = verification_of(fresh)
    assert (verification.verdict, verification.faults) == ("unknown", ())
    assert any(
        "the receipt tiny-1.1.json names" in note and mentions(note, "clone")
        for note in verification.notes
    )


def test_a_damaged_receipt_is_reported_and_no_fault(launched_story: Story, receipt: Path) -> None:
    receipt.write_text('{"instance": "tiny-1", "rec')
    verification = verification_of(launched_story)
    assert verification.verdict == "clear"
    assert any(mentions(note, "receipt", "tiny-1.1.json") for note in verification.notes)


def test_a_root_that_lies_on_another_machine_is_reported(launched_story: Story) -> None:
    aside = launched_story.root.rename(launched_story.root.with_name("aside"))
    try:
        verification = verification_of(launched_story)
    finally:
        aside.rename(launched_story.root)
    assert verification.verdict == "clear"
    assert any(mentions(note, "receipts", "read") for note in verification.notes)


def test_an_issue_that_nobody_can_read_is_reported(launched_story: Story) -> None:
    page = launched_story.state / "issue.md"
    aside = page.rename(page.with_name("aside.md"))
    page.mkdir()
    try:
        verification = verification_of(launched_story)
    finally:
        page.rmdir()
        aside.rename(page)
    assert verification.verdict == "clear"
    assert any(mentions(note, "issue", "read") for note in verification.notes)


def test_a_record_that_is_only_begun_is_not_anchored_yet(story: Story) -> None:
    assert story.init() == 0
    verification = verification_of(story)
    assert (verification.verdict, verification.notes) == ("clear", (BARE,))
