"""`herorun rollback`: back to an earlier checkpoint as the same run; what was given up stays, and
is never picked again.
"""

import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.answers import ask
from herorun.core.errors import Blocked
from herorun.core.evidence import JobState
from herorun.operations.babysit.perform import rollback_key
from herorun.operations.launch.relaunch import relaunch
from memory_folder import in_memory
from stories import CRASH, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
BACK = ("rollback", SLUG, "--to", "2", "--no-babysit", "--reason", "a spike at 3")


@pytest.fixture(scope="module")
def went_back() -> Iterator[Story]:
    """It saved steps 2 and 3 and crashed, went back to 2, crashed again before its next save, and
    was relaunched.
    """
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        story = Story(Path(folder).resolve()).begin(hardware={"count": 8})
        story.order("tiny-1", f"save 3; {CRASH}")
        story.order("tiny-2", CRASH)
        assert story.init() == 0
        assert story.launch() == 0
        story.wait_for_end()
        assert story.herorun(*BACK) == 0
        story.wait_for_end("tiny-2")
        story.tick()  # the same failure again, so a person has to order it
        assert story.herorun("relaunch", SLUG, "--no-babysit") == 0
        story.wait_for_end("tiny-3")
        yield story
        story.end()


def test_no_later_relaunch_picks_what_was_given_up(went_back: Story) -> None:
    start = f"{went_back.root}/step-2"
    assert went_back.starts == ["tiny-1 scratch", f"tiny-2 {start}", f"tiny-3 {start}"]
    assert (went_back.root / "step-3" / "metadata.json").exists()


def test_the_list_names_what_was_given_up(went_back: Story, capsys: CAPTURE) -> None:
    checkpoints = ask(went_back, capsys, "checkpoints", "list", SLUG, "--json").document[
        "checkpoints"
    ]
    refusals = {each["step"]: each["refused"] for each in checkpoints}
    assert refusals[2] == "" and mentions(refusals[3], "step 2", "a spike at 3")
    assert refusals[3] in " ".join(ask(went_back, capsys, "checkpoints", "list", SLUG).out.split())


def test_the_record_and_the_issue_keep_the_choice(went_back: Story) -> None:
    (launching,) = [each for each in went_back.events("Launching") if each.given_up]
    reason = "a spike at 3"
    assert (launching.given_up.step, launching.given_up.reason) == (2, reason)
    assert rollback_key("tiny-1", 2) in {event.key for event in went_back.events("Done")}
    assert launching.facts["Checkpoints no longer used"] == f"{went_back.root}/step-3"
    assert launching.facts["Discards"].startswith("1 step,")
    assert mentions(launching.facts["Tracker shows"], "tiny", "3 to", "3:")
    page, logbook = (went_back.state / "issue.md").read_text(), went_back.run.record.logbook()
    assert mentions(page, "**Rollback", "tiny-2**", f"- Reason: {reason}")
    assert "rollback by Dri" in logbook and f"- Reason: {reason}" in logbook
    assert went_back.herorun("logbook", "verify", SLUG) == 0


def test_what_was_given_up_is_not_gone_back_to(went_back: Story, capsys: CAPTURE) -> None:
    answer = ask(went_back, capsys, "rollback", SLUG, "--to", "3", "--dry-run")
    assert answer.code == 1
    assert mentions(answer.err, "went", "2")


def test_rows_of_what_was_given_up_are_no_progress(story: Story, capsys: CAPTURE) -> None:
    """The new instance ends with exit code 0 and without a row; the old one had reached step 4."""
    story.run_first_job()
    assert ask(story, capsys, "status", SLUG, "--json").document["progress"] == "~4/4"
    (story.data / "orders" / "tiny-2-at-once").touch()
    assert story.herorun(*BACK) == 0
    story.wait_for_end("tiny-2")
    entry = ask(story, capsys, "status", SLUG, "--json").document
    assert entry["progress"] == "~2/4"
    assert entry["summary"]["step"] == 2
    outcomes = {each["check"]: each["outcome"] for each in entry["findings"]}
    assert outcomes["ended-short"] == "fail"


@pytest.fixture
def crashed_story(story: Story) -> Story:
    return story.run_first_job(CRASH)


@pytest.mark.thorough
def test_a_dry_run_says_it_and_does_nothing(crashed_story: Story, capsys: CAPTURE) -> None:
    tip = crashed_story.run.record.tip
    capsys.readouterr()
    assert crashed_story.herorun(*BACK, "--dry-run", "--json") == 0
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert mentions(document["message"], "nothing", "done")
    assert [fact for fact in document["facts"] if fact.startswith("Discards: 1 step,")]
    assert [fact for fact in document["facts"] if f"  {fact}\n" not in output.err] == []
    assert (crashed_story.run.record.tip, len(crashed_story.starts)) == (tip, 1)


@pytest.mark.thorough
def test_what_cannot_be_gone_back_to(crashed_story: Story, capsys: CAPTURE) -> None:
    (crashed_story.root / "step-3").mkdir()
    for step, why in (
        ("1", "no checkpoint of that step is in its roots"),
        ("3", "it is incomplete"),
    ):
        answer = ask(crashed_story, capsys, "rollback", SLUG, "--to", step)
        assert (answer.code, why in answer.err) == (1, True), answer.err
    assert len(crashed_story.starts) == 1


@pytest.mark.thorough
def test_a_live_job_is_not_joined_by_another(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert story.herorun(*BACK) == 1
    (proposed_command,) = re.findall(r"`herorun ([^`]*)`", capsys.readouterr().err)
    assert len(story.starts) == 1
    assert story.herorun(*shlex.split(proposed_command), "--no-babysit") == 0
    assert story.run.record.memory().launchings["tiny-2"].given_up.reason == "a spike at 3"
    story.wait_for_end("tiny-2")
    assert story.starts[1] == f"tiny-2 {story.root}/step-2"
    assert story.herorun(*BACK, "--stop-first") == 0  # the very same order again
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_an_interrupted_rollback_is_not_overtaken_by_a_relaunch(
    crashed_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person ordered it, and herorun died: the babysitter must not go on from the newest
    checkpoint meanwhile.
    """
    from herorun.operations.orders import rollback

    monkeypatch.setattr(rollback, "intended_once", _dies)
    with pytest.raises(KeyboardInterrupt):
        rollback.rollback(crashed_story.run, 2, "a spike at 3", babysit=False)
    crashed_story.tick()
    assert len(crashed_story.starts) == 1
    assert any(
        key.startswith("escalate/relaunch/tiny-1") for key in crashed_story.run.record.memory().done
    )
    with pytest.raises(Blocked, match=r"rollback.*2.*herorun status tiny"):
        relaunch(crashed_story.run, "tiny-1", "again")
    monkeypatch.undo()
    assert crashed_story.herorun(*BACK) == 0
    crashed_story.wait_for_end("tiny-2")
    assert len(crashed_story.starts) == 2


def _dies(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.thorough
def test_under_resume_never_it_continues_only_as_another_run(story: Story, capsys: CAPTURE) -> None:
    story.sign(tracker={"resume": "never"})
    story.run_first_job(CRASH)
    for words in (BACK, ("relaunch", SLUG, "--no-babysit")):
        answer = ask(story, capsys, *words)
        assert answer.code == 1 and mentions(answer.err, "resume", '"never"')
    story.tick()
    assert len(story.starts) == 1
    page = (story.state / "issue.md").read_text()
    assert f"`herorun fork {SLUG} tiny-2 --from 2 --reason " in page
    assert story.run.record.memory().ends["tiny-1"].state is JobState.FAILED
