"""What `logbook verify` asks of the world around the record: the remote, the tags, and git
itself.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from builders import NOON
from herorun.core.errors import CouldNotLook, HerorunError
from herorun.operations.record.verify import (
    RecordVerification,
    open_record,
    verify_record,
    verify_run,
)
from herorun.record.reader import RecordReader
from herorun.system.git import Repository
from herorun.system.git.plumbing import commit_files
from stories import SLUG, Story, git, note
from wording import mentions

REF = "refs/herorun/record/tiny"
BRANCH = "refs/heads/herorun/tiny"


@pytest.fixture
def healthy_record(story: Story) -> Story:
    """A healthy record of two commits, pushed."""
    assert story.init() == 0
    story.run.record.append(note("one"))
    assert story.run.record.push()
    return story


def verification_of(story: Story) -> RecordVerification:
    return verify_record(open_record(SLUG, story.work))


def elsewhere(story: Story, word: str) -> Story:
    """Another clone that adds a note and pushes it."""
    other = story.clone(f"clone-{word}")
    other.init()
    other.run.record.append(note(word))
    assert other.run.record.push()
    return other


def force_pushed(story: Story) -> None:
    """Somebody's other record on the branch, of which this clone has no object."""
    other = Story(story.home / "other").begin()
    other.init()
    git(other.work, "push", "-q", "-f", str(story.origin), f"{REF}:{BRANCH}")


@pytest.mark.thorough
def test_a_remote_that_another_machine_rewrote_is_a_fault(healthy_record: Story) -> None:
    force_pushed(healthy_record)
    verification = verification_of(healthy_record)
    assert verification.verdict == "blocked"
    assert mentions(verification.faults[0], "branch", "origin") and mentions(
        verification.faults[0], "rewritten", "forked"
    )


@pytest.mark.thorough
def test_a_remote_that_was_put_back_to_an_older_commit_is_a_fault(healthy_record: Story) -> None:
    git(healthy_record.work, "push", "-q", "-f", "origin", f"{REF}~1:{BRANCH}")
    verification = verification_of(healthy_record)
    assert verification.verdict == "blocked"
    (fault,) = verification.faults
    assert mentions(fault, "branch", "origin", "reset")
    assert healthy_record.run.record.push()  # lines that wait put it right
    healthy_record.run.record.append(note("two"))
    assert healthy_record.run.record.push()
    assert verification_of(healthy_record).faults == ()


@pytest.mark.thorough
def test_also_where_the_contract_is_gone(healthy_record: Story) -> None:
    force_pushed(healthy_record)
    (healthy_record.work / "runs" / "tiny.toml").unlink()
    assert mentions(str(verification_of(healthy_record).faults), "branch", "origin")


@pytest.mark.thorough
def test_also_on_a_branch_of_the_contracts_choice_that_is_gone_since(story: Story) -> None:
    story.sign(logbook={"branch": "logs"})
    story.run_first_job()
    git(story.origin, "update-ref", "-d", "refs/heads/logs")
    (story.work / "runs" / "tiny.toml").unlink()
    (fault,) = verification_of(story).faults
    assert mentions(fault, "anchor: ", "logs", "gone", "origin")


@pytest.mark.thorough
def test_nothing_of_the_looking_stays(healthy_record: Story) -> None:
    elsewhere(healthy_record, "theirs")
    before = git(healthy_record.work, "for-each-ref")
    verification_of(healthy_record)
    assert git(healthy_record.work, "for-each-ref") == before


@pytest.mark.parametrize(
    ("ahead", "calls"), [(False, ["ls-remote"]), (True, ["ls-remote", "fetch"])]
)
def test_the_remote_is_asked_once(
    healthy_record: Story, monkeypatch: pytest.MonkeyPatch, ahead: bool, calls: list[str]
) -> None:
    if ahead:
        elsewhere(healthy_record, "theirs")
    git_commands, real = list[str](), Repository.git

    def count_listing(self: Repository, *words: str, **options: Any) -> Any:
        git_commands.append(words[0])
        return real(self, *words, **options)

    monkeypatch.setattr(Repository, "git", count_listing)
    assert verify_run(SLUG, healthy_record.work).verdict == "clear"
    assert [each for each in git_commands if each in ("ls-remote", "fetch")] == calls


@pytest.mark.thorough
def test_a_remote_that_is_ahead_is_verified_to_its_end(healthy_record: Story) -> None:
    elsewhere(healthy_record, "theirs")
    verification = verification_of(healthy_record)
    assert (verification.verdict, verification.entries, verification.commits) == ("clear", 3, 3)
    assert mentions(verification.notes[0], "origin", "ahead")


@pytest.mark.thorough
def test_what_another_clone_spoiled_is_found(healthy_record: Story) -> None:
    other = elsewhere(healthy_record, "theirs")
    other.tamper("tiny.md", lambda text: text.replace("- Status: one", "- Status: won"))
    git(other.work, "push", "-q", "origin", f"{REF}:{BRANCH}")
    assert mentions(str(verification_of(healthy_record).faults), "differs", "journal")


@pytest.mark.thorough
def test_two_machines_that_both_continued_are_no_fault(healthy_record: Story) -> None:
    elsewhere(healthy_record, "theirs")
    healthy_record.run.record.append(note("ours"))
    verification = verification_of(healthy_record)
    assert verification.verdict == "clear" and mentions(verification.notes[0], "both", "commits")


def test_a_branch_that_was_pushed_and_is_gone_is_a_fault(healthy_record: Story) -> None:
    git(healthy_record.origin, "update-ref", "-d", BRANCH)
    (fault,) = verification_of(healthy_record).faults
    assert mentions(fault, "anchor: ", "herorun/tiny", "gone", "origin")


def sealed_elsewhere(story: Story) -> None:
    """A seal of a record commit that nobody here has."""
    message = '{"record":"' + "12" * 20 + '"}'
    git(story.work, "tag", "-a", "herorun/tiny/seal-1", "-m", f"sealed\n\n{message}", "HEAD")


def test_an_anchor_that_cannot_be_seen_leaves_it_unknown(healthy_record: Story) -> None:
    sealed_elsewhere(healthy_record)
    healthy_record.origin.rename(healthy_record.home / "elsewhere")
    verification = verification_of(healthy_record)
    assert (verification.verdict, verification.faults) == ("unknown", ())
    assert mentions(verification.notes, "herorun/tiny/seal-1", "121212121", "clone")


def test_an_anchor_that_the_whole_line_lacks_is_a_fault(healthy_record: Story) -> None:
    sealed_elsewhere(healthy_record)
    verification = verification_of(healthy_record)
    assert verification.verdict == "blocked"
    assert mentions(verification.faults[0], "herorun/tiny/seal-1", "121212121", "part")


def test_a_shallow_clone_cannot_say_what_was_before(healthy_record: Story) -> None:
    shallow = Story(healthy_record.home / "shallow")
    git(
        healthy_record.home,
        "clone",
        "-q",
        "--depth=1",
        "--no-single-branch",
        f"file://{healthy_record.origin}",
        str(shallow.work),
    )
    verification = verification_of(shallow)
    assert (verification.verdict, verification.commits, verification.faults) == ("unknown", 1, ())
    assert mentions(verification.notes[0], "clone", "shallow")
    git(shallow.work, "fetch", "-q", "--unshallow")
    assert verification_of(shallow).verdict == "clear"


def test_an_event_that_is_dated_long_before_the_last_one_is_reported(healthy_record: Story) -> None:
    """It proves nothing: a clone that was offline adds its own later."""
    healthy_record.run.record.append(note("two", NOON + timedelta(minutes=90)))
    healthy_record.run.record.append(note("three", NOON + timedelta(minutes=20)))
    verification = verification_of(healthy_record)
    assert verification.verdict == "clear"
    assert mentions(verification.notes[-1], "dated", "came")


def test_a_strange_path_next_to_the_record_changes_no_verdict(healthy_record: Story) -> None:
    record = healthy_record.run.record
    commit_files(
        record.repository, record.ref, record.tip, {"a\x01b\nc d": b"x"}, "by hand\n", NOON
    )
    assert verification_of(healthy_record).verdict == "clear"


# --- git's own damage -----------------------------------------------------------------------------


def lose(story: Story, name: str) -> None:
    """Remove one loose object, as a disk does."""
    oid = git(story.work, "rev-parse", name).strip()
    (story.work / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


DAMAGES: dict[str, Callable[[Story], None]] = {
    "the commit": lambda story: lose(story, REF),
    "the journal's folder": lambda story: lose(story, f"{REF}:.agents/logbooks/tiny.journal"),
    "the logbook": lambda story: lose(story, f"{REF}:.agents/logbooks/tiny.md"),
    "the ref": lambda story: (story.work / ".git" / REF).write_text(""),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_object_is_never_an_empty_record(healthy_record: Story, name: str) -> None:
    git(healthy_record.work, "remote", "remove", "origin")
    DAMAGES[name](healthy_record)
    texts = ("note", SLUG, "--status", "s", "--evidence", "e", "--decision", "d", "--next", "n")
    commands = [("logbook", "verify", SLUG), texts]
    # what a tick knows is in the journal: it does not read the page for people
    if name != "the logbook":
        commands += [("status", SLUG), ("init", SLUG)]
        with pytest.raises(CouldNotLook):
            healthy_record.run.record.memory()
    with pytest.raises(CouldNotLook):
        verification_of(healthy_record)
    for words in commands:
        assert healthy_record.herorun(*words) == 3


def test_a_damaged_line_is_placed_and_no_note_repeats_it(healthy_record: Story) -> None:
    healthy_record.tamper(".jsonl", lambda text: text[5:])
    record = healthy_record.run.record
    with pytest.raises(HerorunError) as error:
        record.memory()
    assert f"{str(record.tip)[:9]}, {record.journal_path}/" in str(error.value)
    verification = verify_run(SLUG, healthy_record.work)
    assert verification.verdict == "blocked" and len(verification.faults) == 2
    assert not any(str(error.value) in note for note in verification.notes)


def test_a_record_that_is_not_read_is_not_called_damaged(
    healthy_record: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object) -> None:
        raise CouldNotLook("git does not answer")

    monkeypatch.setattr(RecordReader, "memory", silent)
    verification = verify_run(SLUG, healthy_record.work)
    assert (verification.verdict, verification.faults) == ("unknown", ())
    assert any("git does not answer" in note for note in verification.notes)


@pytest.mark.thorough
def test_a_seal_of_another_clone_is_no_fault_where_its_tag_was_not_fetched(story: Story) -> None:
    story.run_to_success()
    other = story.clone("elsewhere")
    other.run.record.fetch()
    assert story.seal() == 0
    verification = verify_run(SLUG, other.work)
    assert (verification.verdict, verification.faults) == ("clear", ())
