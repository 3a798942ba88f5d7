"""What the page *Scaling* is calculated from is counted here, on real servers; and the page shows
what is calculated.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from benchmarks import scaling

from herorun.core.evidence import Metrics
from herorun.operations.babysit.loop import tick_once
from herorun.system.git import remote_refs
from herorun.trackers import wandb as tracker
from services.git_http import GitServer, serving
from services.github import REPO, GitHub
from services.servers import Service
from services.wandb_server import KEY
from services.wandb_service import Reader, WandbService, reading, running
from stories import SLUG, Story, git

BUCKET, CHECKPOINTS, EVERY = "scaling", 100, 100
JOB = """\
echo 'HERORUN_RECEIPT {"instance": "tiny-1", "attempt": 1, "outcome": "pass", "items": []}'
while [ ! -e "$1/go" ]; do sleep 0.1; done
"""


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbService]:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    with running() as service:
        service.put({"ent/proj/other": {"displayName": "other", "state": "finished"}})
        yield service


@pytest.fixture
def remote(story: Story) -> Iterator[GitServer]:
    git(story.origin, "config", "http.receivepack", "true")
    with serving(story.origin.parent) as server:
        git(story.work, "remote", "set-url", "origin", f"{server.url}/{story.origin.name}")
        yield server


def checkpoints() -> dict[str, str]:
    files = {}
    for number in range(1, CHECKPOINTS + 1):
        step = EVERY * number
        marker = {"step": step, "timestamp": f"2026-01-01T12:{number // 60:02}:{number % 60:02}"}
        files[f"run/step-{step}/metadata.json"] = json.dumps({**marker, "is_temporary": False})
        files |= {f"run/step-{step}/d/{part:05}": "" for part in range(3)}
    return files


def rows(count: int) -> list[dict[str, Any]]:
    """From the first step on, so many of them after the newest checkpoint."""
    steps = range(0, EVERY * CHECKPOINTS + 5 * count, 5)
    return [{"_step": step, "train/loss": 2.0, "_timestamp": 1.7e9 + step} for step in steps]


@pytest.fixture
def reader(wandb: WandbService) -> Iterator[Reader]:
    """One process asks W&B where nothing is counted: each command would start two."""
    with reading() as one:
        yield one


@contextmanager
def asked_by(reader: Reader) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracker, "ask_client", reader)
        yield


@pytest.fixture
def launched_story(
    story: Story,
    remote: GitServer,
    github: GitHub,
    gcs: Service,
    wandb: WandbService,
    reader: Reader,
) -> Iterator[Story]:
    """A run that trains, with checkpoints, rows and page where a large team has them."""
    gcs.tell("bucket", name=BUCKET)
    (story.work / "train.sh").write_text(JOB)
    there = {"entity": "ent", "project": "proj", "base_url": wandb.url}
    story.sign(
        output={"root": f"gs://{BUCKET}/run", "temporary_root": None},
        checkpoints={"permanent_every": EVERY, "temporary_every": None, "keep": None},
        issue={"kind": "github", "repo": REPO, "base_url": github.url},
        tracker={"kind": "wandb", "path": None, **there},
        command={"env": {"WANDB_BASE_URL": wandb.url}, "secrets": ["WANDB_API_KEY"]},
        final_step=10**6,
    )
    with asked_by(reader):
        assert story.init() == 0 and story.launch() == 0
    gcs.tell("fill", bucket=BUCKET, files=checkpoints())
    yield story
    (story.data / "go").touch()
    story.wait_for_end()


@pytest.mark.thorough
def test_what_a_tick_asks_of_each_server(
    launched_story: Story,
    remote: GitServer,
    github: GitHub,
    gcs: Service,
    wandb: WandbService,
    reader: Reader,
) -> None:
    new_posts: set[tuple[int, int]] = set()
    numbers = iter(range(12))  # a few, for on a slow machine W&B's client may not answer in time

    def tick_until_quiet() -> Any:
        for number in numbers:
            run = {"displayName": "tiny", "state": "running", "history": rows(10 + number)}
            wandb.put({"ent/proj/tiny": run})
            gcs.requests()
            wandb.heal()
            remote.requests.clear()
            remote_refs._listings.clear()  # a tick of another run may have asked just before
            github.exchanges.clear()
            _, outcome = tick_once(SLUG, launched_story.work)
            assert outcome.tick
            firing = [key for key, alert in outcome.tick.alerts.items() if alert.firing]
            assert not firing
            writes = len(github.exchanges_of("POST"))
            if outcome.performed:
                new_posts.add((len(github.exchanges) - writes, writes))
            elif isinstance(outcome.evidence[Metrics], Metrics) and outcome.tick.monitor == "fresh":
                return outcome
        raise AssertionError("no tick was quiet")

    with asked_by(reader):
        tick_until_quiet()
    outcome = tick_until_quiet()  # in earnest: this one is counted
    store_requests = gcs.requests()
    class_a = sum("delimiter=" in line or line.startswith("POST") for line in store_requests)
    assert (class_a, len(store_requests) - class_a) == (
        scaling.STORE_CLASS_A,
        scaling.STORE_CLASS_B,
    )
    assert len(wandb.queries()) == scaling.TRACKER
    assert not outcome.performed and not github.exchanges
    assert new_posts == {(scaling.API_READS, scaling.API_WRITES)}
    # once for its branches, to which another clone may have pushed, and once with the record
    assert sum(line.startswith("POST") for line in remote.requests) == 2


def test_pushes_that_wait_stay_below_six_a_minute() -> None:
    alone, day = scaling.a_day(100, waits=False), scaling.a_day(100)
    assert alone.ticks == day.ticks > 100 * 96  # by the cadence, and more after a crash
    assert alone.pushes_a_minute > 6 > day.pushes_a_minute and max(day.delays) < 12.1
    assert not sum(alone.delays) > sum(day.delays)


def test_the_page_shows_what_is_calculated(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for its longest line, which takes seconds: that is `test_the_whole_page`."""
    monkeypatch.setattr(scaling, "REPOSITORIES", scaling.REPOSITORIES[:2])
    lines = scaling.PAGE.read_text().splitlines()
    tables = f"{scaling.by_repository()}\n{scaling.by_host()}".splitlines()
    assert [line for line in tables if line not in lines] == []


@pytest.mark.thorough
def test_the_whole_page() -> None:
    text = scaling.PAGE.read_text()
    assert scaling.page(text) == text
