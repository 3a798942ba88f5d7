"""Taking a lease over: recorded before it changes hands, and finished after an interruption."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.event import Done, Failed, HandedOff, Intended
from herorun.core.evidence import LeaseSeen, Nothing, Unavailable
from herorun.operations.orders import handoff as module
from operations.in_memory import OWNER, Journal

LEASE = LeaseSeen(
    owner="eve@far", slug="tiny", unchanged_since=NOON - 60 * MINUTE, mine=False, fence=4, beat=7
)
KEY = "handoff/take/4"


class World:
    """A run whose lease is seen as the test says, look by look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
        self.journal = Journal()
        self.observations: list[Any] = [LEASE]
        self.steps: list[Any] = []
        self.error: Exception | None = None
        self.sleeps: list[float] = []
        record: Any = self.journal
        record.fetch = lambda: None
        record.push = lambda: SimpleNamespace(why="")
        self.run: Any = SimpleNamespace(
            slug="tiny",
            record=record,
            launcher=SimpleNamespace(owner=OWNER),
            scheduler=SimpleNamespace(cluster_wide=True),
            prepare=lambda: None,
            lock=lambda name: tmp_path / f"{name}.lock",
            base_evidence=lambda memory: {},
            contract=SimpleNamespace(babysit=SimpleNamespace(cadence=15 * MINUTE)),
        )
        monkeypatch.setattr(module, "memory_for_orders", lambda run: record.memory())
        monkeypatch.setattr(module, "must_be_launched", lambda *_: None)
        monkeypatch.setattr(module, "gather", self._gather)
        monkeypatch.setattr(module, "now", lambda: NOON)
        monkeypatch.setattr(module, "take_lease", lambda run: self.steps.append("took"))
        monkeypatch.setattr(module, "seize_lease", self._seize)
        monkeypatch.setattr(
            module, "facts_for_owner", lambda run, giver, taker, why: {"Decision": why}
        )
        monkeypatch.setattr(module, "_post_handoff", lambda run: ("posted",))
        monkeypatch.setattr(module, "push_warning", lambda run: ("pushed",))
        monkeypatch.setattr(module, "unwatched_warnings", lambda run: ("unmonitored",))

    def _gather(self, kinds: Any, sources: Any, inputs: Any) -> Any:
        return {
            LeaseSeen: self.observations.pop(0)
            if len(self.observations) > 1
            else self.observations[0]
        }

    def _seize(self, run: Any, lease: LeaseSeen) -> None:
        if self.error:
            raise self.error
        self.steps.append(("seized", lease.fence))

    def take_over(self, reason: str = "", wait: float = 0.0) -> Any:
        return module.take_over(self.run, reason, wait, self.sleeps.append)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> World:
    return World(monkeypatch, tmp_path)


def test_a_stale_lease_is_intended_seized_and_recorded(world: World) -> None:
    outcome = world.take_over("eve is gone")
    intent, hand_over, last = world.journal.new
    assert isinstance(intent, Intended) and isinstance(hand_over, HandedOff)
    assert isinstance(last, Done)
    assert (intent.key, intent.attempt, intent.what) == (KEY, 1, "eve@far: eve is gone")
    assert (hand_over.to, hand_over.facts) == (OWNER, {"Decision": "eve is gone"})
    assert (last.key, last.attempt, last.result) == (KEY, 1, OWNER)
    assert (world.steps, outcome.warnings) == ([("seized", 4)], ("posted",))


def test_a_lease_that_could_not_be_seized_leaves_a_failure_and_is_tried_again(
    world: World,
) -> None:
    world.error = Blocked("it moved")
    with pytest.raises(Blocked, match="it moved"):
        world.take_over()
    _, failed_event = world.journal.new
    assert isinstance(failed_event, Failed) and (failed_event.key, failed_event.attempt) == (KEY, 1)
    world.error = None
    world.take_over()
    assert [event.attempt for event in world.journal.new if isinstance(event, Intended)] == [1, 2]


def test_an_interrupted_takeover_is_finished_by_the_word_it_began_with(world: World) -> None:
    world.journal.append(Intended(at=NOON, key=KEY, attempt=1, what="eve@far: it began so"))
    world.observations = [Nothing("it is ours by now")]
    world.take_over("another word")
    _, hand_over, last = world.journal.new
    assert (hand_over.facts, last.key) == ({"Decision": "it began so"}, KEY)
    assert world.steps == []


def test_an_own_lease_is_renewed_and_the_record_corrected_where_it_names_another(
    world: World,
) -> None:
    world.observations = [LeaseSeen(owner=OWNER, slug="tiny", unchanged_since=NOON)]
    outcome = world.take_over()
    assert outcome.warnings == ("pushed", "unmonitored") and OWNER in outcome.message
    assert (world.steps, world.journal.new) == (["took"], [])
    world.journal.append(HandedOff(NOON, "eve@far", {}))
    world.take_over()
    _, hand_over = world.journal.new
    assert (hand_over.to, "eve@far" in hand_over.facts["Decision"]) == (OWNER, True)


def a_lease(minutes: int, beat: int = 7) -> LeaseSeen:
    return LeaseSeen(
        owner="eve@far",
        slug="tiny",
        unchanged_since=NOON - minutes * MINUTE,
        mine=False,
        fence=4,
        beat=beat,
    )


@pytest.mark.parametrize(
    ("observations", "error"),
    [
        ([a_lease(29)], CouldNotLook),
        ([a_lease(29), a_lease(29, beat=8)], Blocked),
        ([Unavailable("late")], CouldNotLook),
    ],
)
def test_a_lease_that_may_be_alive_is_left(
    world: World, observations: list[Any], error: type[Exception]
) -> None:
    world.observations = list(observations)
    with pytest.raises(error):
        world.take_over(wait=0.0 if len(observations) == 1 else 60.0)
    assert (world.journal.new, world.steps) == ([], [])
    assert world.sleeps == ([] if len(observations) == 1 else [module.LEASE_POLL_INTERVAL])


def test_a_lease_is_watched_until_it_is_stale(world: World) -> None:
    world.observations = [a_lease(29), a_lease(29), a_lease(30)]
    world.take_over(wait=60.0)
    assert (world.steps, len(world.sleeps)) == ([("seized", 4)], 2)
