"""Each port of each command fails once, fails throughout, answers twice or late, or acts and its
answer is lost.

The command is then started again, as a person or the babysitter does, and all is there once.
HERORUN_CRASH_ALL=1 goes through every call of every port; else a sample of the day.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from crash.outages import TROUBLES, Outage, Trouble, impatient
from crash.stages import EVERY, STAGES, TODAY, Stage, must_hold, of_the_day, outcome
from stories import CRASH, SLUG, Story, copy

SAMPLE = 2  # cases a stage and day


def _stopping(story: Story) -> None:
    assert story.launch() == 0
    story.reaches(2)
    assert story.herorun("stop", SLUG) == 0


TICK = ("babysit", SLUG, "--once")
STAGE_BY_NAME = {stage.name: stage for stage in STAGES}
OUTAGE_STAGES = (
    *(STAGE_BY_NAME[name] for name in ("launch", "tick", "relaunch", "seal", "handoff")),
    replace(STAGE_BY_NAME["stop"], name="stopping", words=TICK, good=(0, 1), ready=_stopping),
)


@dataclass(frozen=True)
class Case:
    name: str
    at: int
    trouble: Trouble

    def __str__(self) -> str:
        return f"call {self.at} of {self.name} {self.trouble}"


def cases(observed_at: Counter[str]) -> list[Case]:
    """Every call of every port with each of its troubles; a port that is down is down from its
    first call on.
    """
    return [
        Case(name, at, trouble)
        for name in sorted(observed_at)
        for trouble in TROUBLES[name]
        for at in range(1, 2 if trouble is Trouble.DOWN else observed_at[name] + 1)
    ]


def some(stage: Stage, value: list[Case]) -> list[Case]:
    """Another few each day, so that all have their turn."""
    first = TODAY * SAMPLE + OUTAGE_STAGES.index(stage)
    stride = max(1, len(value) // SAMPLE)
    return [value[(first + number * stride) % len(value)] for number in range(SAMPLE)]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)


@pytest.mark.parametrize("stage", of_the_day(OUTAGE_STAGES))
def test_after_any_trouble_with_a_port_it_is_done_once(
    stage: Stage, story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kept"
    stage.begin(story)
    copy(story.home, path)
    stage.ready(story)
    quiet, _ = _under(Outage(), stage, story)
    stage.rest(story)
    must_hold(story)
    target = _rename_instances(story)
    story.end()
    all_cases = cases(quiet.call_counts)
    for case in all_cases if EVERY else some(stage, all_cases):
        copy(path, story.home)
        stage.ready(story)
        capsys.readouterr()
        outage, code = _under(Outage(case.name, case.at, case.trouble), stage, story)
        errors = capsys.readouterr().err
        try:
            assert outage.has_struck, "the call was not made"
            assert code in (0, 1, 3)
            assert "internal error" not in errors and "Traceback" not in errors
            stage.again(story)
            stage.rest(story)
            must_hold(story)
            assert _rename_instances(story) == target
        except BaseException as error:
            error.add_note(f"{case}, and it said: {errors}")
            raise
        story.end()


def _rename_instances(story: Story) -> dict[str, Any]:
    """The outcome, with instances counted by what started: a launch that was given up has used its
    number.
    """
    started_names = [start.partition(" ")[0] for start in story.starts]
    memory = story.run.record.memory()
    given_up = [name for name in memory.launchings if name not in started_names]
    for name in given_up:
        post = f"post/submit/{name}"
        assert post not in story.comments or f"unsubmitted/submit/{name}" in memory.done, name
    of_those = re.compile("|".join(rf"{name}(?!\d)" for name in given_up) or "(?!)")

    def number_of(value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(
                r"\btiny-(\d+)\b",
                lambda m: (
                    f"tiny-{started_names.index(m[0]) + 1}" if m[0] in started_names else m[0]
                ),
                value,
            )
        if isinstance(value, list | tuple):
            return [number_of(each) for each in value if not of_those.search(str(each))]
        return (
            started_names.index(f"tiny-{value}") + 1 if f"tiny-{value}" in started_names else value
        )

    facts = {name: number_of(value) for name, value in outcome(story).items()}
    facts["relaunches"] = number_of([memory.launchings[name].relaunch_of for name in started_names])
    return {**facts, "comments": sorted(facts["comments"]), "entries": sorted(facts["entries"])}


def _under(outage: Outage, stage: Stage, story: Story) -> tuple[Outage, int]:
    with pytest.MonkeyPatch.context() as patch:
        outage.install(patch)
        code = stage.act(story)
    outage.deliver()
    return outage, code


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Local.find", "LocalStore.entries"])
def test_what_gives_no_answer_is_unknown_and_nothing_is_done_on_a_guess(
    name: str, story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crash that cannot be seen is none yet, and no checkpoint is guessed from a root that nobody
    can list.
    """
    story.run_first_job(CRASH)
    capsys.readouterr()
    _, code = _under(
        Outage(name, 1, Trouble.DOWN),
        replace(STAGE_BY_NAME["tick"], words=(*TICK, "--json")),
        story,
    )
    document = json.loads(capsys.readouterr().out)
    assert document["monitor"] != "fresh" and len(story.starts) == 1
    assert story.run.record.memory().unsettled is None
    if name == "Local.find":
        assert code == 3 and document["run"] == "unknown"
    story.tick()
    story.wait_for_end("tiny-2")
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2"]
