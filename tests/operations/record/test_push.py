"""The records of several runs go out in one push; what became of one says nothing of another."""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.event import Initialised
from herorun.operations.record import push as module
from herorun.operations.record.push import PushPacer, push_together
from herorun.record import Pushed, Record
from herorun.system.git import Repository, find_repository
from herorun.system.templates import template
from services.git_http import GitServer, serving
from stories import Story, git, note
from wording import mentions

HOOK = "#!/bin/sh\ncase $1 in *run-1) echo 'not here' >&2; exit 1;; esac\n"


def a_record(story: Story, slug: str) -> Record:
    repository = find_repository(story.work)
    return Record(repository, slug, f"herorun/{slug}", "origin", lambda: template("logbook.md"))


@pytest.fixture
def four(story: Story) -> list[Record]:
    """Begun, and nowhere else."""
    records = [a_record(story, f"run-{number}") for number in range(4)]
    for record in records:
        record.append(Initialised(NOON, record.slug, {"DRI": "@dri"}, "issue.md"))
    return records


@pytest.fixture
def pushes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many refs each call of `git push` named."""
    push_counts: list[int] = []
    real = Repository.git

    def git(self: Repository, *args: str, **keywords: object) -> object:
        if args[0] == "push":
            push_counts.append(sum(":refs/heads/" in arg for arg in args))
        return real(self, *args, **keywords)

    monkeypatch.setattr(Repository, "git", git)
    return push_counts


def there(story: Story) -> dict[str, str]:
    rows = git(
        story.origin, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/herorun"
    ).split("\n")
    return {
        name.rpartition("/")[2]: oid for oid, _, name in (row.partition(" ") for row in rows) if oid
    }


def test_all_go_in_one_push(story: Story, four: list[Record], pushes: list[int]) -> None:
    assert all(push_together(four)) and pushes == [4]
    assert there(story) == {record.slug: record.tip for record in four}
    assert all(record.pushed_tip == record.tip for record in four)
    assert all(push_together(four)) and pushes == [4]
    four[2].append(note("one"))
    assert all(push_together(four)) and pushes == [4, 1]
    assert there(story)["run-2"] == four[2].tip


def test_one_with_nothing_new_whose_branch_is_gone_is_not_up_to_date(
    story: Story, four: list[Record]
) -> None:
    assert all(push_together(four))
    git(story.origin, "update-ref", "-d", "refs/heads/herorun/run-1")
    for record in four:
        record.fetch()
    assert [bool(outcome) for outcome in push_together(four)] == [True, False, True, True]
    assert [bool(record.push()) for record in four] == [True, False, True, True]


def test_no_command_line_grows_without_bound(
    story: Story, four: list[Record], pushes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 3)
    assert all(push_together(four)) and pushes == [3, 1] and len(there(story)) == 4


@pytest.mark.thorough
def test_one_to_which_somebody_else_has_added_goes_on_top_of_theirs(
    story: Story, four: list[Record]
) -> None:
    assert all(push_together(four))
    other = a_record(story.clone("elsewhere"), "run-1")
    other.fetch()
    other.append(note("theirs"))
    assert other.push()
    for record in four:
        record.append(note("ours"))
    assert all(push_together(four))
    assert there(story) == {record.slug: record.tip for record in four}
    assert [line.event.kind for line in four[1].lines()] == ["Initialised", "Noted", "Noted"]
    assert four[1].pushed_tip == four[1].tip


def test_one_that_the_remote_refuses_keeps_no_other_back(story: Story, four: list[Record]) -> None:
    hook = story.origin / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o755)
    outcomes = push_together(four)
    assert [bool(each) for each in outcomes] == [True, False, True, True]
    assert mentions(outcomes[1].why, "herorun/run-1", "[remote", "rejected]", "hook")
    assert "run-1" not in there(story) and four[1].pushed_tip is None
    hook.unlink()
    assert all(push_together(four)) and "run-1" in there(story)


def test_a_remote_that_is_away_is_asked_once(
    story: Story, four: list[Record], pushes: list[int]
) -> None:
    away = story.home / "away"
    story.origin.rename(away)
    outcomes = push_together(four)
    assert not any(outcomes) and len({each.why for each in outcomes}) == 1 and pushes == [4]
    away.rename(story.origin)
    assert all(push_together(four)) and len(there(story)) == 4


def test_two_of_one_branch_do_not_stop_the_rest(story: Story, four: list[Record]) -> None:
    four[1].branch = four[0].branch
    outcomes = push_together(four)
    assert [bool(each) for each in outcomes] == [
        True,
        False,
        True,
        True,
    ] and mentions(outcomes[1].why, "something", "else")
    assert set(there(story)) == {"run-0", "run-2", "run-3"}


def test_the_default_branch_is_never_pushed_to(story: Story, four: list[Record]) -> None:
    before = git(story.origin, "rev-parse", "refs/heads/main")
    four[1].branch = "main"
    outcomes = push_together(four)
    assert [bool(each) for each in outcomes] == [True, False, True, True] and mentions(
        outcomes[1].why, "holds code"
    )
    assert git(story.origin, "rev-parse", "refs/heads/main") == before


def test_loops_that_push_at_once_share_a_push(
    story: Story, four: list[Record], pushes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first is under way the others come; they go together in the second."""
    together, real = PushPacer(), module.push_together
    under_way, all_wait, calls = threading.Event(), threading.Event(), iter(range(9))

    def slow(records: list[Record]) -> list[Pushed]:
        if next(calls) == 0:
            under_way.set()
            assert all_wait.wait(30)
        return real(records)

    monkeypatch.setattr(module, "push_together", slow)
    outcomes: list[Pushed] = []
    threads = [
        threading.Thread(target=lambda r=record: outcomes.append(together.push(r)))
        for record in four
    ]
    threads[0].start()
    assert under_way.wait(30)
    (queue,) = together._queues.values()
    for thread in threads[1:]:
        thread.start()
    for _ in _until(lambda: len(queue._waiting) == 3):
        threading.Event().wait(0.005)
    all_wait.set()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 4 and all(outcomes) and pushes == [1, 3]


@pytest.fixture
def remote(story: Story) -> Iterator[GitServer]:
    """The story's origin, over HTTP."""
    git(story.origin, "config", "http.receivepack", "true")
    with serving(story.origin.parent) as server:
        git(story.work, "remote", "set-url", "origin", f"{server.url}/{story.origin.name}")
        yield server


class Loops:
    """Ticks of several runs that push, a thread each."""

    def __init__(self, cadence: timedelta = timedelta(minutes=10)) -> None:
        self.together, self.pushes = PushPacer(), list[Pushed]()
        self._cadence, self._threads = cadence, list[threading.Thread]()

    def push(self, record: Record, urgent: bool = False) -> None:
        def act() -> None:
            self.pushes.append(self.together.push(record, self._cadence, urgent))

        self._threads.append(threading.Thread(target=act))
        self._threads[-1].start()

    def wait_for(self, count: int) -> None:
        (queue,) = self.together._queues.values()
        for _ in _until(lambda: len(queue._waiting) == count):
            threading.Event().wait(0.005)

    def join(self) -> list[Pushed]:
        for thread in self._threads:
            thread.join(60)
        return self.pushes


def count_pushes(remote: GitServer) -> int:
    return sum(line.startswith("POST") and "receive-pack" in line for line in remote.requests)


def test_quiet_ticks_wait_for_each_other_and_an_urgent_one_takes_them_along(
    story: Story, four: list[Record], remote: GitServer
) -> None:
    loops = Loops()
    loops.push(four[0])
    assert all(loops.join()) and count_pushes(remote) == 1  # the first waits for nobody
    for record in four[1:3]:
        loops.push(record)
    loops.wait_for(2)
    assert count_pushes(remote) == 1
    loops.push(four[3], urgent=True)
    assert len(loops.join()) == 4 and all(loops.pushes)
    assert count_pushes(remote) == 2 and there(story) == {
        record.slug: record.tip for record in four
    }


def test_an_urgent_push_waits_longer_after_a_slow_one(
    four: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.2
    durations: list[timedelta] = []

    def push_slowly(records: Sequence[Record]) -> list[Pushed]:
        threading.Event().wait(seconds)
        return [Pushed() for _ in records]

    def spy(since: timedelta, cadence: timedelta, urgent: bool, took: timedelta) -> timedelta:
        durations.append(took)
        return timedelta()

    monkeypatch.setattr(module, "push_together", push_slowly)
    monkeypatch.setattr(module, "push_delay", spy)
    loops = PushPacer()
    for record in four[:2]:
        loops.push(record, urgent=True)
    assert [took >= seconds * timedelta(seconds=1) for took in durations] == [True]


def test_what_waits_goes_out_by_itself_and_at_the_end(
    story: Story, four: list[Record], remote: GitServer
) -> None:
    short = Loops(timedelta(seconds=1))
    for record in four[:2]:
        short.push(record)
        assert all(short.join())
    assert count_pushes(remote) == 2
    long = Loops()
    long.push(four[2])
    assert all(long.join())
    long.push(four[3])
    long.wait_for(1)
    long.together.end()
    assert all(long.join()) and count_pushes(remote) == 4 and len(there(story)) == 4


def test_a_record_with_nothing_new_waits_for_nobody(
    story: Story, four: list[Record], remote: GitServer
) -> None:
    loops = Loops()
    for _ in range(2):
        loops.push(four[0])
        assert all(loops.join())
    assert count_pushes(remote) == 1


def _until(is_reached: Callable[[], bool]) -> Iterator[int]:
    for turn in range(2000):
        if is_reached():
            return
        yield turn
    raise AssertionError("it never came to that")
