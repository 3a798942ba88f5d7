"""What is wrong with a back end is one sentence and exit 2 or 3, whichever command meets it, and
nothing is started.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from commands import back_ends
from commands.answers import Answer, ask
from schedulers.test_ray_bad_answers import Stand
from stories import SLUG, WAIT, Story, contract_of, eventually

CAPTURE = pytest.CaptureFixture[str]
KINDS = {
    "ssh": back_ends.a_box,
    "slurm": back_ends.a_near_slurm,
    "slurm behind a login node": back_ends.a_far_slurm,
    "nel": back_ends.a_nel,
    "nel behind a login node": back_ends.a_far_nel,
    "iris": back_ends.an_iris,
    "ray": back_ends.a_ray,
}


@dataclass(frozen=True)
class Told:
    story: Story
    world: back_ends.World

    def sign(self, **options: Any) -> None:
        contract = contract_of(self.story.data)
        contract["scheduler"] = {**self.world.scheduler, **options}
        if self.world.argv:
            contract["command"] = {"argv": self.world.argv}
        (self.story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
        self.story.publish()


@pytest.fixture(params=KINDS)
def bad_run(
    request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Told]:
    """A run on a back end of stand-ins, initialised; whatever it started has ended afterwards."""
    top = home / "back end"
    top.mkdir()
    path = back_ends.tools(top / "bin")
    monkeypatch.setenv("PATH", str(path))
    stand = Stand() if request.param == "ray" else None
    world = back_ends.a_ray(top, stand) if stand else KINDS[request.param](top, path)
    story = Story(home).begin()
    (story.work / "eval.yaml").write_text("tasks: []\n")
    bad_run = Told(story, world)
    bad_run.sign()
    story.order("tiny-1", WAIT)
    assert story.init() == 0
    yield bad_run
    (story.data / "go").touch()
    if world.end and story.starts:
        eventually(world.end.exists)
    if stand:
        stand.server.shutdown()
        stand.server.server_close()


def unknown(answer: Answer) -> str:
    return " ".join(f["message"] for f in answer.document["findings"] if f["outcome"] == "unknown")


@pytest.mark.thorough
def test_a_wrong_option_is_named_and_nothing_is_started(bad_run: Told, capsys: CAPTURE) -> None:
    for what, (options, output) in bad_run.world.wrong.items():
        bad_run.sign(**options)
        for command in ("preflight", "launch"):
            answer = ask(bad_run.story, capsys, command, SLUG, "--json")
            assert (answer.code, answer.document["exit_code"]) == (2, 2), what
            assert output in answer.err, what
    for what, (options, output) in bad_run.world.blind.items():
        bad_run.sign(**options)
        answer = ask(bad_run.story, capsys, "launch", SLUG, "--json")
        assert answer.code == 3 and output in unknown(answer), (what, unknown(answer))
    assert bad_run.story.starts == []


@pytest.mark.thorough
def test_a_back_end_that_cannot_be_asked_is_neither_launched_on_nor_judged_nor_stopped(
    bad_run: Told, capsys: CAPTURE
) -> None:
    story, world = bad_run.story, bad_run.world
    for number, (what, (fault, output)) in enumerate(world.faults.items()):
        with fault():
            # a launch asks what a preflight asks
            for command in ("preflight", "launch")[number > 0 :]:
                answer = ask(story, capsys, command, SLUG, "--json")
                assert answer.code == 3 and output in unknown(answer), (what, unknown(answer))
    assert story.starts == [] and not story.events("Launching")
    assert story.launch() == 0
    for what, (fault, output) in {**world.faults, **world.refusals}.items():
        with fault():
            stop_answer = ask(story, capsys, "stop", SLUG)
            assert stop_answer.code in (2, 3) and output in stop_answer.err, (what, stop_answer)
            assert len(stop_answer.err.splitlines()) == 1 and ".." not in stop_answer.err.replace(
                "...", ""
            ), stop_answer.err
    for what, (fault, output) in world.faults.items():
        with fault():
            tick = ask(story, capsys, "babysit", SLUG, "--once", "--json")
            assert (tick.code, output in unknown(tick)) == (3, True), (what, tick)
            assert tick.document["monitor"] != "fresh"
            assert {action["action"] for action in tick.document["actions"]} <= {"tell", "escalate"}
    assert len(story.events("Launched")) == 1
