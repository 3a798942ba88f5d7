"""The command that `status` proposes works when it is typed."""

import json

import pytest

from commands.answers import ask
from stories import CRASH, REFUSE, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def pass_a_day(story: Story) -> None:
    """Let a day pass since this clone first saw the lease."""
    path = story.state / "lease-seen.json"
    mark_document = json.loads(path.read_text())
    path.write_text(json.dumps({**mark_document, "uptime": mark_document["uptime"] - 86_400}))


def type_takeover(story: Story, take: str) -> None:
    words = take.split()[1:]
    assert story.herorun(*words[:3]) == 3  # it is watched for the time that `take` names
    pass_a_day(story)
    assert story.herorun(*words) == 0


@pytest.mark.parametrize("end", ["failed", "stopped"])
def test_a_job_that_did_not_succeed_after_its_final_checkpoint_is_sealed_by_a_waiver(
    story: Story, capsys: CAPTURE, end: str
) -> None:
    row = 'echo "{\\"step\\": 3, \\"train/loss\\": 2.5}" >> "$root/metrics.jsonl"; save 4; '
    assert story.init() == 0
    story.order("tiny-1", row + (WAIT if end == "stopped" else "exit 1"))
    assert story.launch() == 0
    story.reaches(3)
    if end == "stopped":
        assert story.herorun("stop", SLUG) == 0
    story.wait_for_end()
    story.tick()
    story.tick()
    answer = ask(story, capsys, "status", SLUG, "--json").document
    command = answer["next"].split()
    assert (answer["run"], command[:2]) == ("down", ["herorun", "waive"])
    assert "to seal" in ask(story, capsys, "status", SLUG).out

    lines = ask(story, capsys, *command[1:], "--reason", "it had saved its final step").out
    signed_text = lines.replace('approved_by = ""', 'approved_by = "@dri"')
    (story.work / "runs" / f"{SLUG}.toml").open("a").write(signed_text)
    story.publish()
    answer = ask(story, capsys, "status", SLUG, "--json").document
    assert answer["next"] == f"herorun seal {SLUG}"
    assert "to seal" in ask(story, capsys, "status", SLUG).out
    assert story.seal() == 0
    assert mentions(ask(story, capsys, "verify", SLUG).out, "clear")


def test_a_stopped_job_without_its_final_checkpoint_is_relaunched(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    assert story.herorun("stop", SLUG) == 0
    story.tick()
    document = ask(story, capsys, "status", SLUG, "--json").document
    assert document["next"] == "herorun relaunch tiny"
    # nothing is left to monitor, so no next tick is promised
    (row,) = ask(story, capsys, "watch", SLUG, "--json").document["runs"]
    assert (document["summary"]["next_tick"], row["summary"]["next_tick"]) == (None, None)


def test_a_job_that_was_refused_at_check_in_is_not_relaunched_as_it_was(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(REFUSE)
    story.tick()
    assert ask(story, capsys, "status", SLUG, "--json").document["next"] == "herorun preflight tiny"


def test_a_run_whose_lease_another_owner_holds_is_taken_over_before_it_is_sealed(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(
        'echo "{\\"step\\": 3, \\"train/loss\\": 2.5}" >> "$root/metrics.jsonl"; save 4'
    )
    story.wait_for_end()
    assert story.herorun("handoff", SLUG, "--to", "eve@there") == 0
    take, _, seal = ask(story, capsys, "status", SLUG, "--json").document["next"].partition(" && ")
    assert (take.split()[:4], seal) == (
        ["herorun", "handoff", SLUG, "--take"],
        f"herorun seal {SLUG}",
    )
    assert mentions(ask(story, capsys, "status", SLUG).out, "lease", "undone")
    assert story.seal() == 1  # so the command alone would not have worked

    type_takeover(story, take)
    assert ask(story, capsys, "status", SLUG, "--json").document["next"] == seal
    assert story.herorun(*seal.split()[1:]) == 0


def test_a_finished_run_is_not_alarmed_by_a_lease_that_nobody_renews(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job()
    assert story.herorun("handoff", SLUG, "--to", "eve@there") == 0
    ask(story, capsys, "status", SLUG)
    pass_a_day(story)
    answer = ask(story, capsys, "status", SLUG, "--json")
    assert (answer.document["run"], answer.document["alerts"], answer.code) == ("finished", [], 0)


def test_the_command_of_an_alert_takes_the_run_over_first_too(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(babysit={"recovery": "observe"})
    story.run_first_job(CRASH)
    assert story.herorun("handoff", SLUG, "--to", "eve@there") == 0
    answer = ask(story, capsys, "status", SLUG, "--json").document
    take, _, relaunch = answer["next"].partition(" && ")
    assert (take.split()[:4], relaunch) == (
        ["herorun", "handoff", SLUG, "--take"],
        f"herorun relaunch {SLUG}",
    )
    (alert,) = [each for each in answer["alerts"] if each["check"] == "crashed"]
    assert "--take" not in json.dumps(alert)  # it is only for a clone that is gone, as a note says
    text = ask(story, capsys, "status", SLUG).out.replace(f"-C {story.work} ", "")
    assert mentions(text, "see `note`", "note", "gone", "if gone", answer["next"].split(" && ")[1])

    assert story.herorun(*relaunch.split()[1:]) == 1
    type_takeover(story, take)
    assert story.herorun(*relaunch.split()[1:], "--no-babysit") == 0
