"""One whole run whose checkpoints lie on gs:// and s3:// and whose metrics lie in W&B, told by the
real commands.

The stores, W&B, the repository and the job are real; only their addresses are loopback's.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from herorun.core.errors import HerorunError
from herorun.core.record.lease import PATH, Lease, read_lease
from herorun.operations.record.lease import take_lease
from herorun.trackers import wandb as tracker
from services.servers import Service
from services.wandb_server import KEY
from services.wandb_service import WandbService, reading, running
from stories import SLUG, TAG, Story, contract_of, eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]
PARENT, START = "parent", 100
LIFECYCLE = {"action": {"type": "Delete"}, "condition": {"age": 14, "matchesPrefix": ["parent/"]}}
TRACKER_PATH = "ent/proj/tiny"
ASK_CLIENT = tracker.ask_client


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbService]:
    """One process asks it for all commands but those of `in_earnest`, which start two each."""
    with serving(monkeypatch) as service, reading() as reader:
        monkeypatch.setattr(tracker, "ask_client", reader)
        yield service


@contextlib.contextmanager
def in_earnest() -> Iterator[None]:
    """Each question to W&B in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracker, "ask_client", ASK_CLIENT)
        yield


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbService]:
    """W&B with another run in the project."""
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    with running() as service:
        service.put(
            {
                "ent/proj/other": {
                    "displayName": "other",
                    "state": "finished",
                    "history": [{"_step": 7}],
                }
            }
        )
        yield service


@pytest.fixture
def begun_story(story: Story, gcs: Service, s3: Service, wandb: WandbService) -> Story:
    return begin_on_stores(story, gcs, s3, wandb)


STAND_IN = {
    "check": "fork-drift",
    "reason": "the parent run is a stand-in, whose command is `true`",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}


def begin_on_stores(story: Story, gcs: Service, s3: Service, wandb: WandbService) -> Story:
    """A world in which the parent run has left its checkpoint, and the run is begun and not
    launched.
    """
    bucket = bucket_of(story)
    gcs.tell("bucket", name=bucket, location="US-CENTRAL1")
    s3.tell("bucket", name=bucket)
    data = contract_of(story.data)
    apart = {
        "output": {"root": f"gs://{bucket}/{PARENT}"},
        "tracker": {"kind": "jsonl", "path": str(story.data / "rows")},
        "command": {"argv": ["true"]},
        "config": {},
        "final_step": START,
    }
    write(story, {**data, **apart, "slug": PARENT})
    shutil.copy(Path(__file__).parents[1] / "on_stores.py", story.work / "train.py")
    trainer = {**roots(story), "id": SLUG, "steps": 112}
    (story.work / "config.toml").write_text(tomli_w.dumps({"trainer": trainer}))
    write(story, {**data, **on_stores(story, wandb)})
    story.publish()
    assert story.herorun("init", PARENT) == 0
    assert story.herorun("launch", PARENT, "--no-babysit") == 0
    gcs.tell("fill", bucket=bucket, files=a_checkpoint(START))
    assert story.init() == 0
    return story


def accepts(begun_story: Story, check: str, subject: str) -> None:
    """The DRI signs that so few rows after a resume cannot be compared."""
    path = begun_story.work / "runs" / "tiny.toml"
    contract = tomllib.loads(path.read_text())
    contract["waiver"].append({**STAND_IN, "check": check, "subject": subject, "unknown": True})
    path.write_text(tomli_w.dumps(contract))
    begun_story.publish()


def bucket_of(story: Story) -> str:
    """One for each test, of the same name in both stores."""
    return story.home.name.replace("_", "-")


def roots(story: Story) -> dict[str, str]:
    bucket = bucket_of(story)
    return {"root": f"gs://{bucket}/tiny", "temporary_root": f"s3://{bucket}/tiny"}


def on_stores(story: Story, wandb: WandbService) -> dict[str, Any]:
    return {
        "final_step": "trainer.steps",
        "command": {
            "argv": [sys.executable, "train.py", str(story.data / "orders")],
            "env": {"WANDB_BASE_URL": wandb.url},
            "secrets": ["WANDB_API_KEY"],
        },
        "output": roots(story),
        "start": {"from": f"gs://{bucket_of(story)}/{PARENT}/step-{START}", "source_run": PARENT},
        "checkpoints": {"permanent_every": 4, "temporary_every": "15m", "keep": 10},
        "tracker": {"kind": "wandb", "entity": "ent", "project": "proj", "base_url": wandb.url},
        "waiver": [STAND_IN],
    }


def write(story: Story, contract: dict[str, Any]) -> None:
    (story.work / "runs" / f"{contract['slug']}.toml").write_text(tomli_w.dumps(contract))


def a_checkpoint(step: int) -> dict[str, str]:
    marker = {"step": step, "timestamp": f"2026-01-01T00:00:00.{step}", "is_temporary": False}
    folder = f"{PARENT}/step-{step}"
    return {f"{folder}/weights/0": "weights", f"{folder}/metadata.json": json.dumps(marker)}


def open_findings(
    story: Story, capsys: CAPTURE, word: str = "preflight"
) -> tuple[int, dict[str, str]]:
    """The command's exit code, and what the launch gate finds that is open."""
    capsys.readouterr()
    code = story.herorun(word, SLUG, "--json")
    out, err = capsys.readouterr()
    assert err == ""
    return code, {
        f["check"]: f["message"]
        for f in json.loads(out)["findings"]
        if f["outcome"] in ("fail", "unknown") and not f["waiver"]
    }


def logged_steps(wandb: WandbService) -> list[int]:
    return [row["_step"] for row in wandb.runs().get(TRACKER_PATH, {}).get("history", [])]


def lease(story: Story) -> Lease | None:
    return read_lease(story.run.store.read(f"{roots(story)['root']}/{PATH}"))


# --- the launch gate ------------------------------------------------------------------------------


def test_each_store_is_asked_for_what_lies_there(
    begun_story: Story, gcs: Service, s3: Service, capsys: CAPTURE
) -> None:
    bucket, temporary = bucket_of(begun_story), roots(begun_story)["temporary_root"]
    assert open_findings(begun_story, capsys) == (0, {})

    s3.tell("fill", bucket=bucket, files={"tiny/notes.txt": "somebody's"})
    gcs.tell("fill", bucket=bucket, files=a_checkpoint(150))
    gcs.tell("bucket", name=bucket, lifecycle={"rule": [LIFECYCLE]})
    code, by_check = open_findings(begun_story, capsys)
    assert (code, set(by_check)) == (
        1,
        {"output-root-in-use", "start-checkpoint-not-newest", "expiring-start-checkpoint"},
    )
    assert f"{temporary}: notes.txt" in by_check["output-root-in-use"]
    assert mentions(by_check["start-checkpoint-not-newest"], "complete", "150")

    s3.fault(url=f"/{bucket}", status=403)
    code, by_check = open_findings(begun_story, capsys)
    assert code == 3 and f"{temporary}: 403" in by_check["output-root-in-use"]


# --- the whole run --------------------------------------------------------------------------------


def test_a_run_on_object_stores_from_launch_to_seal(
    begun_story: Story,
    gcs: Service,
    wandb: WandbService,
    monkeypatch: pytest.MonkeyPatch,
    capsys: CAPTURE,
) -> None:
    root, temporary = roots(begun_story).values()
    (begun_story.data / "orders" / "tiny-1-107").touch()
    assert (
        begun_story.herorun(
            "preflight", SLUG, "--probe", "--out", str(begun_story.home / "plan.json")
        )
        == 0
    )
    assert begun_story.launch("--plan", str(begun_story.home / "plan.json")) == 0
    eventually(lambda: logged_steps(wandb) == list(range(START, 107)), 60)
    eventually(
        lambda: (
            begun_story.run.store.names(f"{temporary}/step-106") == ("metadata.json", "weights/")
        )
    )

    # metrics from W&B, and the receipt from the log: check-in writes to no gs://
    assert begun_story.tick() == 0
    assert "~107/112" in capsys.readouterr().out
    assert [event.outcome for event in begun_story.events("CheckedIn")] == ["pass"]
    one_lease = lease(begun_story)
    elsewhere_nothing_starts(begun_story, monkeypatch, capsys)
    assert lease(begun_story) == one_lease

    gcs.fault(url=f"/{bucket_of(begun_story)}", status=401)
    assert begun_story.tick() == 3
    assert mentions(capsys.readouterr().out, "Google", "expired")
    gcs.heal()

    pid = json.loads((begun_story.jobs / "tiny-1" / "started.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    begun_story.wait_for_end()
    assert wandb.runs()[TRACKER_PATH]["state"] == "running"  # as W&B still believes
    assert begun_story.tick() == 1
    (again,) = [event for event in begun_story.events("Launching") if event.relaunch_of == "tiny-1"]
    assert again.plan["start"]["value"]["path"] == f"{temporary}/step-106"
    assert mentions(again.overlooked[0], "hidden-replay", "106", "resumes", "106")
    assert not commands_with(f"--pid {pid}")  # W&B's own service ends with its trainer

    begun_story.wait_for_end("tiny-2")
    with in_earnest():
        assert begun_story.tick() == 0
    assert mentions(capsys.readouterr().out, "finished", "all evidence", "112/112")
    assert logged_steps(wandb) == list(range(START, 112))
    accepts(begun_story, "open-alerts", "resume-mismatch")
    assert begun_story.seal() == 0
    assert begun_story.herorun("logbook", "verify", SLUG) == 0
    assert begun_story.statement_facts["final_checkpoint"] == f"{root}/step-112"
    assert mentions(
        begun_story.statement_facts["manifest"]["proof"], "checksums (crc32c, md5)", "all"
    )
    assert begun_story.herorun("verify-seal", TAG) == 0
    what_is_planned_is_deleted(begun_story, capsys)
    assert "Traceback" not in capsys.readouterr().err
    nothing_is_given_away(begun_story)


def what_is_planned_is_deleted(begun_story: Story, capsys: CAPTURE) -> None:
    """Of the temporary ones in S3 all but the newest; nothing in Cloud Storage, where the permanent
    ones are.
    """
    temporary, file = roots(begun_story)["temporary_root"], begun_story.home / "prune.json"
    capsys.readouterr()
    assert (
        begun_story.herorun(
            "checkpoints", "plan", SLUG, "--keep", "1", "--out", str(file), "--json"
        )
        == 0
    )
    plan = json.loads(capsys.readouterr().out)
    victims = {victim["path"] for victim in plan["victims"]}
    assert victims and victims < {f"{temporary}/step-{step}" for step in range(START + 2, 112, 4)}
    before = set(begun_story.run.store.names(temporary))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(plan["digest"]))
        assert begun_story.herorun("checkpoints", "prune", SLUG, "--plan", str(file)) == 0
    remaining = before - {f"{path.rpartition('/')[2]}/" for path in victims}
    assert set(begun_story.run.store.names(temporary)) == remaining


def elsewhere_nothing_starts(
    begun_story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE
) -> None:
    """Another person in another clone can neither launch nor act, and sees what there is to see."""
    other = begun_story.clone("two")
    with monkeypatch.context() as eve:
        eve.setenv("LOGNAME", "eve")
        code, by_check = open_findings(other, capsys, "launch")
        assert code == 1 and {"live-duplicate", "second-babysitter"} <= set(by_check)
        assert other.tick() == 3
    assert mentions(capsys.readouterr().out, "held")
    assert not other.jobs.exists()


def commands_with(words: str) -> list[str]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        lines += [line] if words in line else []
    return lines


def nothing_is_given_away(begun_story: Story) -> None:
    for path in begun_story.home.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    for path in (begun_story.state / "evidence").iterdir():
        for line in path.read_text().splitlines():
            json.loads(line)


# --- the lease ------------------------------------------------------------------------------------


def test_of_many_who_take_a_run_on_a_store_at_once_one_has_it(begun_story: Story) -> None:
    holders: list[str] = []

    def take(owner: str) -> None:
        run = begun_story.run
        run.launcher = replace(run.launcher, owner=owner)
        with contextlib.suppress(HerorunError):
            holders.append(take_lease(run).owner)

    threads = [threading.Thread(target=take, args=(f"{name}@there",)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    current_lease = lease(begun_story)
    assert current_lease is not None and holders == [current_lease.owner]
