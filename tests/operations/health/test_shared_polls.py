"""Runs that are watched together share a look at their scheduler, and no run is told of it less
than before.
"""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Place, Scheduler, Search, Unknown
from herorun.operations.health.shared_polls import SharedPolls
from herorun.schedulers import local, slurm
from herorun.schedulers._slurm.parse import Tag
from schedulers.test_slurm_answers import sacct, squeue
from schedulers.test_slurm_stand_ins import Slurm
from stories import SLUG, Story
from wording import mentions

AT_ONCE = 8  # runs that ask at the same time
LONG_AGO = datetime.now(UTC) - timedelta(days=2)
HALF = timedelta(minutes=7)
MANY = 1000


@dataclass
class Cluster:
    """A scheduler that counts its looks."""

    cluster: str = "one"
    polls: list[set[str]] = field(default_factory=list)
    down: bool = False

    def snapshot(self, target: Mapping[str, datetime]) -> int:
        self.polls.append(set(target))
        if self.down:
            raise CouldNotLook("the cluster does not answer")
        return len(self.polls)

    def with_snapshot(self, snapshot: int) -> "Seen":
        return Seen(snapshot)


@dataclass
class Seen:
    snapshot: int

    def find(self, instance: str, intended_at: datetime) -> Search:
        return Found(Job(id=str(self.snapshot), instance=instance, state=JobState.RUNNING))


def ask(
    polls: SharedPolls,
    cluster: Cluster,
    name: str,
    at: datetime = LONG_AGO,
    oldest: timedelta = HALF,
) -> Any:
    return polls.share(name, cluster, (f"{name}-1", at), oldest)


def test_a_round_is_one_look_and_the_next_round_another() -> None:
    polls, cluster = SharedPolls(), Cluster()
    rounds = [[ask(polls, cluster, name).snapshot for name in "abc"] for _ in range(3)]
    assert rounds == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
    assert cluster.polls[1] == {"a-1", "b-1", "c-1"}


def test_what_is_expected_is_in_the_first_look() -> None:
    polls, cluster = SharedPolls(), Cluster()
    for name in "abc":
        polls.note_intent(name, cluster, (f"{name}-1", LONG_AGO))
    ask(polls, cluster, "b")
    assert cluster.polls == [{"a-1", "b-1", "c-1"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"at": datetime.now(UTC) + timedelta(hours=1)},  # it was launched after the look
        {"oldest": timedelta(0)},
        {"cluster": Cluster("another")},
    ],
)
def test_a_look_that_is_too_old_or_of_elsewhere_serves_nobody(changes: dict[str, Any]) -> None:
    polls, cluster = SharedPolls(), Cluster()
    ask(polls, cluster, "a")
    ask(polls, **{"cluster": cluster, "name": "b", **changes})
    assert len(cluster.polls) + len(changes.get("cluster", Cluster()).polls) == 2


def test_a_back_end_that_is_down_is_asked_once_a_round_and_is_unsure_for_all() -> None:
    polls, cluster = SharedPolls(), Cluster(down=True)
    answers = [ask(polls, cluster, name).find(f"{name}-1", LONG_AGO) for name in "abc"]
    assert answers == [Unknown("the cluster does not answer")] * 3 and len(cluster.polls) == 1
    with pytest.raises(CouldNotLook, match="answer"):
        ask(polls, cluster, "a").live_jobs("a")
    assert ask(polls, cluster, "a").cluster == "one"  # all else still goes to the scheduler


def test_two_runs_that_call_an_instance_the_same_are_looked_for_since_the_earlier() -> None:
    polls, questions = SharedPolls(), []
    cluster = Cluster()
    cluster.snapshot = questions.append
    cluster.by = Seen
    polls.note_intent("here", cluster, ("tiny-1", LONG_AGO))
    polls.share("there", cluster, ("tiny-1", LONG_AGO + HALF), HALF)
    assert questions == [{"tiny-1": LONG_AGO}]


def test_what_another_process_polled_replaces_no_newer_poll() -> None:
    """The runs of a worker take so long that the answer they were given becomes too old."""
    polls, cluster = SharedPolls(), Cluster()
    polls_elsewhere = {"one": (datetime.now(UTC) - 2 * HALF, 7, "")}
    snapshots = []
    for name in "abc":
        polls.adopt(polls_elsewhere)
        snapshots.append(ask(polls, cluster, name).snapshot)
    assert snapshots == [1, 1, 1] and len(cluster.polls) == 1


def test_what_another_process_polled_replaces_an_older_poll() -> None:
    polls, cluster = SharedPolls(), Cluster()
    ask(polls, cluster, "a")
    polls.adopt({"one": (datetime.now(UTC), 7, "")})
    assert ask(polls, cluster, "b").snapshot == 7


def test_a_run_that_is_opened_during_a_poll_is_for_the_next() -> None:
    polls, cluster = SharedPolls(), Cluster()

    class Name(str):
        """It is looked up while the intents are read."""

        def __hash__(self) -> int:
            polls.note_intent("late", cluster, ("late-1", LONG_AGO))
            return str.__hash__(self)

    polls.share("a", cluster, (Name("a-1"), LONG_AGO), HALF)
    ask(polls, cluster, "a")
    assert cluster.polls == [{"a-1"}, {"a-1", "late-1"}]


def test_after_an_unforeseen_error_the_next_run_polls_again() -> None:
    polls, cluster = SharedPolls(), Cluster()
    cluster.snapshot = {}.__getitem__
    with pytest.raises(TypeError):
        ask(polls, cluster, "a")
    del cluster.snapshot
    assert ask(polls, cluster, "b").snapshot == 1


# --- a thousand jobs on Slurm ---------------------------------------------------------------------


@pytest.fixture
def stand_in(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path)


def test_a_thousand_runs_on_slurm_are_watched_by_one_squeue_and_one_sacct_a_round(
    stand_in: Slurm,
) -> None:
    """Each is a run of its own: every tenth has ended, and every hundredth is known to nobody."""
    runs = {f"run{n}-1": _slurm(stand_in, n) for n in range(MANY)}
    queue, books = [], []
    for n, (name, scheduler) in enumerate(runs.items()):
        tag = Tag(scheduler._run, "b" * 12, int(datetime.now(UTC).timestamp()))
        if n % 10:
            queue.append(
                squeue("RUNNING", str(n), name=name, submitted=tag.at, comment=tag.comment)
            )
        elif n % 100:
            books.append(
                sacct("FAILED", str(n), name=name, code="3:0", submitted=tag.at, line=tag.comment)
            )
    stand_in.says("squeue", "\n".join(queue))
    stand_in.says("sacct", "\n".join(books))
    polls = SharedPolls()
    for name, scheduler in runs.items():
        polls.note_intent(name, scheduler, (name, LONG_AGO))

    def tick(name: str) -> str:
        snapshot = polls.share(name, runs[name], (name, LONG_AGO), HALF)
        search, live = snapshot.find(name, LONG_AGO), snapshot.live_jobs(name.removesuffix("-1"))
        state = search.job.state if isinstance(search, Found) else None
        assert [job.instance for job in live] == ([name] if state is JobState.RUNNING else [])
        return str(state or search)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        rounds = [sorted(pool.map(tick, runs)) for _ in range(2)]
    assert rounds[0] == rounds[1] == [str(Absent())] * 10 + ["failed"] * 90 + ["running"] * 900
    assert (stand_in.count_calls("squeue"), stand_in.count_calls("sacct")) == (2, 2)


def _slurm(stand_in: Slurm, number: int) -> slurm.Slurm:
    options = slurm.Options(slurm_bin=str(stand_in.folder / "bin"))
    state = str(stand_in.folder / "state" / str(number))
    return slurm.connect(options, Place(f"run{number}", state, f"/out/{number}", "/repository"))


def test_a_namesake_of_another_run_that_lives_does_not_hide_an_end(stand_in: Slurm) -> None:
    """The look takes the name for live; the run whose job it is not asks accounting itself."""
    scheduler = _slurm(stand_in, 1)
    tag = Tag(scheduler._run, "b" * 12, int(datetime.now(UTC).timestamp()))
    stand_in.says("squeue", squeue("RUNNING", "72", name="run1-1", submitted=tag.at))
    stand_in.says(
        "sacct", sacct("COMPLETED", "71", name="run1-1", submitted=tag.at, line=tag.comment)
    )
    snapshot = SharedPolls().share("run1", scheduler, ("run1-1", LONG_AGO), HALF)
    search = snapshot.find("run1-1", LONG_AGO)
    assert isinstance(search, Found) and (search.job.id, search.job.state) == (
        "71",
        JobState.SUCCEEDED,
    )


# --- the commands ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_babysit_and_status_of_all_look_once(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    story.run_first_job("exit 0")
    text = (story.work / "runs" / "tiny.toml").read_text()
    text = text.replace('slug = "tiny"', 'slug = "other"').replace(
        str(story.root), f"{story.root}-other"
    )
    (story.work / "runs" / "other.toml").write_text(text)
    story.publish()
    assert (
        story.herorun("init", "other") == 0
        and story.herorun("launch", "other", "--no-babysit") == 0
    )
    queries: list[set[str]] = []

    def look(self: Scheduler, target: Mapping[str, datetime]) -> str:
        queries.append(set(target))
        return "seen"

    def same_scheduler(self: Scheduler, observations: str) -> Scheduler:
        return self

    monkeypatch.setattr(local.Local, "snapshot", look, raising=False)
    monkeypatch.setattr(local.Local, "with_snapshot", same_scheduler, raising=False)
    monkeypatch.setattr(local.Local, "cluster", "here", raising=False)
    capsys.readouterr()
    story.herorun("babysit", "--all", "--once", "--json")
    before = {run["slug"]: run["other_jobs"] for run in json.loads(capsys.readouterr().out)["runs"]}
    assert before == {"other": [], SLUG: []}
    assert queries == [{"other-1", "tiny-1"}]
    probe = Job(id="72", instance="tiny-probe", state=JobState.RUNNING)
    monkeypatch.setattr(local.Local, "other_jobs", lambda self, slug: (probe,), raising=False)
    story.herorun("status", "--all", "--json")
    assert queries == [{"other-1", "tiny-1"}] * 2
    shown_runs = json.loads(capsys.readouterr().out)["runs"]
    jobs_listing = [{"name": "tiny-probe", "job": "72", "state": "running", "kind": "diagnostic"}]
    assert [run["other_jobs"] for run in shown_runs] == [jobs_listing] * 2
    story.herorun("status", SLUG)
    assert mentions(capsys.readouterr().out, "other  ", "tiny-probe, job 72, running", "diagnostic")
