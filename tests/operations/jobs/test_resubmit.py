"""The stored command is run once for an end, and says itself which job it has submitted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from herorun.core.errors import Blocked
from herorun.core.event import Done, Failed, Intended
from herorun.operations.jobs import resubmit as module

KEY = "resubmit/loose-1"
SAYS = "sh -c 'echo Submitted batch job 4712'"


class World:
    """A job whose end was seen; its journal is a list."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[Any] = []
        self.results: dict[str, Any] = {}
        self.failures: dict[str, Any] = {}
        self.namesakes: tuple[str, ...] = ()
        self.registrations: list[Any] = []
        self.ends: dict[str, Any] = {}
        self.endings: dict[str, Any] = {}
        self.facts = SimpleNamespace(
            resubmit=SAYS,
            secrets=(),
            values={"A": "b"},
            cwd=str(folder),
            kind="slurm",
            host="login",
            user="",
            config="",
            cluster="",
            options=("--scheduler", "slurm"),
            last_failure=("", 0),
        )
        monkeypatch.setattr(module, "take_lease", lambda run: self.events.append("lease"))
        monkeypatch.setattr(module, "keep_facts", lambda run: None)
        monkeypatch.setattr(module, "register_one", lambda *about: self.registrations.append(about))

    def resubmit(self, instance: str = "loose-1") -> str:
        intents = {e.key: e for e in self.events if isinstance(e, Intended)}
        memory = SimpleNamespace(
            current=SimpleNamespace(name="loose-1"),
            intended=intents,
            done=self.results,
            failed=self.failures,
            ends=self.ends,
            endings=self.endings,
            instances=("loose-1",),
        )
        run: Any = SimpleNamespace(
            slug="loose",
            facts=self.facts,
            record=SimpleNamespace(
                memory=lambda: memory, append=lambda *events: self.events.extend(events)
            ),
            scheduler=SimpleNamespace(live_namesakes=lambda: self.namesakes),
            instance=lambda job, why, after: SimpleNamespace(
                instance="loose-2", job=job, why=why, after=after
            ),
        )
        return module.resubmit(run, instance, "preempted")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def test_the_job_that_the_command_names_is_followed(world: World) -> None:
    assert world.resubmit() == "loose-2"
    lease, intent, launched_event, last = world.events
    assert lease == "lease" and isinstance(intent, Intended) and isinstance(last, Done)
    assert (intent.key, intent.attempt, last.key, last.result) == (KEY, 1, KEY, "4712")
    assert (launched_event.job, launched_event.after) == ("4712", "loose-1")
    ((folder, kind, job, *_, options),) = world.registrations
    assert (str(folder), kind, job, options["host"]) == (world.facts.cwd, "slurm", "4712", "login")


def test_the_command_runs_in_its_folder_and_learns_what_it_follows(world: World) -> None:
    world.facts.resubmit = "sh -c 'echo $HERORUN_AFTER $A > told; echo Submitted batch job 4712'"
    world.resubmit()
    assert (Path(world.facts.cwd) / "told").read_text() == "loose-1 b\n"


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'echo Submitted batch job 4712; echo quota exceeded >&2; exit 1'",
        "sh -c 'echo nothing to submit'",
    ],
)
def test_a_command_that_fails_or_names_no_job_is_not_run_again(world: World, command: str) -> None:
    world.facts.resubmit = command
    with pytest.raises(Blocked) as first:
        world.resubmit()
    _, intent, failed_event = world.events
    assert isinstance(failed_event, Failed) and (failed_event.key, failed_event.attempt) == (KEY, 1)
    assert ("quota exceeded" in str(first.value)) == ("quota" in command)
    with pytest.raises(Blocked):
        world.resubmit()
    assert world.events[2:] == [failed_event] and isinstance(intent, Intended)


@pytest.mark.parametrize("where", ["results", "failures"])
def test_an_end_that_was_answered_is_not_answered_again(world: World, where: str) -> None:
    setattr(world, where, {KEY: SimpleNamespace(why="the queue is closed")})
    with pytest.raises(Blocked) as error:
        world.resubmit()
    assert ("the queue is closed" in str(error.value)) == (where == "failures")
    assert world.events == []


def test_another_live_job_of_the_name_is_watched_instead(world: World) -> None:
    world.namesakes = ("4713",)
    with pytest.raises(Blocked, match="--job 4713 --scheduler slurm"):
        world.resubmit()
    assert world.events == []


def test_without_a_command_nothing_is_submitted(world: World) -> None:
    world.facts.resubmit = ""
    with pytest.raises(Blocked, match="--resubmit"):
        world.resubmit()
    assert world.events == []


def test_an_older_instance_is_answered_by_the_current_one(world: World) -> None:
    assert world.resubmit("loose-0") == "loose-1"
    assert world.events == []


@pytest.mark.parametrize(
    ("before", "step", "is_free", "is_submitted"),
    [
        (("f", 100), 100, False, False),
        (("f", 100), 101, False, True),
        (("other", 100), 100, False, True),
        (("f", 100), 100, True, True),
        (("f", 100), None, False, False),
    ],
)
def test_the_same_failure_without_a_further_step_is_not_submitted_again(
    world: World, before: Any, step: int | None, is_free: bool, is_submitted: bool
) -> None:
    world.facts.last_failure = before
    world.ends = {"loose-1": SimpleNamespace(instance="loose-1", step=step, at=NOON)}
    ending = SimpleNamespace(fingerprint="f", why="NameError", cause=SimpleNamespace(free=is_free))
    world.endings = {"loose-1": ending}
    if is_submitted:
        assert world.resubmit() == "loose-2"
    else:
        with pytest.raises(Blocked, match="NameError"):
            world.resubmit()
        assert world.events == []
