"""Two clones of one user on one machine: one watches and speaks, the other only looks."""

import errno
import json
from pathlib import Path
from time import monotonic
from typing import NoReturn

import pytest

from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.record.lease import Lease, read_lease
from herorun.operations.orders import note as noting
from herorun.operations.record.lease import take_lease
from herorun.record import fetch
from herorun.schedulers import local
from herorun.stores.local import LocalStore
from herorun.system import host
from herorun.system.git import remote_refs
from stories import CRASH, SLUG, WAIT, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
JOURNALS = f".agents/logbooks/{SLUG}.journal"


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def lease(story: Story) -> Lease:
    document = read_lease((story.root / "_herorun" / "lease.json").read_bytes())
    assert document is not None
    return document


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


def test_another_clone_names_no_log_that_it_does_not_have(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clone that launched the job names it also while the scheduler gives no answer."""

    def hang(*_: object) -> NoReturn:
        raise CouldNotLook("the scheduler gives no answer")

    story.run_first_job()
    other = story.clone("elsewhere")
    logs = []
    for clone in (story, other):
        monkeypatch.setattr(local.Local, "find", hang)
        capsys.readouterr()
        clone.herorun("status", SLUG, "--json")
        logs.append(json.loads(capsys.readouterr().out)["log"])
    assert (Path(logs[0]).is_file(), logs[1]) == (True, "")


@pytest.mark.thorough
def test_the_second_clone_says_who_watches_and_leaves_no_trace(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither relaunches nor writes the record, posts or pages, whether the lease can be
    written, only read, or neither.
    """
    story.run_first_job(CRASH)
    other = story.clone("elsewhere")
    other.run.record.fetch()
    before, lease_before = other.run.record.tip, lease(story)
    for refused_commands in ((), ("create", "swap"), ("read", "create", "swap")):
        capsys.readouterr()
        with monkeypatch.context() as full:
            for name in refused_commands:
                full.setattr(LocalStore, name, no_space)
            other.tick()
        output = capsys.readouterr().out
        assert (
            mentions(output, "clone", "observes")
            and f"held by {host.owner()} in {story.work}" in output
        )
        assert (other.run.record.tip, lease(story)) == (before, lease_before)
        assert not (other.state / "issue.md").exists() and len(story.starts) == 1
    story.tick()
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


@pytest.mark.thorough
def test_a_babysitter_on_another_machine_only_looks_while_the_first_one_watches(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that has stood still for hours is nobody's watch: then it speaks, and does not
    act.
    """
    story.run_first_job(CRASH)
    other, owner = story.clone("elsewhere"), host.owner()
    other.run.record.fetch()
    before, lease_before = other.run.record.tip, lease(story)
    monkeypatch.setattr(host, "owner", lambda: "eve@there")
    capsys.readouterr()
    for _ in range(2):
        other.tick()
        output = capsys.readouterr().out
        assert mentions(output, "clone", "observes") and f"held by {owner}" in output
        assert (other.run.record.tip, lease(story)) == (before, lease_before)
    assert not (other.state / "issue.md").exists()
    lease_seen_json = other.state / "lease-seen.json"
    note = json.loads(lease_seen_json.read_text())
    lease_seen_json.write_text(json.dumps({**note, "uptime": note["uptime"] - 86_400}))
    other.tick()
    keys = [event.key for event in other.events("Intended")]
    assert any(key.startswith("escalate/lease/") for key in keys)
    assert (lease(story), len(story.starts)) == (lease_before, 1)


@pytest.mark.thorough
def test_the_second_clone_continues_once_it_has_taken_the_lease(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(babysit={"cadence": "1s"})
    story.run_first_job(WAIT)
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
    story.wait_for_end()


@pytest.mark.thorough
def test_a_launch_from_the_second_clone_is_blocked_and_says_where(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job()
    other = story.clone("elsewhere")
    capsys.readouterr()
    assert other.launch() == 1
    assert mentions("".join(capsys.readouterr()), "another", "clone", f"{story.work}")


def test_the_second_clone_shows_and_answers_what_the_first_one_recorded_since(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    other = story.clone("elsewhere")
    assert other.herorun("status", SLUG) == 0  # from here on it has a record of its own
    story.order(f"{SLUG}-1", CRASH)
    story.launch()
    capsys.readouterr()
    other.herorun("status", SLUG, "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["stage"] == "launched"
    assert document["record"] == other.run.record.pushed_tip == story.run.record.tip
    other.herorun("pause", SLUG, "--until", "2h", "--reason", "maintenance")
    story.wait_for_end()
    story.tick()
    assert story.starts == [f"{SLUG}-1 scratch"]  # the pause of the other clone holds at once


def test_a_second_clone_that_the_remote_does_not_answer_says_that_it_may_be_behind(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    other = story.clone("elsewhere")
    other.herorun("status", SLUG)
    story.origin.rename(story.home / "gone")
    capsys.readouterr()
    assert other.herorun("status", SLUG, "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["stage"], document["monitor"]) == ("initialised", "partial")
    assert mentions(document["unread"], "record", "remote")


def test_lines_that_vanish_from_the_remote_are_not_taken_over(story: Story) -> None:
    """The branch has a new commit whose journal lacks the newest line that was pushed."""
    story.init()
    other = story.clone("elsewhere")
    other.run.record.fetch()
    story.herorun("note", SLUG, "seen by all")
    record = other.run.record
    record.fetch()
    tip = record.tip
    assert tip == story.run.record.tip
    (path,) = [name for _, _, name in story.run.repository.entries(str(tip), record.journal_path)]
    text = git(story.work, "show", f"{tip}:{record.journal_path}/{path}")
    cut = "".join(text.splitlines(keepends=True)[:-1])
    git(story.work, "switch", "-q", "-c", "cut", str(tip))
    (story.work / record.journal_path / path).write_text(cut)
    git(story.work, "commit", "-q", "-a", "-m", "cut")
    git(story.work, "push", "-q", "origin", f"HEAD:refs/heads/{record.branch}")
    record.fetch()
    assert record.tip == tip and mentions(record.remote_unread, record.branch, "origin")


@pytest.mark.parametrize("is_unpushed", [False, True])
def test_a_damaged_branch_on_the_remote_is_shown_to_the_clone_that_monitors(
    is_unpushed: bool, story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not lines of its own wait: none can be pushed on top of it."""
    monkeypatch.setattr(noting, "PATIENCE", 0.0)  # nor later
    story.run_first_job()
    record = story.run.record
    assert record.push()
    (path,) = [name for _, _, name in story.run.repository.entries(str(record.tip), JOURNALS)]
    editor = story.home / "editor"
    git(story.home, "clone", "-q", "-b", record.branch, str(story.origin), str(editor))
    journal = editor / JOURNALS / path
    journal.write_text(journal.read_text().replace(f'"slug":"{SLUG}"', '"slug":"other"'))
    git(editor, "commit", "-q", "-a", "-m", "edited")
    git(editor, "push", "-q")
    remote_refs._listings.clear()
    if is_unpushed:
        story.herorun("note", SLUG, "of this clone alone")
        remote_refs._listings.clear()
    capsys.readouterr()
    code = story.herorun("status", SLUG, "--json")
    document = json.loads(capsys.readouterr().out)
    story.wait_for_end()
    assert (code, document["monitor"]) == (3, "partial")
    assert mentions(document["unread"], "record", "origin", path)
    assert document["next"] == f"herorun verify {SLUG}"


def test_a_branch_that_was_put_back_lacks_what_was_pushed(story: Story, capsys: CAPTURE) -> None:
    story.init()
    story.herorun("note", SLUG, "pushed before")
    record = story.run.record
    target = f"refs/heads/{record.branch}"
    assert record.tip == record.pushed_tip
    git(story.work, "push", "-q", "-f", "origin", f"{record.tip}~1:{target}")
    remote_refs._listings.clear()
    capsys.readouterr()
    assert story.herorun("status", SLUG, "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["monitor"], document["pushed"]) == ("partial", None)
    assert document["next"] == f"herorun verify {SLUG}"


def test_a_busy_record_is_no_fault_of_the_remote(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock of this machine that is held, or that a killed git left."""
    story.init()
    other = story.clone("elsewhere")
    record = other.run.record
    record.fetch()
    story.herorun("note", SLUG, "news")
    ref = other.run.repository.common / f"{record.ref}.lock"
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.touch()
    record.fetch()
    assert record.remote_unread and not record.remote_fault
    ref.unlink()
    record.fetch()
    assert not record.remote_unread and record.tip == story.run.record.tip


def test_a_branch_that_is_gone_from_the_remote_is_not_called_pushed(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    branch = story.run.record.branch
    for is_there in (True, False):
        capsys.readouterr()
        story.herorun("status", SLUG, "--json")
        document = json.loads(capsys.readouterr().out)
        assert document["pushed"] is is_there
        assert mentions(document["doubts"], branch, "origin") is not is_there
        git(story.work, "push", "-q", "origin", f":refs/heads/{branch}") if is_there else None
        remote_refs._listings.clear()


def test_a_list_does_not_call_a_run_not_begun_that_another_clone_began(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    other = story.clone("elsewhere")
    capsys.readouterr()
    other.herorun("list")
    assert mentions(capsys.readouterr().out, SLUG, "here")
    other.herorun("status", SLUG)
    capsys.readouterr()
    other.herorun("list")
    assert mentions(capsys.readouterr().out, SLUG, "initialised")


def test_a_remote_that_hangs_is_waited_for_but_a_moment_where_the_record_is_here(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    story.launch()
    git(story.work, "remote", "set-url", "origin", "ssh://nobody@silent.invalid/origin")
    monkeypatch.setenv("GIT_SSH_COMMAND", "sh -c 'exec sleep 30' #")
    monkeypatch.setattr(fetch, "FOLLOWING", 0.5)
    capsys.readouterr()
    began = monotonic()
    story.herorun("status", SLUG, "--json")
    assert monotonic() - began < 15
    assert json.loads(capsys.readouterr().out)["stage"] == "launched"
    story.wait_for_end()


def test_a_record_is_not_called_unpushed_where_that_is_unknown(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()

    def unreachable(_: object) -> str:
        raise CouldNotLook("origin does not answer")

    monkeypatch.setattr(type(story.run.record), "branch_loss", unreachable)
    capsys.readouterr()
    story.herorun("status", SLUG, "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["pushed"] is None and mentions(document["doubts"], "origin")
    story.herorun("status", SLUG)
    assert mentions(capsys.readouterr().out, "unknown")
