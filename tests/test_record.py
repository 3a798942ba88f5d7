"""The durable record: one line of events, whoever writes it, from wherever, and however the remote
is.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import NOON
from herorun.core.canonical_json import canonical, digest
from herorun.core.errors import HerorunError
from herorun.core.event import (
    Decided,
    Event,
    Initialised,
    Intended,
    Launched,
    Launching,
    Noted,
    Observed,
    Sealed,
)
from herorun.core.journal import fold
from herorun.core.record import logbook
from herorun.core.record.logbook import PAGE
from herorun.operations.record.verify import restore_command, verify_record
from herorun.record import HOME, Record, fetch_together, maintenance, model, remote, writer
from herorun.system.files import is_locked
from herorun.system.git import Repository, find_repository, plumbing, repack
from herorun.system.templates import template
from screens.notices import Notice
from stories import Story, git, note
from wording import mentions

AT = NOON
BRANCH = "refs/heads/herorun/tiny"


def record(story: Story) -> Record:
    """As a new process opens it."""
    repository = find_repository(story.work)
    return Record(repository, "tiny", "herorun/tiny", "origin", lambda: template("logbook.md"))


def beginning(at: datetime = AT) -> Initialised:
    return Initialised(at, "tiny", {"DRI": "@dri"}, "issue.md")


def words(of: Record) -> list[str]:
    """The titles of the notes, in order."""
    return [line.event.title for line in of.lines() if isinstance(line.event, Noted)]


def is_well(of: Record) -> bool:
    verification = verify_record(of)
    assert verification.verdict == "clear", verification
    return True


@pytest.fixture
def two(story: Story) -> tuple[Record, Record]:
    """Two clones that share a beginning."""
    first = record(story)
    first.append(beginning())
    assert first.push()
    second = record(story.clone("elsewhere"))
    second.fetch()
    assert second.tip == second.pushed_tip == first.tip
    return first, second


# --- two clones -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_whoever_pushes_second_puts_their_events_on_top(two: tuple[Record, Record]) -> None:
    first, second = two
    first.append(note("one"))
    second.append(note("two"))
    assert first.push() and second.push()
    first.append(note("three"))
    second.append(note("four"))
    assert second.push() and first.push() and second.push()
    assert words(first) == ["one", "two", "four", "three"]
    assert is_well(first) and is_well(second)
    second.append(note("five"))
    assert second.push()
    assert words(second) == ["one", "two", "four", "three", "five"]


def test_several_records_are_fetched_in_one_call(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that the clone has and one that it lacks; of a third, whose own lines wait, none is
    taken over.
    """
    slugs, calls = ("tiny", "new", "busy"), list[tuple[str, ...]]()
    elsewhere = find_repository(story.clone("elsewhere").work)

    def open_one(repository: Repository, slug: str) -> Record:
        return Record(repository, slug, f"herorun/{slug}", "origin", lambda: "")

    for slug in slugs:
        open_one(find_repository(story.work), slug).append(beginning())
        assert open_one(find_repository(story.work), slug).push()
    for slug in ("tiny", "busy"):
        open_one(elsewhere, slug).fetch()
    open_one(elsewhere, "busy").append(note("ours"))
    for slug in slugs:
        open_one(find_repository(story.work), slug).append(note("theirs"))
        assert open_one(find_repository(story.work), slug).push()
    monkeypatch.setattr(
        plumbing, "attach_root", lambda what: calls.append((what,)) or nullcontext()
    )
    fetch_together(elsewhere, "origin", slugs)
    for slug in slugs:
        record = open_one(elsewhere, slug)
        record.fetch(record.ask_recently)
    assert len(calls) == 1
    assert [words(open_one(elsewhere, slug)) for slug in slugs] == [
        ["theirs"],
        ["theirs"],
        ["ours"],
    ]


@pytest.mark.thorough
def test_an_event_that_both_have_stands_there_once(two: tuple[Record, Record]) -> None:
    first, second = two
    for each in two:
        each.append(note("same"))
        assert each.push()
    assert words(second) == ["same"] and words(first) == ["same"]
    assert first.tip == second.tip or is_well(second)


def test_of_two_first_pushes_one_creates_the_branch(story: Story) -> None:
    """The loser adopts the other's beginning and keeps its own events."""
    first, second = record(story), record(story.clone("elsewhere"))
    first.append(beginning())
    second.append(beginning(AT + timedelta(seconds=1)), note("mine"))
    assert first.push() and second.push()
    kinds = [line.event.kind for line in second.lines()]
    assert kinds == ["Initialised", "Noted"] and is_well(second)
    assert second.memory().initialised == first.memory().initialised


@pytest.mark.thorough
def test_the_files_of_an_event_go_with_it(two: tuple[Record, Record]) -> None:
    first, second = two
    first.append(note("one"), files={"contract-1.toml": b"first"})
    second.append(note("two"), files={"seal-2.json": b"second"})
    assert first.push() and second.push()
    assert second.tip
    remainder = {path for _, _, path in second.repository.entries(second.tip, second.files_path)}
    assert remainder == {"contract-1.toml", "seal-2.json"}


@pytest.mark.thorough
def test_an_instance_that_two_intend_is_the_first_ones(two: tuple[Record, Record]) -> None:
    for each, by in zip(two, ("ada@one", "bob@two"), strict=True):
        each.append(
            Launching(
                at=AT,
                instance="tiny-1",
                number=1,
                plan={},
                plan_digest="sha256:1",
                why="by hand",
                contract_file="runs/tiny.toml",
                by=by,
            )
        )
        assert each.push()
    assert two[1].memory().launchings["tiny-1"].by == "ada@one"


# --- interruptions --------------------------------------------------------------------------------


class Dead(BaseException):
    pass


STEPS = (
    (remote, "push"),
    (remote, "fetch"),
    (writer, "commit_files"),
    (remote, "move_ref"),
)


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_interrupted_adoption_loses_nothing(story: Story, after: bool) -> None:
    """The process ends at every git step of a push that has to adopt; then it is simply pushed
    again.
    """
    first = record(story)
    first.append(beginning())
    first.push()
    for at in range(1, 20):
        clone = story.clone(f"clone-{at}")
        second = record(clone)
        second.fetch()
        first.append(note(f"theirs {at}"))
        assert first.push()
        second.append(note(f"ours {at}"), files={f"{at}.json": b"{}"})
        has_struck = _interrupted_push(second, at, after)
        again = record(clone)
        assert f"ours {at}" in words(again)
        assert again.push()
        assert words(again).count(f"ours {at}") == words(again).count(f"theirs {at}") == 1
        assert is_well(again) and f"{at}.json" in _files(again)
        first = again
        if not has_struck:
            break
    assert 5 < at < 19


def _files(of: Record) -> set[str]:
    assert of.tip
    return {path for _, _, path in of.repository.entries(of.tip, of.files_path)}


def _interrupted_push(of: Record, at: int, after: bool) -> bool:
    """Whether there was an `at`-th step."""
    calls: Iterator[int] = iter(range(1, 100))

    def ending(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **keywords: Any) -> Any:
            here = next(calls) == at
            if here and not after:
                raise Dead
            try:
                return real(*args, **keywords)
            finally:
                if here:
                    raise Dead

        return step

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in STEPS:
            patch.setattr(owner, name, ending(getattr(owner, name)))
        try:
            of.push()
        except Dead:
            return True
    return False


# --- the remote -----------------------------------------------------------------------------------


def test_what_could_not_be_pushed_goes_out_later_also_when_nothing_new_was_written(
    story: Story,
) -> None:
    mine = record(story)
    mine.append(beginning())
    away = story.home / "away"
    story.origin.rename(away)
    push = mine.push()
    assert not push and "git ls-remote origin" in push.why and mine.pushed_tip is None
    away.rename(story.origin)
    assert record(story).push()
    assert git(story.origin, "rev-parse", BRANCH).strip() == mine.tip == record(story).pushed_tip


def test_a_rewritten_remote_is_never_adopted(two: tuple[Record, Record], story: Story) -> None:
    first, second = two
    second.append(note("kept"))
    assert second.push()
    empty = git(story.origin, "hash-object", "-t", "tree", "-w", "--stdin").strip()
    forged_commit = git(
        story.origin, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", empty, "-m", "x"
    )
    git(story.origin, "update-ref", BRANCH, forged_commit.strip())
    second.append(note("later"))
    before = second.tip
    push = second.push()
    assert "was rewritten" in push.why and mentions(push.why, "`herorun verify")
    assert second.tip == before
    assert git(story.origin, "rev-parse", BRANCH) == forged_commit
    assert first.tip


def test_a_branch_that_was_removed_is_reported(two: tuple[Record, Record], story: Story) -> None:
    first, _ = two
    git(story.origin, "update-ref", "-d", BRANCH)
    first.append(note("one"))
    push = first.push()
    assert mentions(push.why, "herorun/tiny", "origin", "herorun verify tiny")
    program, *command = restore_command(first).split()
    assert program == "git"
    git(story.work, *command)
    assert first.push() and first.pushed_tip == first.tip


def test_who_writes_does_not_wait_for_a_push_that_is_under_way(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A remote that does not answer may take minutes, and an act's outcome must be written down
    meanwhile.
    """
    mine, real = record(story), remote.push
    mine.append(beginning())

    def slow(*args: Any) -> None:
        assert not is_locked(mine._lock)
        record(story).append(note("meanwhile"))
        real(*args)

    monkeypatch.setattr(remote, "push", slow)
    assert mine.push() and mine.pushed_tip != mine.tip
    monkeypatch.undo()
    assert mine.push() and mine.pushed_tip == mine.tip and words(mine) == ["meanwhile"]


# --- one clone ------------------------------------------------------------------------------------

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from test_record import record
from stories import Story, note
mine = record(Story(Path(sys.argv[1])))
for number in range(8):
    mine.append(note(f"{sys.argv[2]} {number}", datetime.now(UTC)))
"""


@pytest.mark.thorough
def test_processes_that_write_at_once_lose_nothing(story: Story) -> None:
    mine = record(story)
    mine.append(beginning())
    tests = Path(__file__).parent
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tests), str(tests.parent / "src")))}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(story.home), name], env=env)
        for name in "ab"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert sorted(words(mine)) == sorted(f"{name} {number}" for name in "ab" for number in range(8))
    assert mine.push() and is_well(mine)


def test_a_ref_that_moved_meanwhile_is_written_on_top_of(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the lock does not hold, as on some network mounts."""
    mine, other = record(story), record(story)
    mine.append(beginning())
    monkeypatch.setattr(writer, "hold_lock", lambda *_, **__: nullcontext())
    real, first = writer.commit_files, iter([True])

    def slow(*args: Any) -> str:
        if next(first, False):
            other.append(note("other"))
        return real(*args)

    monkeypatch.setattr(writer, "commit_files", slow)
    mine.append(note("mine"))
    assert words(mine) == ["other", "mine"]


def test_a_clock_that_steps_back_opens_no_earlier_segment(story: Story) -> None:
    mine = record(story)
    mine.append(beginning(AT))
    mine.append(note("before", AT - timedelta(days=2)))
    mine.append(note("after", AT + timedelta(days=1)))
    assert mine.tip
    names = [path for _, _, path in mine.repository.entries(mine.tip, mine.journal_path)]
    assert names == ["20260101.jsonl", "20260102.jsonl"]
    assert words(record(story)) == ["before", "after"]


def test_what_is_read_back_is_what_was_written(story: Story) -> None:
    mine = record(story)
    mine.append(beginning(), note("one"), note('odd\n<!-- "quoted" -->\x1b[31m\u2028 é'))
    assert record(story).memory() == mine.memory()
    assert [line.text for line in record(story).lines()] == [line.text for line in mine.lines()]
    assert mine.push() and is_well(mine)


def test_secrets_are_masked_before_anything_is_hashed(story: Story) -> None:
    mine = record(story)
    mine.append(beginning(), note("with WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567"))
    assert mine.tip
    assert "0123456789abcdef" not in git(story.work, "log", "-p", mine.tip)
    assert mine.push() and is_well(mine)


# --- how it looks in git --------------------------------------------------------------------------


def test_a_repository_with_other_digests_is_pushed_and_taken_over(tmp_path: Path) -> None:
    ours, origin, theirs = tmp_path / "ours", tmp_path / "a bare one.git", tmp_path / "theirs"
    git(tmp_path, "init", "-q", "--bare", "--object-format=sha256", str(origin))
    git(tmp_path, "init", "-q", "--object-format=sha256", str(ours))
    git(ours, "remote", "add", "origin", str(origin))
    first, second = (
        Record(
            Repository(place, place / ".git"),
            "tiny",
            "herorun/tiny",
            "origin",
            lambda: template("logbook.md"),
        )
        for place in (ours, theirs)
    )
    first.append(beginning())
    assert first.push()
    git(tmp_path, "clone", "-q", str(origin), str(theirs))
    second.fetch()
    second.append(note("one"))
    assert second.push() and len(str(second.tip)) == 64 and is_well(second)


def test_messages_are_the_seeds_and_skip_ci(story: Story, notice: Notice) -> None:
    mine = record(story)
    launching = Launching(
        at=AT,
        instance="tiny-1",
        number=1,
        plan={},
        plan_digest="sha256:1",
        why="by hand",
        contract_file="runs/tiny.toml",
    )
    launched_event = Launched(
        at=AT,
        instance="tiny-2",
        number=2,
        job="job",
        plan_digest="sha256:1",
        output_root="/data",
        commit="c0ffee",
        entry={},
        relaunch_of="tiny-1",
    )
    for event in (
        beginning(),
        launching,
        launched_event,
        note("one"),
        Intended(at=AT, key="tell/x", attempt=1, what="x"),
    ):
        mine.append(event)
    mine.append(
        Sealed(at=AT, tag="herorun/tiny/seal-1", commit="c0ffee", statement_digest="sha256:2")
    )
    assert mine.tip
    messages = git(story.work, "log", "--reverse", "--format=%B%x00", mine.tip).split("\0\n")[:-1]
    assert {message.split("\n", 1)[1] for message in messages} == {"\n[skip ci]\n"}
    assert "\n".join(message.split("\n")[0] for message in messages) == notice


def test_it_is_written_where_git_knows_nobody(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = story.work / ".git" / "config"
    config.write_text(
        config.read_text().replace("name = Dri\nemail = dri@example.org", "useConfigOnly = true")
    )
    monkeypatch.setenv("HOME", str(story.home))
    mine = record(story)
    mine.append(beginning())
    assert mine.tip
    assert git(story.work, "log", "-1", "--format=%cn", mine.tip).strip() in ("herorun", "root")


def test_the_branch_holds_the_record_alone_and_has_no_root_in_the_code(story: Story) -> None:
    mine = record(story)
    mine.append(beginning())
    mine.append(note("one"))
    assert mine.push()
    names = git(story.origin, "ls-tree", "-r", "--name-only", BRANCH).split()
    assert names == [".agents/logbooks/tiny.journal/20260101.jsonl", ".agents/logbooks/tiny.md"]
    roots = git(story.origin, "rev-list", "--max-parents=0", BRANCH).split()
    assert len(roots) == 1 and roots[0] not in git(story.origin, "rev-list", "refs/heads/main")


# --- what is remembered of a long journal ---------------------------------------------------------


def quiet(number: int) -> tuple[Observed, Decided]:
    """A tick, nine hours after the one before."""
    at = AT + number * timedelta(hours=9)
    return Observed(at=at, version="0", rules="", evidence={}), Decided(
        at=at, run="healthy", monitor="fresh", progress=f"~{number}/99"
    )


@pytest.fixture
def long(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A record of a dozen ticks over five days, of which the ten newest lines at most are to be
    folded.
    """
    monkeypatch.setattr(maintenance, "REMEMBER", 10)
    record_of_story = record(story)
    record_of_story.append(beginning())
    for number in range(12):
        record_of_story.append(*quiet(number))
    return story


def snapshot_path(story: Story) -> Path:
    return story.work / ".git" / "herorun" / "tiny.memory.json"


def forge_snapshot(story: Story) -> None:
    """What is kept says something else, and fits together."""
    body = json.loads(snapshot_path(story).read_text())
    body.pop("sum")
    body["memory"]["most_saved"] = 98
    snapshot_path(story).write_text(canonical({**body, "sum": digest(body)}) + "\n")


def test_a_tick_folds_the_newest_lines_only(long: Story) -> None:
    second_record = record(long)
    remembered_memory = second_record.memory()
    assert len(second_record._read().lines) < 10 and len(second_record._read().segments) < 5
    snapshot_path(long).unlink()
    assert record(long).memory() == remembered_memory
    assert (
        record(long).folded_memory() == second_record.folded_memory()
        and second_record.folded_memory().lines == 25
    )
    assert len(second_record.lines()) == 25 and is_well(second_record)


def test_a_pinned_record_is_as_it_was_last_read(story: Story) -> None:
    mine, other = record(story), record(story)
    tip = mine.append(beginning())
    with mine.pin():
        other.append(note("one"))
        assert (mine.tip, words(mine), len(mine.memory().caveats)) == (tip, [], 0)
    assert mine.tip == other.tip != tip and words(mine) == ["one"]


def test_who_writes_for_long_holds_the_newest_lines_only(long: Story) -> None:
    """A babysitter lives as long as its run, and acts now and then: its memory must not be the
    whole journal.
    """
    record_of_story = record(long)
    for number in range(12, 60):
        record_of_story.append(
            *quiet(number), Intended(at=AT, key=f"tell/{number}", attempt=1, what="news")
        )
        assert (
            len(record_of_story._content.lines) <= 12 and len(record_of_story._content.segments) < 6
        )
    assert (
        record_of_story.memory()
        == record(long).memory()
        == fold(line.event for line in record_of_story.lines())
    )
    assert is_well(record_of_story)


@pytest.mark.thorough
def test_what_a_real_run_amounts_to_is_remembered(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "REMEMBER", 1)
    story.run_to_success()
    second_record = record(story)
    assert (
        snapshot_path(story).exists()
        and second_record.memory().launchings
        and second_record._read().remembered is not None
    )
    assert second_record.memory() == fold(line.event for line in second_record.lines())


@pytest.mark.thorough
def test_a_tick_on_top_of_what_is_remembered_follows_the_chain(long: Story) -> None:
    for number in range(12, 18):
        record(long).append(*quiet(number))
    assert len(record(long)._read().lines) < 10
    assert is_well(record(long))


def test_no_act_is_written_on_top_of_what_the_journal_does_not_say(long: Story) -> None:
    forge_snapshot(long)
    second_record = record(long)
    assert second_record.memory().most_saved == 98
    with pytest.raises(HerorunError, match=r"match.*journal"):
        second_record.append(Intended(at=AT, key="relaunch/tiny-1", attempt=1, what="relaunch"))
    assert second_record.memory().most_saved == 0
    second_record.append(Intended(at=AT, key="relaunch/tiny-1", attempt=1, what="relaunch"))
    assert "relaunch/tiny-1" in record(long).memory().intended and is_well(record(long))


@pytest.mark.parametrize("spoil", [b"", b"{}", b"not JSON\n"])
def test_what_is_remembered_can_be_damaged_or_deleted(long: Story, spoil: bytes) -> None:
    memory = record(long).memory()
    snapshot_path(long).write_bytes(spoil)
    assert record(long).memory() == memory


def test_what_was_remembered_of_another_history_does_not_count(long: Story) -> None:
    old = snapshot_path(long).read_bytes()
    git(
        long.work,
        "update-ref",
        "refs/herorun/record/tiny",
        git(long.work, "rev-parse", "refs/herorun/record/tiny~11").strip(),
    )
    record(long).append(note("another history"))
    snapshot_path(long).write_bytes(old)
    assert (
        words(record(long)) == ["another history"]
        and record(long).memory().last_decided is not None
    )
    assert record(long).memory().last_decided.progress == "~0/99"


def test_who_opens_a_record_again_reads_no_line_twice(long: Story) -> None:
    tip = record(long).append(*quiet(12))
    again = record(long)
    assert again.memory().last_decided == quiet(12)[1] and not again._read().lines
    assert again.memory() == fold(line.event for line in again.lines()) and again.tip == tip


def test_what_this_process_holds_is_of_the_bytes_that_are_there(long: Story) -> None:
    """Somebody moves the branch back, and writes as many other lines on top."""
    record(long).append(*quiet(12))
    git(long.work, "update-ref", record(long).ref, f"{record(long).tip}~1")
    assert record(long).memory().last_decided == quiet(11)[1]
    record(long).append(*quiet(13))
    assert record(long).memory() == fold(line.event for line in record(long).lines())
    assert record(long).memory().last_decided == quiet(13)[1] and is_well(record(long))


# --- what it costs --------------------------------------------------------------------------------


@dataclass
class Work:
    """What git was asked, and how many bytes went in and out."""

    calls: int = 0
    bytes: int = 0

    def __sub__(self, other: "Work") -> "Work":
        return Work(self.calls - other.calls, self.bytes - other.bytes)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    git_work, real = Work(), Repository.git

    def git(self: Repository, *args: str, stdin: bytes = b"", **keywords: Any) -> Any:
        answer = real(self, *args, stdin=stdin, **keywords)
        git_work.calls += 1
        git_work.bytes += len(stdin) + len(answer.out)
        return answer

    monkeypatch.setattr(Repository, "git", git)
    return git_work


def _cost(story: Story, work: Work, event: Event) -> Work:
    """Of one more event, by a new process."""
    before = replace(work)
    record(story).append(event)
    return work - before


@pytest.mark.thorough
def test_an_event_costs_the_same_after_thousands_of_entries(story: Story, work: Work) -> None:
    """Counted in git's calls and in bytes. An entry costs its page of the logbook too."""
    mine, day = record(story), timedelta(days=1)
    mine.append(beginning(), *(note(f"{number}", AT) for number in range(10)))
    mine.append(*(quiet(number)[1] for number in range(70)))
    few = _cost(story, work, quiet(70)[1])
    mine.append(*(note(f"{number}", AT + 30 * day) for number in range(2_000)))
    at = AT + 31 * day
    mine.append(
        *(replace(quiet(0)[1], at=at + number * timedelta(minutes=10)) for number in range(70))
    )
    many = _cost(story, work, replace(quiet(0)[1], at=at + day / 2))
    assert many.calls <= few.calls and many.bytes < few.bytes + 70 * 1000
    assert len(mine.logbook()) > 2_000 * 100
    entry = _cost(story, work, note("one more", at + day / 2))
    assert entry.calls <= many.calls + 2 and entry.bytes < 2 * PAGE + many.bytes + 10_000


@pytest.mark.thorough
def test_a_day_of_many_lines_continues_in_another_file(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "SEGMENT", 2000)
    mine = record(story)
    mine.append(beginning())
    for number in range(12):
        mine.append(note(f"{number}"))
    mine.append(note("the next day", AT + timedelta(days=1)))
    assert mine.tip
    names = [path for _, _, path in mine.repository.entries(mine.tip, mine.journal_path)]
    assert names[:2] == ["20260101.jsonl", "20260101_002.jsonl"] and names[-1] == "20260102.jsonl"
    assert len(names) > 3 and names == sorted(names)
    assert words(record(story)) == [*(f"{number}" for number in range(12)), "the next day"]
    backwards = [line.event.title for line in mine.newest_first() if isinstance(line.event, Noted)]
    assert backwards == list(reversed(words(record(story))))
    assert mine.push() and is_well(mine)


@pytest.mark.thorough
def test_a_logbook_that_grows_long_continues_in_another_page(
    two: tuple[Record, Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On two machines at once, by new processes: each event stands on one page, and nothing is
    lost.
    """
    monkeypatch.setattr(logbook, "PAGE", 1500)
    first, second = two
    for number in range(4):
        first.append(note(f"a{number}"), note(f"A{number}"))
    second.append(*(note(f"b{number}") for number in range(8)))
    assert first.push() and second.push() and second.tip
    names = [path.rpartition("/")[2] for path in second.repository.names(second.tip, HOME)]
    assert names == [f"tiny{number}.md" for number in ("", "_002", "_003")]
    first.append(note("last"))
    assert first.push() and is_well(first)
    logbook_text = first.logbook()
    texts = [
        *(f"{word}{number}" for number in range(4) for word in "aA"),
        *(f"b{n}" for n in range(8)),
        "last",
    ]
    assert re.findall("^### .* UTC - (.*)$", logbook_text, re.MULTILINE) == texts == words(first)
    assert logbook_text.count("## Event Log") == 1 and "Continued" not in logbook_text
    assert first.newest_page().endswith("/tiny_003.md")


@pytest.mark.thorough
def test_the_commits_of_many_ticks_are_packed(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PACK", 10)
    objects = story.work / ".git" / "objects"
    mine = record(story)
    mine.append(beginning())
    before = set(objects.glob("??/*"))
    for number in range(12):
        mine.append(*quiet(number))
        assert mine.push()
    assert len(set(objects.glob("??/*")) - before) < 6 * 10 and list(objects.glob("pack/*.pack"))
    assert len(record(story).lines()) == 25 and is_well(record(story))
    git(story.work, "fsck", "--full", "--strict")


def test_what_cannot_be_packed_is_recorded_anyway(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PACK", 1)
    monkeypatch.setattr(
        repack,
        "pack",
        lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    mine = record(story)
    mine.append(beginning())
    assert mine.push() and is_well(mine)
