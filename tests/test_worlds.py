"""A copied world is the one that was made, and replaces none that a test has changed."""

from pathlib import Path

import pytest

import proposed
import worlds
from memory_folder import in_memory
from stories import CRASH, SLUG, Story, git

CAPTURE = pytest.CaptureFixture[str]


def contents(home: Path) -> dict[str, tuple[int, bytes]]:
    """Modes and bytes by path."""
    files = (path for path in sorted(home.rglob("*")) if path.is_file())
    return {str(p.relative_to(home)): (p.stat().st_mode, p.read_bytes()) for p in files}


def begun_again(story: Story) -> Story:
    """As the next test finds it."""
    worlds.shutil.rmtree(story.home)
    story.home.mkdir()
    story.begin()
    worlds.begin_world(story.home)
    return story


def test_a_copy_is_as_it_was_made_and_says_the_same(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(CRASH)
    first, output = contents(story.home), capsys.readouterr()
    begun_again(story).run_first_job(CRASH)

    assert contents(story.home) == first
    assert capsys.readouterr() == output and output.out
    assert git(story.work, "status", "--porcelain") == ""
    assert story.herorun("logbook", "verify", SLUG) == 0
    assert story.tick() == 1
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


def test_a_copy_does_not_change_with_the_world_that_it_was_made_of(story: Story) -> None:
    story.run_first_job(CRASH)
    first = contents(story.home)
    story.tick()
    story.wait_for_end("tiny-2")
    assert contents(begun_again(story).run_first_job(CRASH).home) == first


def test_a_world_that_was_changed_is_launched_itself(story: Story) -> None:
    story.run_first_job()
    begun_again(story)
    (story.data / "no-receipt").touch()
    story.run_first_job()
    assert (story.data / "no-receipt").exists() and not (story.root / "_herorun/receipts").exists()


def test_so_is_one_in_another_environment(story: Story) -> None:
    story.run_first_job()
    begun_again(story)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NCCL_DEBUG", "WARN")
        story.run_first_job()
    (launching,) = story.events("Launching")
    assert "NCCL_DEBUG" in str(launching.plan)


def test_so_is_that_of_a_test_that_patches(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    assert story.home not in worlds._clean_worlds


def test_one_that_is_old_is_made_again(story: Story) -> None:
    story.run_first_job()
    (first,) = story.events("Launching")
    begun_again(story)
    assert story.make_or_copy("launched ", lambda: story._run_first_job(""), lasts=0.0) == 0
    (second,) = story.events("Launching")
    assert second.at > first.at


def test_only_the_newest_are_kept(story: Story) -> None:
    for number in range(worlds.MAX_WORLDS + 2):
        begun_again(story).make_or_copy(f"begun {number}", lambda: 0)
    assert list(worlds._worlds) == [f"begun {n}" for n in range(2, worlds.MAX_WORLDS + 2)]
    assert all(world.folder.is_dir() for world in worlds._worlds.values())
    assert len(list(story.home.parent.glob(f"{story.home.name}.kept-*"))) == worlds.MAX_WORLDS


def test_what_was_proposed_in_a_world_is_not_typed_in_the_next_one_there() -> None:
    with worlds.place(in_memory(), is_shared=True) as home:
        proposed.latest[home] = ["herorun babysit tiny"]
    assert home not in proposed.latest
