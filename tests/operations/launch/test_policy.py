"""`[policy] mode`: what a lenient one lets pass is said and recorded, and some findings stand in
every mode.
"""

import json
from typing import Any

import pytest

from stories import CRASH, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
WARN, AUDIT = {"mode": "warn"}, {"mode": "audit"}


def ask_json(story: Story, capsys: CAPTURE, code: int, *words: str) -> Any:
    capsys.readouterr()
    assert story.herorun(*words, "--json") == code
    return json.loads(capsys.readouterr().out)


def open_ones(values: Any) -> list[str]:
    acting = [f for f in values["findings"] if f["response"] == "block" and not f["waiver"]]
    return [f["check"] for f in acting if f["outcome"] in ("fail", "unknown")]


@pytest.fixture
def dirty(story: Story) -> Story:
    """A run whose tree is dirty, which blocks its launch."""
    story.init()
    (story.work / "notes").write_text("todo")
    return story


def lenient(story: Story, policy: dict[str, str], **changes: Any) -> None:
    """Sign the contract with this policy, and dirty the tree again."""
    (story.work / "notes").unlink(missing_ok=True)
    story.sign(policy=policy, **changes)
    (story.work / "notes").write_text("todo")


def test_findings_are_enforced_by_default(dirty: Story, capsys: CAPTURE) -> None:
    answer = ask_json(dirty, capsys, 1, "preflight", SLUG)
    assert (answer["verdict"], answer["verdict_if_enforced"], answer["mode"]) == (
        "blocked",
        "blocked",
        "enforce",
    )


@pytest.mark.thorough
@pytest.mark.parametrize("policy", [WARN, AUDIT])
def test_a_lenient_mode_launches_and_says_what_it_would_have_been(
    dirty: Story, capsys: CAPTURE, policy: dict[str, str]
) -> None:
    lenient(dirty, policy)
    answer = ask_json(dirty, capsys, 0, "launch", SLUG, "--no-babysit")
    assert (answer["verdict"], answer["verdict_if_enforced"], answer["mode"]) == (
        "clear",
        "blocked",
        policy["mode"],
    )
    assert open_ones(answer) == ["dirty-tree"]
    dirty.wait_for_end()


@pytest.mark.thorough
def test_what_was_overlooked_stands_in_the_record_and_in_the_issue(dirty: Story) -> None:
    lenient(dirty, AUDIT)
    assert dirty.launch() == 0
    dirty.wait_for_end()
    (launching,), (launched_event,) = dirty.events("Launching"), dirty.events("Launched")
    policy = launching.policy
    assert launched_event.entry["Policy"] == policy
    assert mentions(policy, "audit", "1 finding", "dirty-tree")
    assert mentions(launching.overlooked[0], "dirty-tree: ", "1")
    assert mentions(launched_event.entry["Dirty tree"], "not approved")
    for text in (dirty.run.record.logbook(), (dirty.state / "issue.md").read_text()):
        assert f"Policy: {policy}" in text


@pytest.mark.thorough
def test_an_enforced_launch_says_nothing_of_a_policy(story: Story) -> None:
    story.run_first_job()
    assert "Policy" not in story.events("Launched")[0].entry


@pytest.mark.thorough
def test_people_see_each_finding_in_warn_and_one_line_in_audit(
    dirty: Story, capsys: CAPTURE
) -> None:
    for policy, lines in ((WARN, 1), (AUDIT, 0)):
        lenient(dirty, policy)
        capsys.readouterr()
        assert dirty.herorun("preflight", SLUG) == 0
        page = capsys.readouterr().out
        assert page.count("fix: ") == lines
        assert mentions(page, "not enforced: ", "[policy]", "audit") is (not lines)
        verdict, what_runs, _ = page.splitlines()[-3:]
        assert mentions(verdict, "NOT ENFORCED", "1 failed")
        assert mentions(verdict, "BLOCKED", "[policy]", "enforce", f"{policy['mode']}")
        assert mentions(what_runs, "commit", dirty.run.repository.resolve("HEAD")[:9], "without")
    lenient(dirty, WARN, code={"in_place": True})
    capsys.readouterr()
    assert dirty.herorun("preflight", SLUG) == 0
    assert mentions(capsys.readouterr().out.splitlines()[-2], "work tree", "changes")


@pytest.mark.thorough
def test_a_launch_shows_what_it_lets_pass(dirty: Story, capsys: CAPTURE) -> None:
    lenient(dirty, WARN)
    capsys.readouterr()
    assert dirty.launch() == 0
    dirty.wait_for_end()
    page = capsys.readouterr().out
    assert page.index("dirty-tree") < page.index("submitted tiny-1")


@pytest.mark.thorough
@pytest.mark.parametrize("policy", [WARN, AUDIT])
def test_a_hero_run_is_always_enforced(
    dirty: Story, capsys: CAPTURE, policy: dict[str, str]
) -> None:
    waiver = {"reason": "r", "approved_by": "@dri", "expires": "2999-01-01T00:00:00Z"}
    lenient(dirty, policy, hero=True, waiver=[{"check": "lenient-policy", **waiver}])
    answer = ask_json(dirty, capsys, 1, "preflight", SLUG)
    assert (answer["verdict"], answer["mode"]) == ("blocked", "enforce")
    assert "dirty-tree" in open_ones(answer)
    lenient(dirty, policy, hero=True)
    assert "lenient-policy" in open_ones(ask_json(dirty, capsys, 1, "preflight", SLUG))


def test_only_the_committed_mode_counts(dirty: Story, capsys: CAPTURE) -> None:
    contract = dirty.work / "runs" / "tiny.toml"
    contract.write_text(contract.read_text() + '\n[policy]\nmode = "audit"\n')
    answer = ask_json(dirty, capsys, 1, "preflight", SLUG)
    assert (answer["verdict"], answer["mode"]) == ("blocked", "enforce")


@pytest.mark.thorough
@pytest.mark.parametrize("policy", [WARN, AUDIT])
def test_what_would_do_harm_stands_in_every_mode(
    story: Story, capsys: CAPTURE, policy: dict[str, str]
) -> None:
    story.sign(policy=policy)
    story.run_first_job(WAIT)
    answer = ask_json(story, capsys, 1, "launch", SLUG, "--no-babysit")
    assert (answer["verdict"], answer["verdict_if_enforced"]) == ("blocked", "blocked")
    assert len(story.starts) == 1
    capsys.readouterr()
    assert story.launch() == 1
    assert mentions(capsys.readouterr().out, "running", "tiny-1", "status tiny")


@pytest.mark.thorough
def test_what_could_not_be_read_is_overlooked_too_but_never_a_missing_plan(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(policy=WARN)
    story.init()
    story.origin.rename(story.home / "away")
    answer = ask_json(story, capsys, 0, "preflight", SLUG)
    assert (answer["verdict"], answer["verdict_if_enforced"]) == ("clear", "unknown")
    (story.home / "away").rename(story.origin)
    (story.work / "config.toml").write_text("[[[")
    story.publish()
    answer = ask_json(story, capsys, 3, "preflight", SLUG)
    assert (answer["verdict"], answer["plan"]) == ("unknown", None)


@pytest.mark.thorough
def test_a_relaunch_that_nobody_reads_is_enforced(story: Story) -> None:
    story.init()  # which would refuse that final step
    story.sign(policy=WARN, final_step="nowhere")
    story.order("tiny-1", CRASH)
    assert story.launch() == 0
    story.wait_for_end()
    assert story.tick() == 1
    assert len(story.starts) == 1
    assert "escalate/relaunch/tiny-1/gate" in story.comments
