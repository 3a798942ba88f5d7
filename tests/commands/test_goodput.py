"""`herorun goodput` of a run for real: its own journal, and rows that tell their times."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.answers import ask
from memory_folder import in_memory
from stories import CRASH, JOB, SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
TIMESTAMP_FIELD = '\\"timestamp\\": \\"$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)\\", '


@pytest.fixture(scope="module")
def finished_story() -> Iterator[Story]:
    """It crashed, was relaunched and finished."""
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        story = Story(Path(folder).resolve()).begin(hardware={"count": 8}, budget={"rate": 2.0})
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


def test_the_parts_are_the_whole_and_what_is_known_is_named(
    finished_story: Story, capsys: CAPTURE
) -> None:
    answer = ask(finished_story, capsys, "goodput", SLUG, "--json")
    document = answer.document
    assert answer.code == 0
    assert sum(document["states"].values()) == pytest.approx(document["wall_seconds"])
    assert document["states"]["queued"] > 0 and document["states"]["down"] > 0
    assert (document["instances"], document["interruptions"]) == (2, {"unknown": 1})
    # Step 2 is logged by both: the later row counts, and that tiny-1 had done 3 steps is in the
    # journal.
    assert (document["rows"], document["max_step"], document["lost_steps"]) == (4, 4, 1)
    assert document["delays"]["detection"]["count"] == 2
    assert document["cost"]["max"] == pytest.approx(2 * document["total_accelerator_hours"]["max"])


def test_for_people_it_fits_a_screen(finished_story: Story, capsys: CAPTURE) -> None:
    answer = ask(finished_story, capsys, "goodput", SLUG)
    assert answer.code == 0 and answer.out.startswith(f"{SLUG}: ")
    assert mentions(answer.out, "goodput", "%") and "1 step lost" in answer.out
    assert len(answer.out.splitlines()) < 25


def test_a_run_without_a_record(story: Story, capsys: CAPTURE) -> None:
    assert ask(story, capsys, "goodput", SLUG).code == 3


def test_a_resume_is_compared_with_the_instance_before_it(
    finished_story: Story, capsys: CAPTURE
) -> None:
    """tiny-2 did step 2 again, and the later row is kept: no step is left in both."""
    answer = ask(finished_story, capsys, "compare", "tiny-1", "tiny-2", "--json")
    assert (answer.code, answer.document["verdict"], answer.document["a"]) == (
        3,
        "not comparable",
        "tiny-1",
    )
    whole = ask(finished_story, capsys, "compare", SLUG, "tiny-2", "--json").document
    assert (whole["kind"], whole["window"], whole["verdict"]) == ("resume", [2, 3], "unjudged")
    assert whole["metrics"][0]["equal"] == 2
    assert any(line.startswith("eval: ") for line in whole["untested"])
    assert ask(finished_story, capsys, "compare", SLUG, "tiny-9").code == 2
