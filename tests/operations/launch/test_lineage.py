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
def crashed(home: Path) -> Iterator[Story]:
    """Its first instance saved step 2 and was killed."""
    story = Story(home).begin().launched(CRASH)
    yield story
    story.end()


def signed(check: str, **changes: Any) -> dict[str, Any]:
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
    crashed: Story, capsys: CAPTURE
) -> None:
    crashed.sign(output={"root": str(crashed.data / "elsewhere")})

    failures = failing(crashed, capsys)

    assert mentions(failures["moved-root"], "complete", "2 lies", f"{crashed.root}")
    assert mentions(failures["scratch-with-history"], "1 checkpoint", f"{crashed.root}/step-2")
    assert crashed.launch() == 1 and len(crashed.starts) == 1


@pytest.mark.thorough
def test_a_new_id_asks_for_the_reason_and_the_record_keeps_it(
    crashed: Story, capsys: CAPTURE
) -> None:
    (crashed.work / "config.toml").write_text(LOUD)
    crashed.sign(tracker={"id": "tiny-2nd"})

    failures = failing(crashed, capsys)

    assert "trainer.learning_rate: absent -> 0.016 (trajectory)" in failures["changed-identity"]
    assert crashed.launch() == 1
    crashed.sign(tracker={"id": "tiny-2nd"}, waiver=[signed("changed-identity")])
    assert crashed.launch() == 0
    crashed.ended("tiny-2")
    for text in (crashed.run.record.logbook(), (crashed.state / "issue.md").read_text()):
        assert mentions(text.replace("\u200b", ""), "- Reason: ", "meant so", "@dri")
        assert mentions(text, "- Old identity: ", "tiny", f"{crashed.root}", "commit")
        assert "- Differs: trainer.learning_rate: absent -> 0.016 (trajectory)" in unescape(text)


@pytest.mark.thorough
def test_resume_never_is_refused_by_hand_with_the_command_that_works(
    crashed: Story, capsys: CAPTURE
) -> None:
    crashed.sign(tracker={"resume": "never"})

    failures = failing(crashed, capsys)

    assert f"`herorun fork {SLUG} NEW" in failures["resume-never"]
    assert crashed.launch() == 1 and len(crashed.starts) == 1
    assert crashed.herorun("fork", SLUG, NEW, "--reason", "never resumed") == 0


@pytest.mark.thorough
def test_a_fork_is_compared_with_the_instance_that_it_starts_from(
    crashed: Story, capsys: CAPTURE
) -> None:
    assert crashed.herorun("fork", SLUG, NEW, "--reason", "louder") == 0
    (crashed.work / "config.toml").write_text(LOUD)
    crashed.publish()
    assert crashed.herorun("fork", SLUG, NEW) == 0

    failures = failing(crashed, capsys, NEW)

    assert failures.keys() == {"fork-drift"}
    assert failures["fork-drift"].startswith("trainer.learning_rate: absent -> 0.016 (trajectory)")
    assert "tiny-1" in failures["fork-drift"]
    contract = crashed.work / "runs" / f"{NEW}.toml"
    assert crashed.herorun("waive", "fork-drift", NEW, "--reason", "meant so") == 0
    block = capsys.readouterr().out.replace('approved_by = ""', 'approved_by = "@dri"')
    contract.write_text(contract.read_text() + "\n" + block)
    crashed.publish()
    assert not failing(crashed, capsys, NEW)
    assert open_run(NEW, crashed.work).contract.start.source_run == SLUG


@pytest.mark.thorough
def test_a_fork_whose_source_is_not_named_is_found_by_the_root(
    crashed: Story, capsys: CAPTURE
) -> None:
    assert crashed.herorun("fork", SLUG, NEW, "--reason", "louder") == 0
    contract = crashed.work / "runs" / f"{NEW}.toml"
    contract.write_text(contract.read_text().replace(f'source_run = "{SLUG}"\n', ""))
    (crashed.work / "config.toml").write_text(LOUD)
    crashed.publish()
    assert crashed.herorun("init", NEW) == 0

    assert "tiny-1" in failing(crashed, capsys, NEW)["fork-drift"]
