"""Who owns a run: the lease in its output root, or on the record's branch."""

import errno
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from builders import MINUTE, NOON
from herorun.core.canonical_json import canonical
from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.evidence import LeaseSeen, Unavailable
from herorun.core.record.lease import PATH, Lease, read_lease
from herorun.operations.record import lease as module
from herorun.stores.local import LocalStore
from herorun.system.git.clones import LEASE_FILE

ME = "ada@box"


class World:
    """A clone of `ada@box` with a real output root; its record is a list of events."""

    def __init__(self, folder: Path) -> None:
        self.root, self.clone, self.state = folder / "out", folder / "clone", folder / "state"
        for each in (self.root, self.clone, self.state):
            each.mkdir()
        self.on_record: Lease | None = None
        self.accepts = True  # whether a lease that we write on the record counts
        self.push_result: Any = SimpleNamespace(why="")
        self.launchings: dict[str, Any] = {}
        self.hand_over: Any = None
        self.written_events: list[Any] = []
        record = SimpleNamespace(
            branch="herorun/tiny",
            remote="origin",
            memory=self._memory,
            append=self._append,
            push=lambda: self.push_result,
        )
        self.run: Any = SimpleNamespace(
            slug="tiny",
            state=self.state,
            store=LocalStore(),
            place=SimpleNamespace(output_root=str(self.root)),
            record=record,
            launcher=SimpleNamespace(owner=ME, clone=str(self.clone)),
            contract=SimpleNamespace(babysit=SimpleNamespace(lease="root", cadence=15 * MINUTE)),
            base_evidence=lambda memory: {},
        )

    def _memory(self) -> Any:
        return SimpleNamespace(
            lease=self.on_record, launchings=self.launchings, handed=self.hand_over
        )

    def _append(self, event: Any) -> None:
        self.written_events.append(event)
        if self.accepts:
            self.on_record = Lease(event.owner, event.slug, event.fence, event.beat, event.clone)

    def lies(self, lease: Lease) -> Lease:
        path = self.root / PATH
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lease.bytes())
        return lease

    @property
    def in_root(self) -> Lease | None:
        path = self.root / PATH
        return read_lease(path.read_bytes()) if path.exists() else None

    @property
    def own(self) -> Lease:
        return Lease(ME, "tiny", clone=str(self.clone))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


OTHER = Lease("eve@far", "tiny", fence=4, beat=7)


def a_lease_seen(lease: Lease, **changes: Any) -> LeaseSeen:
    fields = {"owner": lease.owner, "fence": lease.fence, "beat": lease.beat, "slug": lease.slug}
    return LeaseSeen(**{**fields, "unchanged_since": NOON, "modified": NOON, **changes})


# --- taking ---------------------------------------------------------------------------------------


def test_a_first_lease_is_made_and_then_renewed_in_the_root(world: World) -> None:
    assert module.take_lease(world.run) == world.own == world.in_root
    assert module.take_lease(world.run).beat == 1
    assert world.in_root == world.own.renew()
    assert world.written_events == []


def test_a_lease_of_another_owner_stays_as_it_is(world: World) -> None:
    world.lies(OTHER)
    with pytest.raises(Blocked, match="eve@far"):
        module.take_lease(world.run)
    assert world.in_root == OTHER


@pytest.mark.parametrize("is_there", [True, False])
def test_another_clone_of_this_machine_holds_it_while_it_exists(
    world: World, tmp_path: Path, is_there: bool
) -> None:
    elsewhere = tmp_path / "elsewhere"
    world.lies(Lease(ME, "tiny", fence=2, clone=str(elsewhere)))
    if not is_there:
        assert module.take_lease(world.run).clone == str(world.clone)
        return
    elsewhere.mkdir()
    with pytest.raises(module.LeaseHeldElsewhere, match=str(elsewhere)):
        module.take_lease(world.run)


def test_the_lease_of_another_run_is_not_taken(world: World) -> None:
    world.lies(Lease(ME, "other", clone=str(world.clone)))
    with pytest.raises(Blocked, match="other"):
        module.take_lease(world.run)


def test_a_file_that_is_no_lease_is_nobodys_to_overwrite(world: World) -> None:
    path = world.root / PATH
    path.parent.mkdir()
    path.write_text("notes")
    with pytest.raises(Blocked, match=str(path)):
        module.take_lease(world.run)
    assert path.read_text() == "notes"


@pytest.mark.parametrize(
    ("code", "was_launched", "on_record"),
    [
        (errno.EACCES, False, True),
        (errno.EROFS, False, True),
        (errno.EACCES, True, False),
        (errno.ENOSPC, False, False),
    ],
)
def test_a_root_that_refuses_the_first_owner_leaves_the_lease_to_the_record(
    world: World, monkeypatch: pytest.MonkeyPatch, code: int, was_launched: bool, on_record: bool
) -> None:
    def refuse(store: Any, path: str, data: bytes) -> None:
        raise OSError(code, "refused", path)

    monkeypatch.setattr(LocalStore, "create", refuse)
    world.launchings = {"tiny-1": object()} if was_launched else {}
    if on_record:
        assert module.take_lease(world.run) == world.own == world.on_record
        assert module.take_lease(world.run).beat == 1  # from now on it is there
    else:
        with pytest.raises(CouldNotLook, match="refused"):
            module.take_lease(world.run)
        assert world.written_events == []


def test_a_lease_on_the_record_counts_once_the_remote_has_it(world: World) -> None:
    world.run.contract.babysit.lease = "record"
    world.push_result = Refused()
    with pytest.raises(CouldNotLook, match="away"):
        module.take_lease(world.run)
    world.run.record.remote = None
    assert module.take_lease(world.run).beat == 1
    assert world.in_root is None


def test_of_two_at_once_on_the_record_one_is_refused(world: World) -> None:
    world.run.contract.babysit.lease, world.accepts = "record", False
    with pytest.raises(Blocked, match="herorun/tiny"):
        module.take_lease(world.run)
    world.on_record = OTHER
    with pytest.raises(Blocked, match="eve@far"):
        module.take_lease(world.run)


class Refused:
    why = "the remote is away"

    def __bool__(self) -> bool:
        return False


# --- handing over and taking over -----------------------------------------------------------------


@pytest.mark.parametrize("place", ["root", "record"])
def test_a_handed_lease_is_the_other_owners_under_a_new_fence(world: World, place: str) -> None:
    world.run.contract.babysit.lease = place
    assert module.hand_lease(world.run, "eve@far") == Lease("eve@far", "tiny", fence=2)
    lease = world.in_root if place == "root" else world.on_record
    assert lease == Lease("eve@far", "tiny", fence=2)


@pytest.mark.parametrize("place", ["root", "record"])
def test_a_stale_lease_becomes_this_clones(world: World, place: str) -> None:
    world.run.contract.babysit.lease = place
    if place == "root":
        world.lies(OTHER)
    else:
        world.on_record = OTHER
    seizure = module.seize_lease(world.run, a_lease_seen(OTHER))
    assert seizure == Lease(ME, "tiny", fence=5, beat=0, clone=str(world.clone))
    assert seizure == (world.in_root if place == "root" else world.on_record)


@pytest.mark.parametrize("changes", [{"beat": 6}, {"fence": 3}, {"owner": "bob@far"}])
def test_a_lease_that_moved_meanwhile_is_not_seized(world: World, changes: dict[str, Any]) -> None:
    world.lies(OTHER)
    with pytest.raises(Blocked):
        module.seize_lease(world.run, a_lease_seen(OTHER, **changes))
    assert world.in_root == OTHER


def test_a_stale_lease_of_another_run_is_not_seized(world: World) -> None:
    lease = world.lies(Lease("eve@far", "other"))
    with pytest.raises(Blocked, match="other"):
        module.seize_lease(world.run, a_lease_seen(lease))
    assert world.in_root == lease


# --- who holds it ---------------------------------------------------------------------------------


def test_the_holder_is_another_or_nobody(world: World) -> None:
    assert module.other_holder(world.run) is None
    module.take_lease(world.run)
    assert module.other_holder(world.run) is None
    world.lies(OTHER)
    assert module.other_holder(world.run) == OTHER
    world.on_record = Lease("bob@far", "tiny")
    assert module.other_holder(world.run) == world.on_record


@pytest.mark.parametrize("was_seen", [True, False])
def test_a_root_that_cannot_be_read_holds_what_it_held_at_the_last_look(
    world: World, monkeypatch: pytest.MonkeyPatch, was_seen: bool
) -> None:
    def hang(store: Any, path: str) -> bytes:
        raise OSError("the mount hangs")

    monkeypatch.setattr(LocalStore, "read", hang)
    if was_seen:
        (world.state / LEASE_FILE).write_text(canonical({"lease": OTHER}))
        assert module.other_holder(world.run) == OTHER
        with pytest.raises(Blocked, match="eve@far"):
            module.take_in_time(world.run)
        assert not module.root_names_us(world.run)
        (world.state / LEASE_FILE).write_text(canonical({"lease": world.own}))
        assert module.root_names_us(world.run)
        return
    with pytest.raises(OSError, match="the mount hangs"):
        module.other_holder(world.run)
    with pytest.raises(CouldNotLook, match="the mount hangs"):
        module.take_in_time(world.run)
    assert not module.root_names_us(world.run)


@pytest.mark.parametrize("is_on_record", [False, True])
def test_a_lease_that_is_not_renewed_in_time_is_named(
    world: World, monkeypatch: pytest.MonkeyPatch, is_on_record: bool
) -> None:
    end = Event()
    monkeypatch.setattr(module, "DEADLINE", 0.01)
    monkeypatch.setattr(module, "take_lease", lambda _: end.wait())
    monkeypatch.setattr(module, "by_record", lambda _: is_on_record)
    with pytest.raises(
        CouldNotLook, match=world.run.record.branch if is_on_record else "lease.json"
    ):
        module.take_in_time(world.run)
    end.set()


def test_the_root_names_this_clone_alone(world: World, tmp_path: Path) -> None:
    assert not module.root_names_us(world.run)
    module.take_lease(world.run)
    assert module.root_names_us(world.run)
    world.lies(OTHER)
    assert not module.root_names_us(world.run)
    world.lies(Lease(ME, "tiny", clone=str(tmp_path)))
    assert not module.root_names_us(world.run)


@pytest.mark.parametrize(
    ("owner", "hand_over", "lease", "is_watched"),
    [
        ("eve@far", None, a_lease_seen(OTHER), True),
        ("eve@far", None, Unavailable("late"), True),
        ("eve@far", None, a_lease_seen(OTHER, unchanged_since=NOON - 30 * MINUTE), True),
        ("eve@far", None, a_lease_seen(OTHER, unchanged_since=NOON - 31 * MINUTE), False),
        ("eve@far", object(), a_lease_seen(OTHER), False),
        (ME, None, a_lease_seen(OTHER), False),
        ("", None, a_lease_seen(OTHER), False),
        (None, None, a_lease_seen(OTHER), False),
    ],
)
def test_a_run_that_never_was_ours_is_watched_elsewhere_while_its_lease_moves(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    owner: str | None,
    hand_over: Any,
    lease: Any,
    is_watched: bool,
) -> None:
    world.hand_over = hand_over
    world.launchings = {"tiny-1": SimpleNamespace(by=owner)} if owner is not None else {}
    monkeypatch.setattr(module, "now", lambda: NOON)
    monkeypatch.setattr(module, "gather", lambda kinds, sources, inputs: {LeaseSeen: lease})
    assert module.is_watched_elsewhere(world.run) is is_watched
