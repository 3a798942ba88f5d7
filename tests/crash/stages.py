"""Each command before it runs, the way on after it was interrupted, and what must hold at the
end.
"""

import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from herorun.core.canonical_json import digest
from stories import CRASH, SLUG, WAIT, Story, git, timeless

NOTE = (
    "--status",
    "flat",
    "--evidence",
    "loss 2.5",
    "--decision",
    "go on",
    "--next",
    "look again",
    "--issue",
)
MAX_STARTS = 3  # times that a person, or the babysitter, starts it again


@dataclass(frozen=True)
class Stage:
    """`act` is the command; `again` is what a person does after an interruption, `rest` what
    follows anyhow.
    """

    name: str
    before: Callable[[Story], object]
    words: tuple[str, ...]
    good: tuple[int, ...] = (0,)  # exit codes with which the command has nothing left to do
    rest: Callable[[Story], object] = lambda story: None
    # what a copied world cannot hold: a live job
    ready: Callable[[Story], object] = lambda story: None
    prompt_answer: Callable[[Story], str] = lambda story: ""  # what a person types when asked

    def begin(self, story: Story) -> None:
        """To where the command is to be said; from there each point starts with a copy anyhow."""

        def begin_made() -> int:
            self.before(story)
            return 0

        assert story.make_or_copy(f"before {self.name}", begin_made, lasts=600.0) == 0

    def act(self, story: Story) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.StringIO(self.prompt_answer(story)))
            return story.herorun(*self.command_of(story))

    def command_of(self, story: Story) -> list[str]:
        return [word.replace("HOME", str(story.home)) for word in self.words]

    def again(self, story: Story) -> None:
        codes = []
        while len(codes) < MAX_STARTS:
            codes.append(self.act(story))
            if codes[-1] in self.good:
                return
        raise AssertionError(f"{self.name} gave {codes}")


def _go_on(story: Story) -> None:
    (story.data / "go").touch()
    _until_told(story)


def _until_told(story: Story) -> None:
    """Tick until the end of the run was told, as the babysitter does."""
    for _ in range(MAX_STARTS):
        for name in (path.name for path in story.jobs.iterdir() if path.is_dir()):
            story.wait_for_end(name)
        story.tick()
        if any(key.endswith("/finished") for key in story.run.record.memory().done):
            return
    raise AssertionError("the run's end was not told")


def _ready_to_seal(story: Story) -> None:
    story.run_first_job(CRASH)
    _until_told(story)


def _waiting(story: Story) -> None:
    story.order("tiny-1", WAIT)
    story.init()


def _begin_crash(story: Story) -> None:
    story.run_first_job(CRASH)


def _begin_fork(story: Story) -> None:
    """Crashed, and the contract of a fork is written, read and published."""
    _begin_crash(story)
    assert story.herorun("fork", SLUG, FORK, "--reason", "fp8 from here on") == 0
    story.publish()


def _begun_once(story: Story) -> None:
    """The fork's own record and issue are there once, and say where it comes from once."""
    page = (story.work / ".herorun" / FORK / "issue.md").read_text(encoding="utf-8")
    assert [page.count(f"key={key} ") for key in (f"issue/{FORK}", f"forked-from/{SLUG}")] == [1, 1]
    assert story.herorun("logbook", "verify", FORK) == 0


def _ask_after_crash(story: Story) -> None:
    """Crashed under `recovery = "ask"`, and the question was put."""
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    story.tick()


def _pause_run(story: Story) -> None:
    _ask_after_crash(story)
    assert story.herorun("pause", SLUG, "--until", LATER) == 0


def _plan_pruning(story: Story) -> None:
    """Ended and told, with two temporary checkpoints that a printed plan names."""
    story.sign(checkpoints={"keep": 1})
    _ready_to_seal(story)
    for step in (1, 3):
        folder = story.data / "tiny-temporary" / f"step-{step}"
        (folder / "model").mkdir(parents=True)
        (folder / "model" / "0").write_text("weights")
        metadata = {"step": step, "timestamp": f"2026-01-01T00:00:0{step}", "is_temporary": True}
        (folder / "metadata.json").write_text(json.dumps(metadata))
    assert story.herorun("checkpoints", "plan", SLUG, "--out", str(story.home / "prune.json")) == 0


def _digest(story: Story) -> str:
    plan = json.loads((story.home / "prune.json").read_text())
    assert len(plan["victims"]) == 2
    return f"{plan['digest']}\n"


def _live(story: Story) -> None:
    assert story.launch() == 0
    story.reaches(2)


FORK = "tiny-b"
LATER = "2999-01-01T00:00:00Z"  # a moment: the same words said again mean the same
STAGES = (
    Stage("init", lambda story: None, ("init", SLUG)),
    # A launch that is done, and is started again, is blocked by the live job.
    Stage("launch", _waiting, ("launch", SLUG, "--no-babysit"), good=(0, 1), rest=_go_on),
    Stage("tick", _begin_crash, ("babysit", SLUG, "--once"), good=(0, 1), rest=_until_told),
    Stage("note", Story.init, ("note", SLUG, *NOTE)),
    Stage(
        "relaunch", _begin_crash, ("relaunch", SLUG, "--no-babysit"), good=(0, 1), rest=_until_told
    ),
    Stage(
        "rollback", _begin_crash, ("rollback", SLUG, "--to", "2", "--no-babysit"), rest=_until_told
    ),
    Stage("fork", _begin_fork, ("fork", SLUG, FORK), rest=_begun_once),
    Stage("seal", _ready_to_seal, ("seal", SLUG)),
    Stage("handoff", _begin_crash, ("handoff", SLUG, "--to", "eve@there")),
    Stage("stop", _waiting, ("stop", SLUG), rest=Story.tick, ready=_live),
    Stage("ack", _ask_after_crash, ("ack", SLUG)),
    Stage("approve", _ask_after_crash, ("approve", SLUG), rest=Story.tick),
    Stage("deny", _ask_after_crash, ("deny", SLUG)),
    Stage("pause", _ask_after_crash, ("pause", SLUG, "--until", LATER)),
    Stage("resume", _pause_run, ("resume", SLUG)),
    Stage(
        "prune",
        _plan_pruning,
        ("checkpoints", "prune", SLUG, "--plan", "HOME/prune.json"),
        prompt_answer=_digest,
    ),
)

EVERY = bool(os.environ.get("HERORUN_CRASH_ALL"))
TODAY = datetime.now(UTC).toordinal()


def is_of_the_day(number: int) -> bool:
    """Whether this stage is the one that `make test` takes today."""
    return number == TODAY % len(STAGES)


def of_the_day(stages: Sequence[Stage]) -> list[ParameterSet]:
    """Every third, by the day, one of them in `make test`; all of them with HERORUN_CRASH_ALL=1."""
    sample = [stage for n, stage in enumerate(stages) if EVERY or (n + TODAY) % 3 == 0]
    brief = sample[TODAY // 3 % len(sample)]
    return [
        pytest.param(s, id=s.name, marks=() if s is brief else pytest.mark.thorough) for s in sample
    ]


def undisturbed_outcome(stage: Stage, story: Story) -> dict[str, Any]:
    """How it ends when nothing goes wrong."""
    stage.again(story)
    stage.rest(story)
    must_hold(story)
    return outcome(story)


# --- what must hold -------------------------------------------------------------------------------


def must_hold(story: Story) -> None:
    """One of everything that must be there once."""
    instances = [start.partition(" ")[0] for start in story.starts]
    folders = (
        {path.name for path in story.jobs.iterdir() if path.is_dir()}
        if story.jobs.exists()
        else set()
    )
    assert _once(instances), story.starts
    assert folders == set(instances)
    assert _once(story.comments), story.comments
    assert _once(_names(story)), _names(story)
    tags = story.tags()
    assert len(tags) <= 1 and tags == story.tags(story.origin)
    for sealed_event in story.events("Sealed"):
        assert story.statement_in_tag == story.statement_in_record
        assert digest(story.statement_in_tag) == sealed_event.statement_digest
    assert story.herorun("logbook", "verify", SLUG) == 0
    record = story.run.record
    remote_tip = git(story.origin, "rev-parse", "refs/heads/herorun/tiny").strip()
    assert remote_tip == record.tip == record.pushed_tip


def _once(names: list[str]) -> bool:
    return max(Counter(names).values(), default=1) == 1


def _names(story: Story) -> list[str]:
    """One name for each event of a kind that must not come twice."""
    names = [f"{event.word} {event.about}" for event in story.events("Ordered")]
    for event in story.events(
        "Initialised", "Launching", "Launched", "Done", "Noted", "Sealed", "CheckedIn", "HandedOff"
    ):
        what = (
            getattr(event, "key", "") if event.kind in ("Done",) else getattr(event, "instance", "")
        )
        names.append(f"{event.kind} {what}")
    return names


def _is_of_a_live_job(key: str) -> bool:
    """Told only if a look comes between a job's step and its end, which takes it a moment."""
    return key.endswith(("/first-step", "/first-checkpoint", "/final-step"))


def outcome(story: Story) -> dict[str, Any]:
    """How the story ended, without times: equal for an interrupted one and for one that was not."""
    memory = story.run.record.memory()
    of_a_live_job = tuple(
        event.title
        for event in story.events("Done")
        if event.title and _is_of_a_live_job(event.key)
    )
    entries = [line for line in story.run.record.logbook().splitlines() if line.startswith("### ")]
    return {
        "starts": story.starts,
        "comments": [timeless(key) for key in story.comments if not _is_of_a_live_job(key)],
        "instances": [(i.name, i.number, i.job, i.plan_digest) for i in memory.instances],
        "relaunches": [launching.relaunch_of for launching in memory.launchings.values()],
        "done": sorted(timeless(key) for key in memory.done if not _is_of_a_live_job(key)),
        "open": [
            *memory.intended,
            *memory.queued,
            *([memory.unsettled.key] if memory.unsettled else []),
        ],
        "alerts": sorted(alert.key for alert in memory.alerts.values()),
        "entries": sorted(
            timeless(line)
            for line in entries
            if "action failed" not in line and not line.endswith(of_a_live_job)
        ),
        "sealed": memory.sealed.tag if memory.sealed else None,
        "lease": [owner_of(story)],
        "checkpoints": _files(story),
    }


def _files(story: Story) -> list[str]:
    """All that is left of the checkpoints, folders too."""
    return sorted(
        str(path.relative_to(story.data)) for path in story.data.glob("tiny*/step-*/**/*")
    )


def owner_of(story: Story) -> str:
    path = story.root / "_herorun" / "lease.json"
    return path.read_text().partition('"owner":')[2].partition(",")[0] if path.exists() else ""
