"""Every command that a person is proposed works when it is typed, and does what was proposed."""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from commands.answers import ask
from herorun.core.event import Word
from herorun.core.health.run_health import RunHealth
from herorun.core.notify.escalation import ACK_WHILE_DOWN, Option
from herorun.core.record.lease import takeover_command
from herorun.operations.launch.propose import Proposer
from memory_folder import in_memory
from stories import CRASH, SLUG, WAIT, Story
from worlds import begin_world, place

CAPTURE = pytest.CaptureFixture[str]
BUG = (
    'echo "Traceback (most recent call last):\n  File \\"/work/train.py\\", line 7, in <module>\n'
    'TypeError: x" >&2; exit 1'
)
NAN = 'echo "{\\"step\\": 3, \\"train/loss\\": NaN}" >> "$root/metrics.jsonl"'
FINITE = (
    'for s in 4 5 6 7 8 9 10 11 12 13; do echo "{\\"step\\": $s, \\"train/loss\\": 2.5}" >> '
    '"$root/metrics.jsonl"; done'
)
SAVE_COMMAND = "save 15"


def _scene(words: str, **contract: object) -> Callable[[Story], None]:
    def play(story: Story) -> None:
        story.begin(**{"final_step": 40, **contract})
        begin_world(story.home)

        def play_made() -> int:
            story.order("tiny-1", words)
            assert story.init() == 0 and story.launch() == 0
            if words.endswith(WAIT):
                story.reaches(2 if words == WAIT else 3)
            else:
                story.wait_for_end()
            story.tick()
            return 0

        if words.endswith(WAIT):  # what lives cannot be copied
            play_made()
        else:
            assert story.make_or_copy(f"{words} under {contract}", play_made, lasts=120.0) == 0

    return play


NEVER_AGAIN = {"babysit": {"budgets": {"unknown": 0}}}
SCENES: dict[str, Callable[[Story], None]] = {
    "it is not finite and trains on": _scene(f"{NAN}; {SAVE_COMMAND}; {WAIT}"),
    "it was not finite and crashed": _scene(f"{NAN}; {SAVE_COMMAND}; {CRASH}"),
    "it is finite again and was killed": _scene(f"{NAN}; {FINITE}; {SAVE_COMMAND}; {CRASH}"),
    "all that it saved is tainted": _scene(
        f"{NAN}; {SAVE_COMMAND}; {CRASH}", babysit={"thresholds": {"not-finite": {"margin": 100}}}
    ),
    "its budget is spent": _scene(CRASH, **NEVER_AGAIN),
    "a person is to be asked": _scene(CRASH, babysit={"recovery": "ask"}),
    "the babysitter only observes": _scene(CRASH, babysit={"recovery": "observe"}),
    "a bug in the code": _scene(BUG),
    "it never continues under its id": _scene(CRASH, tracker={"resume": "never"}),
    "nothing was saved": _scene(f'rm -r "$root/step-2"; {CRASH}'),
    "it was stopped by hand": _scene("kill -TERM $$; sleep 5"),
}


@contextmanager
def playing(scene: str) -> Iterator[Story]:
    with place(in_memory(), is_shared=True) as folder:
        story = Story(folder)
        SCENES[scene](story)
        try:
            yield story
        finally:
            story.end()


NEXT = r"^  (?:next      |roll back |if yes    |after fix ) (herorun .+)$"


def proposed_lines(story: Story, capsys: CAPTURE) -> list[str]:
    """In the issue, and as the next command of `status`."""
    page = (story.state / "issue.md").read_text()
    status = ask(story, capsys, "status", SLUG).out
    status = status.replace(
        story.shown_commands("herorun status").removesuffix("status"), "herorun "
    )
    matches = re.findall(r"^- `(herorun [^`]+)`: ", page, re.MULTILINE)
    return list(dict.fromkeys([*matches, *re.findall(NEXT, status, re.MULTILINE)]))


def does_it(story: Story, command: str, capsys: CAPTURE) -> None:
    """Type it, and look whether what was proposed came about."""
    _, verb, *words = shlex.split(command)
    alerts = story.run.record.memory().alerts
    capsys.readouterr()
    code = story.herorun(verb, *words)
    out, err = capsys.readouterr()
    memory = story.run.record.memory()
    assert code == 0 or verb == "preflight", (command, err)
    match verb:
        case "rollback":
            step = words[words.index("--to") + 1]
            assert story.starts[-1] == f"tiny-2 {story.root}/step-{step}"
        case "relaunch":
            assert story.starts[-1].startswith("tiny-2 ")
        case "fork":
            assert (story.work / "runs" / f"{words[1]}.toml").exists()
        case "ack":
            assert [a for a in alerts.values() if a.check in words[1] and a.key in memory.acked]
        case "stop":
            story.wait_for_end()
            assert memory.ordered_stops
        case "approve":
            story.tick()
            assert story.starts[-1].startswith("tiny-2 ")
        case "deny":
            assert memory.orders[-1].word is Word.DENY
        case "preflight":
            assert out.startswith("Plan of tiny\n")
        case _:
            raise AssertionError(f"nobody looks what {command} does")


@pytest.mark.thorough
@pytest.mark.parametrize("scene", SCENES)
def test_every_proposed_command_does_what_was_proposed(scene: str, capsys: CAPTURE) -> None:
    with playing(scene) as story:
        first, *others = proposed_lines(story, capsys)
        does_it(story, first, capsys)
    for command in others:
        with playing(scene) as story:
            does_it(story, command, capsys)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scene", "command"),
    [
        ("it is not finite and trains on", "herorun rollback tiny --to 2 --stop-first"),
        ("it was not finite and crashed", "herorun rollback tiny --to 2"),
        ("it is finite again and was killed", "herorun rollback tiny --to 2"),
        ("all that it saved is tainted", "herorun preflight tiny"),
        ("nothing was saved", "herorun preflight tiny"),
    ],
)
def test_status_proposes_what_continues_it(scene: str, command: str, capsys: CAPTURE) -> None:
    with playing(scene) as story:
        assert command in proposed_lines(story, capsys)
        label = "roll back " if "rollback" in command else "next      "
        assert (
            f"  {label} {story.shown_commands(command)}\n" in ask(story, capsys, "status", SLUG).out
        )


@pytest.mark.parametrize("health", [RunHealth.DOWN, RunHealth.HEALTHY, None])
def test_an_acknowledgement_of_a_run_that_is_down_is_no_promise_to_monitor_it(
    health: RunHealth | None,
) -> None:
    last = SimpleNamespace(run=health) if health else None
    world = SimpleNamespace(slug="tiny", last_decided=last)

    (ack,) = Proposer(cast(Any, world), cast(Any, world)).proposals((Option.ACK,), "crashed")

    assert (ack.effect == ACK_WHILE_DOWN) is (health is RunHealth.DOWN)
    assert shlex.split(ack.command) == ["herorun", "ack", "tiny", "crashed"]


def test_a_takeover_says_how_long_the_lease_is_watched(story: Story) -> None:
    story.run_first_job()
    run = story.run
    (offer,) = Proposer(run, run.record.memory()).proposals((Option.TAKE,))
    assert offer.command == takeover_command(SLUG, run.contract.babysit.cadence)
    assert "--wait" in offer.command and offer.effect
