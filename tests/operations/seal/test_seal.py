"""The seal: one statement, one tag, here and on the remote, finished as it was begun."""

import json
import tomllib
from typing import Any

import pytest

from commands.answers import ask
from herorun.operations.orders import note
from herorun.operations.seal import seal
from stories import CRASH, SLUG, TAG, WAIT, Story, git
from wording import mentions

NOTE = (
    "note",
    SLUG,
    "--status",
    "s",
    "--evidence",
    "e",
    "--decision",
    "d",
    "--next",
    "n",
    "--caveat",
)
NO_TAGS = "#!/bin/sh\nwhile read old new ref; do case $ref in refs/tags/*) exit 1;; esac; done\n"


@pytest.fixture
def finished_story(story: Story) -> Story:
    """A run that has ended well."""
    return story.run_to_success()


def findings(story: Story, capsys: pytest.CaptureFixture[str], code: int) -> dict[str, Any]:
    """The open findings of a seal that ends with that code, by check."""
    capsys.readouterr()
    assert story.herorun("seal", SLUG, "--json") == code
    document = json.loads(capsys.readouterr().out)
    return {f["check"]: f for f in document["findings"] if f["outcome"] in ("fail", "unknown")}


def waive(story: Story, *checks: str) -> None:
    """The DRI accepts the findings of these checks."""
    waiver_fields = {"reason": "a test", "approved_by": "@dri", "expires": "2999-01-01T00:00:00Z"}
    story.sign(waiver=[{"check": check, **waiver_fields} for check in checks])


def test_the_tag_states_the_run(story: Story) -> None:
    story.order("tiny-2", "")
    story.run_first_job(CRASH)
    story.tick()
    story.wait_for_end("tiny-2")
    story.herorun(*NOTE, "mixed")
    story.tick()
    assert story.seal() == 0
    statement = story.statement_facts
    assert [i["name"] for i in statement["instances"]] == ["tiny-1", "tiny-2"]
    assert (statement["run"], statement["caveats"], statement["final_step"]) == (
        "tiny",
        ["mixed"],
        4,
    )
    assert statement["final_checkpoint"] == str(story.root / "step-4")
    assert statement["commit"] == git(story.work, "rev-parse", f"{TAG}^{{commit}}").strip()
    assert story.statement_in_tag == story.statement_in_record
    assert story.tags() == story.tags(story.origin)
    text = git(story.work, "cat-file", "tag", TAG)
    assert mentions(text, "tiny", "Status")


def test_sealing_twice_is_one_seal(
    finished_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finished_story.seal() == 0
    before = (finished_story.tags(), finished_story.comments, len(finished_story.lines))
    seal_document = ask(finished_story, capsys, "seal", SLUG, "--json").document
    assert (seal_document["tag_pushed"], seal_document["record_pushed"]) == (True, True)
    assert (finished_story.tags(), finished_story.comments, len(finished_story.lines)) == before
    # whatever becomes of the rows, the seal has said how far it came
    (finished_story.root / "metrics.jsonl").unlink()
    document = ask(finished_story, capsys, "status", SLUG, "--json").document
    assert (document["stage"], document["progress"]) == ("sealed", "~4/4")
    assert (
        document["summary"]["step"],
        document["summary"]["final_step"],
        document["summary"]["loss"],
    ) == (
        4,
        4,
        2.5,
    )
    assert f"{TAG}, at step 4/4" in ask(finished_story, capsys, "status", SLUG).out


@pytest.mark.thorough
def test_an_unfinished_run_is_not_tagged(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.run_first_job(CRASH)
    capsys.readouterr()
    assert story.herorun("seal", SLUG, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    blocking_checks = {f["check"] for f in document["findings"] if f["outcome"] == "fail"}
    assert blocking_checks == set(SHORT)
    assert (document["verdict"], document["tag"], story.tags()) == ("blocked", None, [])


@pytest.mark.thorough
def test_a_tag_that_the_remote_refused_is_finished_as_it_was_made(finished_story: Story) -> None:
    hook = finished_story.refuse_pushes(NO_TAGS)
    assert finished_story.seal() == 3
    assert finished_story.events("Sealed") == []
    sealed_facts = finished_story.statement_in_tag
    hook.unlink()
    assert finished_story.seal() == 0
    assert finished_story.statement_in_tag == finished_story.statement_in_record == sealed_facts
    assert finished_story.tags() == finished_story.tags(finished_story.origin)
    assert finished_story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
def test_what_is_not_on_the_remote_is_not_tagged(
    finished_story: Story, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note, "PATIENCE", 0.0)
    finished_story.refuse_pushes()
    assert finished_story.herorun(*NOTE, "late") == 3
    assert finished_story.seal() != 0
    assert mentions(capsys.readouterr().err, "note", "clone", "not on origin")
    assert (finished_story.tags(), finished_story.events("Sealed")) == ([], [])


@pytest.mark.thorough
def test_a_left_over_tag_of_another_state_is_never_taken_for_the_seal(
    finished_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    git(finished_story.work, "tag", "-a", TAG, "-m", "by hand")
    capsys.readouterr()
    assert finished_story.seal() == 1
    assert mentions(capsys.readouterr().err, "git", f"{TAG}")
    assert finished_story.events("Sealed") == []
    git(finished_story.work, "tag", "-d", TAG)
    assert finished_story.seal() == 0


@pytest.mark.thorough
def test_another_tag_on_the_remote_is_never_moved(
    finished_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    git(finished_story.work, "push", "-q", "origin", f"HEAD:refs/tags/{TAG}")
    before = finished_story.tags(finished_story.origin)
    assert finished_story.seal() == 1
    assert mentions(capsys.readouterr().err, "origin", f"{TAG}", "never")
    assert finished_story.tags(finished_story.origin) == before


@pytest.mark.thorough
def test_a_sealed_run_is_told_of_while_the_remote_is_away(
    finished_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finished_story.seal() == 0
    finished_story.origin.rename(finished_story.home / "elsewhere")
    capsys.readouterr()
    assert (
        finished_story.herorun("seal", SLUG, "--json") == 3
    )  # whether origin has the tag is unknown
    answer = capsys.readouterr()
    document = json.loads(answer.out)
    assert (document["verdict"], document["tag"]) == ("unknown", TAG)
    assert (document["tag_pushed"], document["record_pushed"]) == (None, None)
    assert mentions(answer.err, "unknown", "origin", "tag")


# --- what nobody has judged -----------------------------------------------------------------------


@pytest.mark.thorough
def test_a_loss_that_nobody_has_judged_blocks(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job()
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "train/loss": NaN}\n')
    failures = findings(story, capsys, 1)
    assert failures.keys() == {"open-alerts"}
    assert failures["open-alerts"]["subject"] == "not-finite[train/loss]"
    assert (story.tags(), story.events("Observed", "Decided")) == ([], [])


@pytest.mark.thorough
def test_what_a_tick_has_told_keeps_its_key_and_can_be_waived(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job()
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "train/loss": NaN}\n')
    assert story.tick() == 1
    (alert,) = story.events("Decided")[-1].alerts
    assert findings(story, capsys, 1)["open-alerts"]["subject"] == alert.key
    waive(story, "open-alerts")
    assert story.seal() == 0
    assert [w["check"] for w in story.statement_facts["waivers"]] == ["open-alerts"]


@pytest.mark.thorough
def test_the_waiver_that_is_proposed_covers_what_could_not_be_read(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job()
    metrics = story.root / "metrics.jsonl"
    metrics.unlink()
    metrics.mkdir()
    subjects = [
        f["subject"]
        for f in ask(story, capsys, "seal", SLUG, "--json").document["findings"]
        if (f["check"], f["outcome"]) == ("open-alerts", "unknown")
    ]
    blocks = tomllib.loads(ask(story, capsys, "waive", "open-alerts", SLUG).out)["waiver"]
    assert [each["subject"] for each in blocks] == subjects and subjects
    signed_blocks = [
        {**each, "approved_by": "@dri", "reason": "a test", "expires": "2999-01-01T00:00:00Z"}
        for each in blocks
    ]
    story.sign(waiver=signed_blocks)
    after = ask(story, capsys, "seal", SLUG, "--json").document["findings"]
    open_alerts = [f["waiver"] for f in after if f["check"] == "open-alerts"]
    assert all(open_alerts) and len(open_alerts) == len(subjects)


@pytest.mark.thorough
def test_a_look_that_cannot_see_is_unknown(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job()
    metrics = story.root / "metrics.jsonl"
    metrics.unlink()
    metrics.mkdir()
    by_check = findings(story, capsys, 3)
    assert {name: items["outcome"] for name, items in by_check.items()} == {
        "open-alerts": "unknown",
        "missing-final-metrics": "unknown",
    }
    assert story.tags() == []


# --- only what is there ---------------------------------------------------------------------------

SHORT = (
    *(
        "job-not-succeeded",
        "short-of-final-step",
        "incomplete-final-checkpoint",
        "missing-final-metrics",
    ),
    "open-alerts",
)


@pytest.mark.thorough
def test_a_run_that_stopped_short_states_what_was_found(story: Story) -> None:
    story.run_first_job(CRASH)
    waive(story, *SHORT)
    assert story.seal() == 0
    statement = story.statement_facts
    assert statement["final_checkpoint"] == str(story.root / "step-2")
    assert (statement["reached_step"], statement["final_step"]) == (3, 4)
    (sealed_event,) = story.events("Sealed")
    assert (
        sealed_event.lines["Evidence"]
        == f"final checkpoint {story.root}/step-2; step 3 of 4; train/loss 2.5"
    )


@pytest.mark.thorough
def test_without_metrics_and_checkpoints_none_are_stated(story: Story) -> None:
    story.run_first_job(f"rm -r $root/step-2 $root/metrics.jsonl; {CRASH}")
    waive(story, *SHORT)
    assert story.seal() == 0
    statement = story.statement_facts
    assert (
        statement["final_checkpoint"],
        statement["reached_step"],
        statement["final_metrics"],
    ) == (
        None,
        None,
        {},
    )
    (sealed_event,) = story.events("Sealed")
    assert mentions(sealed_event.lines["Evidence"], "4", "metrics")


@pytest.mark.thorough
def test_a_trainer_that_logs_seldom_is_sealed_by_its_final_checkpoint(story: Story) -> None:
    story.run_first_job()
    rows = (story.root / "metrics.jsonl").read_text().splitlines(keepends=True)
    (story.root / "metrics.jsonl").write_text("".join(rows[0:3:2]))
    assert story.seal() == 0
    assert story.statement_facts["reached_step"] == 4


# --- what was noted in between --------------------------------------------------------------------


@pytest.mark.thorough
def test_a_caveat_after_a_tag_that_never_got_out_asks_to_remove_it(
    finished_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = finished_story.refuse_pushes(NO_TAGS)
    assert finished_story.seal() == 3
    hook.unlink()
    finished_story.herorun(*NOTE, "mixed")
    capsys.readouterr()
    assert finished_story.seal() == 1
    assert mentions(capsys.readouterr().err, "pushed", "git", f"{TAG}")
    git(finished_story.work, "tag", "-d", TAG)
    assert finished_story.seal() == 0
    assert finished_story.statement_facts["caveats"] == ["mixed"]


def interrupt_seal(story: Story, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A seal that ends in the call of that name."""
    with monkeypatch.context() as patch:
        patch.setattr(seal, name, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert story.seal() == 130


@pytest.mark.thorough
def test_a_caveat_after_an_intent_is_stated(
    finished_story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_seal(finished_story, monkeypatch, "make_tag")
    finished_story.herorun(*NOTE, "mixed")
    assert finished_story.seal() == 0
    assert finished_story.statement_facts["caveats"] == ["mixed"]
    assert finished_story.run.record.memory().intended == {}
    assert finished_story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
def test_a_caveat_after_the_tag_is_out_is_told_of(
    finished_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tag cannot be taken back; and a run that could never be sealed would help nobody."""
    interrupt_seal(finished_story, monkeypatch, "seal_lines")
    assert finished_story.tags(finished_story.origin) == finished_story.tags() != []
    finished_story.herorun(*NOTE, "mixed")
    capsys.readouterr()
    assert finished_story.seal() == 0
    assert mentions(capsys.readouterr().err, "noted", "mixed")
    assert finished_story.statement_facts["caveats"] == []


@pytest.mark.thorough
def test_another_clone_fetches_the_tag_of_an_interrupted_seal(
    finished_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_seal(finished_story, monkeypatch, "seal_lines")
    other = finished_story.clone("elsewhere")
    git(other.work, "tag", "-d", TAG)
    capsys.readouterr()
    assert other.seal() == 1
    assert mentions(capsys.readouterr().err, "git", "origin", f"{TAG}")
    git(other.work, "fetch", "-q", "origin", "tag", TAG)
    assert other.seal() == 0
    assert other.tags() == finished_story.tags(finished_story.origin)


def look(story: Story, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """The exit code of a command and its document; what it told people meanwhile is left out."""
    capsys.readouterr()
    code = story.herorun(*words, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_a_run_that_never_checked_in_is_sealed_with_the_doubt_alone(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its warning is not over because the job ended: a person takes note of it, and the DRI accepts
    it for the seal.
    """
    (story.data / "no-receipt").touch()
    story.run_first_job(WAIT)
    for state in ("pending", "firing"):
        snapshot = look(story, capsys, "babysit", SLUG, "--once")
        assert (snapshot[0], snapshot[1]["alerts"][0]["state"]) == (3, state)
        assert [each["evidence"] for each in snapshot[1]["missing_evidence"]] == ["receipt"]
    (story.data / "go").touch()
    story.wait_for_end()
    for words in (("babysit", SLUG, "--once"), ("status", SLUG)):
        snapshot = look(story, capsys, *words)
        (alert,) = snapshot[1]["alerts"]
        assert (snapshot[0], snapshot[1]["run"]) == (3, "finished")
        assert (alert["check"], alert["state"]) == ("not-checked-in", "ended-unresolved")
    assert [
        key
        for key in story.comments
        if key.startswith("tell/not-checked-in") and key.endswith("/ended")
    ]
    (incident,) = look(story, capsys, "report", SLUG)[1]["alerts"]
    assert (incident["state"], incident["acknowledged"]) == ("ended-unresolved", False)

    assert set(findings(story, capsys, 1)) == {"not-checked-in", "open-alerts"}
    assert look(story, capsys, "status", SLUG)[1]["next"] == f"herorun ack {SLUG}"
    assert story.herorun("ack", SLUG, "not-checked-in", "--reason", "an old image") == 0
    acknowledged_answer = look(story, capsys, "status", SLUG)[1]
    assert (acknowledged_answer["alerts"], acknowledged_answer["next"]) == (
        [],
        f"herorun waive not-checked-in {SLUG}",
    )
    assert set(findings(story, capsys, 1)) == {"not-checked-in"}
    waive(story, "not-checked-in")
    assert look(story, capsys, "status", SLUG)[1]["next"] == f"herorun seal {SLUG}"
    assert story.seal() == 0
    caveats = "\n".join(story.statement_facts["caveats"])
    for doubt in (
        "alert not-checked-in [tiny-1] ended unresolved",
        ": an old image",
        "tiny-1 never checked in",
        "waived: not-checked-in, by @dri: a test",
    ):
        assert doubt in caveats
    assert f"- Caveats: {story.statement_facts['caveats'][0]}" in git(
        story.work, "cat-file", "tag", TAG
    )


@pytest.mark.thorough
def test_a_receipt_that_arrives_after_the_end_resolves_its_warning(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    (story.data / "no-receipt").touch()
    story.run_first_job(WAIT)
    for _ in range(2):
        assert story.tick() == 3
    (story.data / "go").touch()
    story.wait_for_end()
    assert (
        look(story, capsys, "babysit", SLUG, "--once")[1]["alerts"][0]["state"]
        == "ended-unresolved"
    )
    receipts = story.root / "_herorun" / "receipts"
    receipts.mkdir(parents=True)
    (receipts / "tiny-1.1.json").write_text(
        json.dumps({"instance": "tiny-1", "attempt": 1, "outcome": "pass", "items": []})
    )
    code, snapshot = look(story, capsys, "status", SLUG)
    assert (code, snapshot["missing_evidence"], snapshot["next"]) == (0, [], f"herorun seal {SLUG}")
    assert [alert["state"] for alert in snapshot["alerts"]] == ["resolved"]
    assert story.tick() == 0
    assert [
        key
        for key in story.comments
        if key.startswith("tell/not-checked-in") and "/resolved" in key
    ]
    assert story.seal() == 0
    assert "not-checked-in" not in "\n".join(story.statement_facts["caveats"])
