"""Nothing that shapes the training moves between two launches, or from a run to its fork, without a
signature.
"""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from herorun.runs import open_run
from stories import CRASH, SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
NEW = "tiny-b"
LOUD = "[trainer]\nseed = 7\nlearning_rate = 0.016\n"


@pytest.fixture
def crashed_story(home: Path) -> Iterator[Story]:
    """Its first instance saved step 2 and was killed."""
    story = Story(home).begin().run_first_job(CRASH)
    yield story
    story.end()


def sign_waiver(check: str, **changes: Any) -> dict[str, Any]:
    waiver = {
        "check": check,
        "reason": "meant so",
        "approved_by": "@dri",
        "expires": "2999-01-01T00:00:00Z",
    }
    return {**waiver, **changes}


def failing(story: Story, capsys: CAPTURE, slug: str = SLUG) -> dict[str, str]:
    """The open findings of preflight that block, with their details, by check; the last of
    several.
    """
    capsys.readouterr()
    story.herorun("preflight", slug, "--json")
    findings = json.loads(capsys.readouterr().out)["findings"]
    return {
        f["check"]: "\n".join((f["message"], *f["details"]))
        for f in findings
        if f["outcome"] in ("fail", "unknown") and f["response"] == "block" and not f["waiver"]
    }


def test_a_moved_root_blocks_and_the_old_checkpoint_is_named(
    crashed_story: Story, capsys: CAPTURE
) -> None:
    crashed_story.sign(output={"root": str(crashed_story.data / "elsewhere")})

    failures = failing(crashed_story, capsys)

    assert mentions(failures["moved-root"], "complete", "2 lies", f"{crashed_story.root}")
    assert mentions(
        failures["scratch-with-history"], "1 checkpoint", f"{crashed_story.root}/step-2"
    )
    assert crashed_story.launch() == 1 and len(crashed_story.starts) == 1


@pytest.mark.thorough
def test_a_new_id_asks_for_the_reason_and_the_record_keeps_it(
    crashed_story: Story, capsys: CAPTURE
) -> None:
    (crashed_story.work / "config.toml").write_text(LOUD)
    crashed_story.sign(tracker={"id": "tiny-2nd"})

    failures = failing(crashed_story, capsys)

    assert "trainer.learning_rate: absent -> 0.016 (trajectory)" in failures["changed-identity"]
    assert crashed_story.launch() == 1
    crashed_story.sign(tracker={"id": "tiny-2nd"}, waiver=[sign_waiver("changed-identity")])
    assert crashed_story.launch() == 0
    crashed_story.wait_for_end("tiny-2")
    for text in (
        crashed_story.run.record.logbook(),
        (crashed_story.state / "issue.md").read_text(),
    ):
        assert mentions(text.replace("\u200b", ""), "- Reason: ", "meant so", "@dri")
        assert mentions(text, "- Old identity: ", "tiny", f"{crashed_story.root}", "commit")
        assert "- Differs: trainer.learning_rate: absent -> 0.016 (trajectory)" in unescape(text)


@pytest.mark.thorough
def test_resume_never_is_refused_by_hand_with_the_command_that_works(
    crashed_story: Story, capsys: CAPTURE
) -> None:
    crashed_story.sign(tracker={"resume": "never"})

    failures = failing(crashed_story, capsys)

    assert f"`herorun fork {SLUG} NEW" in failures["resume-never"]
    assert crashed_story.launch() == 1 and len(crashed_story.starts) == 1
    assert crashed_story.herorun("fork", SLUG, NEW, "--reason", "never resumed") == 0


@pytest.mark.thorough
def test_a_fork_is_compared_with_the_instance_that_it_starts_from(
    crashed_story: Story, capsys: CAPTURE
) -> None:
    assert crashed_story.herorun("fork", SLUG, NEW, "--reason", "louder") == 0
    (crashed_story.work / "config.toml").write_text(LOUD)
    crashed_story.publish()
    assert crashed_story.herorun("fork", SLUG, NEW) == 0

    failures = failing(crashed_story, capsys, NEW)

    assert failures.keys() == {"fork-drift"}
    assert failures["fork-drift"].startswith("trainer.learning_rate: absent -> 0.016 (trajectory)")
    assert "tiny-1" in failures["fork-drift"]
    contract = crashed_story.work / "runs" / f"{NEW}.toml"
    assert crashed_story.herorun("waive", "fork-drift", NEW, "--reason", "meant so") == 0
    block = capsys.readouterr().out.replace('approved_by = ""', 'approved_by = "@dri"')
    contract.write_text(contract.read_text() + "\n" + block)
    crashed_story.publish()
    assert not failing(crashed_story, capsys, NEW)
    assert open_run(NEW, crashed_story.work).contract.start.source_run == SLUG


@pytest.mark.thorough
def test_a_fork_whose_source_is_not_named_is_found_by_the_root(
    crashed_story: Story, capsys: CAPTURE
) -> None:
    assert crashed_story.herorun("fork", SLUG, NEW, "--reason", "louder") == 0
    contract = crashed_story.work / "runs" / f"{NEW}.toml"
    contract.write_text(contract.read_text().replace(f'source_run = "{SLUG}"\n', ""))
    (crashed_story.work / "config.toml").write_text(LOUD)
    crashed_story.publish()
    assert crashed_story.herorun("init", NEW) == 0

    assert "tiny-1" in failing(crashed_story, capsys, NEW)["fork-drift"]
