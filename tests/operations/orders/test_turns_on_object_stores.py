"""Rollback and fork of a run whose checkpoints lie on gs:// and s3:// and whose rows W&B's own
client sent, by the real commands.
"""

import json
import os
import signal
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import tomli_w

from commands.answers import ask
from herorun.trackers import wandb as tracker
from operations.launch import test_on_object_stores as stores
from operations.seal.sealed_story import seal_json
from services.servers import Service
from services.wandb_service import WandbService, reading
from stories import SLUG, TAG, Story, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]
NEW = "tiny-b"
BACK = ("rollback", SLUG, "--to", "104", "--no-babysit", "--reason", "a spike at 106")


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbService]:
    """One process asks it for all commands: that of a launch to a seal starts one for each."""
    with stores.serving(monkeypatch) as service, reading() as reader:
        monkeypatch.setattr(tracker, "ask_client", reader)
        yield service


@pytest.fixture
def begun_story(story: Story, gcs: Service, s3: Service, wandb: WandbService) -> Story:
    return stores.begin_on_stores(story, gcs, s3, wandb)


def rows(wandb: WandbService, slug: str = SLUG) -> dict[int, Any]:
    """What W&B holds, by step; each is there once."""
    history = wandb.runs()[f"ent/proj/{slug}"]["history"]
    by_step = {row["_step"]: row for row in history}
    assert len(by_step) == len(history)
    return by_step


def crashes_after_106(begun_story: Story, wandb: WandbService) -> None:
    """It has saved 102 and 106 in S3 and 104 in Cloud Storage, and W&B has what it logged."""
    (begun_story.data / "orders" / "tiny-1-107").touch()
    assert begun_story.launch() == 0
    eventually(lambda: len(stores.logged_steps(wandb)) == 7, 60)
    temporary = stores.roots(begun_story)["temporary_root"]
    eventually(
        lambda: (
            begun_story.run.store.names(f"{temporary}/step-106") == ("metadata.json", "weights/")
        ),
        30,
    )
    # which records its receipt: the root is an object store, so that only its log has one
    begun_story.tick()
    os.kill(
        json.loads((begun_story.jobs / "tiny-1" / "started.json").read_text())["pid"],
        signal.SIGKILL,
    )
    begun_story.wait_for_end()


def starts(begun_story: Story) -> list[str]:
    return [event.plan["start"]["value"]["path"] for event in begun_story.events("Launching")]


def test_a_run_goes_back_is_sealed_and_forked_and_wandb_shows_what_was_reported(
    begun_story: Story, wandb: WandbService, capsys: CAPTURE
) -> None:
    root, temporary = stores.roots(begun_story).values()
    crashes_after_106(begun_story, wandb)
    before = rows(wandb)
    assert sorted(before) == list(range(100, 107))
    _, blocked_seal = seal_json(begun_story, capsys, 1)
    assert {"job-not-succeeded", "unfinished-tracker-run", "missing-final-metrics"} <= blocked_seal

    capsys.readouterr()
    assert begun_story.herorun(*BACK, "--dry-run") == 0
    shows = (
        "tiny keeps the rows of steps 105 to 107 as they were, and drops those of the new ones "
        "until the run passes step 107"
    )
    assert shows in capsys.readouterr().err and len(starts(begun_story)) == 1
    assert begun_story.herorun(*BACK) == 0
    (launching,) = [event for event in begun_story.events("Launching") if event.given_up]
    assert launching.facts["Tracker shows"] == shows
    assert launching.facts["Checkpoints no longer used"] == f"{temporary}/step-106"
    assert starts(begun_story)[1] == f"{root}/step-104"
    begun_story.wait_for_end("tiny-2")

    after = rows(wandb)
    assert sorted(after) == list(range(100, 112))
    assert {step: after[step] for step in before} == before  # not one of the newer rows
    assert (begun_story.tick(), begun_story.tick()) == (0, 0)
    stores.accepts(begun_story, "open-alerts", "resume-mismatch")
    told_of, _ = seal_json(begun_story, capsys, 0)
    assert (
        told_of["tag"] == TAG
        and begun_story.statement_facts["final_checkpoint"] == f"{root}/step-112"
    )
    assert begun_story.herorun("verify-seal", TAG) == 0
    forked_from_108(begun_story, wandb, capsys)


def forked_from_108(begun_story: Story, wandb: WandbService, capsys: CAPTURE) -> None:
    """The contract is written and committed; then the fork is begun and launched, and its parent
    stays as it is.
    """
    root = stores.roots(begun_story)["root"]
    parent = rows(wandb)
    reason = "fp8 from here on"
    answer = ask(begun_story, capsys, "fork", SLUG, NEW, "--from", "108", "--reason", reason)
    assert answer.code == 0, answer
    new = tomllib.loads((begun_story.work / "runs" / f"{NEW}.toml").read_text())
    assert (new["start"]["from"], new["tracker"]["id"]) == (f"{root}/step-108", NEW)
    trainer = {
        "root": new["output"]["root"],
        "temporary_root": new["output"]["temporary_root"],
        "id": NEW,
    }
    (begun_story.work / "config.toml").write_text(
        tomli_w.dumps({"trainer": {**trainer, "steps": 112}})
    )
    begun_story.publish()
    capsys.readouterr()
    assert begun_story.herorun("fork", SLUG, NEW, "--launch", "--no-babysit") == 0, (
        capsys.readouterr()
    )
    assert mentions(capsys.readouterr().err, f"{NEW}", "tiny", "stays")
    jobs = begun_story.work / ".herorun" / NEW / "jobs"
    eventually(lambda: list(jobs.glob(f"{NEW}-1/exit*")), 60)
    eventually(lambda: wandb.runs()[f"ent/proj/{NEW}"].get("state") == "finished", 60)
    assert sorted(rows(wandb, NEW)) == list(range(108, 112))
    assert rows(wandb) == parent
    for slug in (SLUG, NEW):
        page = (begun_story.work / ".herorun" / slug / "issue.md").read_text()
        assert reason in page and f"{root}/step-108" in page
        assert begun_story.herorun("logbook", "verify", slug) == 0


def test_under_resume_never_a_crash_on_object_stores_is_a_question_and_nothing_is_started(
    begun_story: Story, wandb: WandbService, capsys: CAPTURE
) -> None:
    path = begun_story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    contract["tracker"]["resume"] = "never"
    path.write_text(tomli_w.dumps(contract))
    begun_story.publish()
    crashes_after_106(begun_story, wandb)
    before = rows(wandb)
    for words in (BACK, ("relaunch", SLUG, "--no-babysit")):
        answer = ask(begun_story, capsys, *words)
        assert answer.code == 1 and mentions(answer.err, "herorun", "status", f"{SLUG}")
    capsys.readouterr()
    assert begun_story.tick("--json") == 1
    acts = {action["action"] for action in json.loads(capsys.readouterr().out)["actions"]}
    assert "escalate" in acts and "relaunch" not in acts
    assert len(starts(begun_story)) == 1 and rows(wandb) == before
    assert f"herorun fork {SLUG} " in (begun_story.state / "issue.md").read_text()
