"""Two clones of one user on one machine: one watches and speaks, the other only looks."""

import errno
import json

import pytest

from herorun.core.errors import Blocked
from herorun.core.record.lease import Lease, read_lease
from herorun.operations.record.lease import take_lease
from herorun.stores.local import LocalStore
from herorun.system import host
from stories import CRASH, SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def lease(story: Story) -> Lease:
    held = read_lease((story.root / "_herorun" / "lease.json").read_bytes())
    assert held is not None
    return held


def test_the_lease_names_the_clone_and_keeps_the_second_one_out(story: Story) -> None:
    story.init()
    assert take_lease(story.run).clone == str(story.work)
    other = story.clone("elsewhere")
    with pytest.raises(Blocked, match=f"held by {host.owner()} in {story.work}, another clone"):
        take_lease(other.run)
    assert lease(story).clone == str(story.work)


def test_the_lease_of_a_clone_that_is_gone_is_taken(story: Story) -> None:
    story.init()
    other = story.clone("elsewhere")
    other.run.record.fetch()
    take_lease(other.run)
    other.work.rename(other.home / "moved")
    assert take_lease(story.run).clone == str(story.work)


def test_a_lease_that_names_no_clone_is_the_next_ones_of_its_owner(story: Story) -> None:
    """As older versions wrote it, and as it is handed to another machine."""
    story.init()
    path = story.root / "_herorun" / "lease.json"
    path.parent.mkdir(parents=True)
    path.write_text(f'{{"beat":3,"fence":1,"owner":"{host.owner()}","slug":"{SLUG}"}}')
    assert take_lease(story.run) == Lease(host.owner(), SLUG, 1, 4, str(story.work))


@pytest.mark.thorough
def test_the_second_clone_says_who_watches_and_leaves_no_trace(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither relaunches nor writes the record, posts or pages, whether the lease can be
    written, only read, or neither.
    """
    story.launched(CRASH)
    other = story.clone("elsewhere")
    other.run.record.fetch()
    before, held = other.run.record.tip, lease(story)
    for refused in ((), ("create", "swap"), ("read", "create", "swap")):
        capsys.readouterr()
        with monkeypatch.context() as full:
            for name in refused:
                full.setattr(LocalStore, name, no_space)
            other.tick()
        said = capsys.readouterr().out
        assert (
            mentions(said, "clone", "observes")
            and f"held by {host.owner()} in {story.work}" in said
        )
        assert (other.run.record.tip, lease(story)) == (before, held)
        assert not (other.state / "issue.md").exists() and len(story.starts) == 1
    story.tick()
    story.ended("tiny-2")
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_a_babysitter_on_another_machine_only_looks_while_the_first_one_watches(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that has stood still for hours is nobody's watch: then it speaks, and does not
    act.
    """
    story.launched(CRASH)
    other, owner = story.clone("elsewhere"), host.owner()
    other.run.record.fetch()
    before, held = other.run.record.tip, lease(story)
    monkeypatch.setattr(host, "owner", lambda: "eve@there")
    capsys.readouterr()
    for _ in range(2):
        other.tick()
        said = capsys.readouterr().out
        assert mentions(said, "clone", "observes") and f"held by {owner}" in said
        assert (other.run.record.tip, lease(story)) == (before, held)
    assert not (other.state / "issue.md").exists()
    seen = other.state / "lease-seen.json"
    note = json.loads(seen.read_text())
    seen.write_text(json.dumps({**note, "uptime": note["uptime"] - 86_400}))
    other.tick()
    keys = [event.key for event in other.events("Intended")]
    assert any(key.startswith("escalate/lease/") for key in keys)
    assert (lease(story), len(story.starts)) == (held, 1)


@pytest.mark.thorough
def test_the_second_clone_goes_on_once_it_has_taken_the_lease(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(babysit={"cadence": "1s"})
    story.launched(WAIT)
    story.tick()
    other = story.clone("elsewhere")
    assert (
        other.herorun(
            "handoff", SLUG, "--take", "--wait", "20s", "--reason", "the disk of the first is full"
        )
        == 0
    )
    assert lease(story).clone == str(other.work)
    capsys.readouterr()
    story.tick()
    assert mentions(capsys.readouterr().out, "clone", "observes")
    (story.data / "go").touch()
    story.ended()


@pytest.mark.thorough
def test_a_launch_from_the_second_clone_is_blocked_and_says_where(
    story: Story, capsys: CAPTURE
) -> None:
    story.launched()
    other = story.clone("elsewhere")
    capsys.readouterr()
    assert other.launch() == 1
    assert mentions("".join(capsys.readouterr()), "another", "clone", f"{story.work}")
