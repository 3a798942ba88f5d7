"""A babysitter of another version, which really is another: it acts only if it would have acted
alike, else it asks.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import herorun
from commands.answers import ask
from herorun import __version__
from stories import CRASH, SLUG, WAIT, Story
from wording import mentions

pytestmark = pytest.mark.thorough  # each builds a herorun of another version

CAPTURE = pytest.CaptureFixture[str]
SOURCE = Path(herorun.__file__).parent
OTHER = "0.2.0.dev7"
AT_ONCE = "Response.RELAUNCH, topic"
PATIENT = "Response.RELAUNCH, hold=Hold(ticks=2), topic"
# not the same failure without a new checkpoint, which is put to a person
GOT_ON = f"save 3; {CRASH}"


def another(folder: Path, *edits: tuple[str, str, str]) -> Path:
    """herorun again, with another version and these edits `(file, old, new)`; what is not edited is
    linked.
    """
    (folder / "templates").parent.mkdir(parents=True)
    (folder / "templates").symlink_to(SOURCE.parents[1] / "templates")
    (folder / "src").mkdir()
    _copy(
        SOURCE,
        folder / "src" / "herorun",
        {Path(name) for name, _, _ in edits} | {Path("__init__.py")},
    )
    own = ("__init__.py", f'__version__ = "{__version__}"', f'__version__ = "{OTHER}"')
    for name, old, new in (own, *edits):
        path = folder / "src" / "herorun" / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return folder / "src"


def _copy(source: Path, target: Path, edited_files: set[Path]) -> None:
    target.mkdir()
    for each in source.iterdir():
        own = {name.relative_to(each.name) for name in edited_files if name.parts[0] == each.name}
        if own == {Path()}:
            (target / each.name).write_text(each.read_text())
        elif own:
            _copy(each, target / each.name, own)
        elif each.name != "__pycache__":
            (target / each.name).symlink_to(each)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another version that judges as this one does."""
    return another(tmp_path_factory.mktemp("alike") / "herorun")


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another version, which relaunches only what it has seen crashed twice."""
    check_path = "checks/health/crashed.py"
    edits = [(check_path, AT_ONCE, PATIENT), (check_path, "import Gate,", "import Gate, Hold,")]
    return another(tmp_path_factory.mktemp("patient") / "herorun", *edits)


def by(source: Path, story: Story, *commands: tuple[str, ...]) -> list[Any]:
    """What the other herorun says to one command after another, in a process of its own."""
    script = (
        "import json, sys\nfrom herorun import cli\nfor words in json.loads(sys.argv[1]):\n    "
        "cli.run(words)\n    print(chr(0))\n"
    )
    argv = json.dumps([["-C", str(story.work), *words, "--json"] for words in commands])
    process = subprocess.run(
        [sys.executable, "-P", "-c", script, argv],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    part = process.stdout.split("\0\n")[:-1]
    assert len(part) == len(commands), process.stderr
    return [json.loads(text) for text in part]


TICK = ("babysit", SLUG, "--once")


def upgrade_questions(story: Story) -> list[str]:
    return [key for key in story.comments if key.startswith("escalate/judge/")]


def test_one_that_would_have_acted_alike_acts(story: Story, alike: Path) -> None:
    story.run_first_job(CRASH)
    story.order("tiny-2", GOT_ON)
    story.tick()
    story.wait_for_end("tiny-2")
    by(alike, story, TICK)
    story.wait_for_end("tiny-3")
    (replay_event,) = story.events("Replayed")
    assert (replay_event.version, replay_event.before, replay_event.why) == (OTHER, __version__, "")
    assert (replay_event.ticks, replay_event.differ, replay_event.unknown) == (1, 0, 0)
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2", "tiny-3"]
    assert upgrade_questions(story) == []
    assert [each.version for each in story.events("Observed")] == [__version__, OTHER]


def test_one_that_would_have_acted_otherwise_observes_until_a_person_says_yes(
    story: Story, patient: Path, capsys: CAPTURE
) -> None:
    story.run_first_job(CRASH)
    story.order("tiny-2", GOT_ON)
    story.tick()
    story.wait_for_end("tiny-2")
    *ticks, replay = by(patient, story, TICK, TICK, TICK, ("replay", SLUG))
    assert len(story.starts) == 2 and len(upgrade_questions(story)) == 1
    assert all("only observes" in tick["doubts"][-1] for tick in ticks)
    (replay_event,) = story.events("Replayed")
    assert replay_event.differ == 1 and any(
        "relaunch/tiny-1: only then" in each for each in replay_event.changed
    )
    assert [each["result"] for each in replay["ticks"]] == ["differs", "same", "same", "same"]
    status = ask(story, capsys, "status", SLUG).out
    assert f"may herorun {OTHER} act?" in status

    assert "only observes" in ask(story, capsys, "deny", SLUG).out
    assert mentions(ask(story, capsys, "approve", SLUG, "--reason", "go on").out, "acts", "tick")
    assert "already" in ask(story, capsys, "approve", SLUG).out
    by(patient, story, TICK)
    story.wait_for_end("tiny-3")
    assert len(story.starts) == 3 and len(upgrade_questions(story)) == 1
    assert mentions(story.run.record.logbook(), "new version", "approved")


def test_without_the_evidence_it_cannot_be_shown(story: Story, alike: Path) -> None:
    story.run_first_job(WAIT)
    story.tick()
    for path in (story.state / "evidence").iterdir():
        path.unlink()
    (row,) = by(alike, story, TICK)
    assert len(upgrade_questions(story)) == 1
    assert any(mentions(doubt, "1 of", "1 tick", "evidence") for doubt in row["doubts"])
    (story.data / "go").touch()
    story.wait_for_end()


def test_a_pin_that_does_not_fit_blocks_a_launch_and_is_answered_like_a_change(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(herorun="~=9.1")
    blocked_answer = ask(story, capsys, "preflight", SLUG, "--json")
    assert blocked_answer.code == 1 and mentions(
        blocked_answer.finding("herorun-mismatch")["message"], "allows", "~=9.1"
    )
    story.sign(herorun=">=0.1.dev0")
    story.run_first_job(CRASH)
    story.sign(herorun="~=9.1")
    story.tick()
    assert (
        len(upgrade_questions(story)) == 1 and len(story.starts) == 1
    )  # nobody has ticked before: nothing to compare with
    (replay_event,) = story.events("Replayed")
    assert mentions(replay_event.why, "pins", "~=9.1")
    assert ask(story, capsys, "approve", SLUG).code == 0
    story.tick()
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2 and len(story.events("Replayed")) == 1


def test_a_pin_that_is_none_is_a_bad_contract(story: Story, capsys: CAPTURE) -> None:
    story.sign(herorun="latest")
    answer = ask(story, capsys, "preflight", SLUG)
    assert answer.code == 2 and "herorun" in answer.err and "PEP 440" in answer.err
