"""Which checkpoints anything still refers to: what is missed here may be deleted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomli_w

from builders import NOON, SMALL
from herorun.core.errors import CouldNotLook
from herorun.core.event import CheckedIn, Initialised, Launching, Sealed
from herorun.operations.checkpoints import references as module

MINE, OTHER = "tiny", "other"


def launching(slug: str, start: str = "", **roots: str) -> Launching:
    plan: dict[str, Any] = {name: {"value": root, "source": ""} for name, root in roots.items()}
    plan["start"] = {"value": {"path": start} if start else None, "source": ""}
    return Launching(
        at=NOON,
        instance=f"{slug}-1",
        number=1,
        plan=plan,
        plan_digest="sha256:p1a4",
        why="why",
        contract_file=f"runs/{slug}.toml",
    )


def sealed_event(checkpoint: str) -> Sealed:
    return Sealed(
        at=NOON,
        tag="herorun/other/seal-1",
        commit="c0ffee",
        statement_digest="sha256:5ea1",
        lines={},
        ending="milestone",
        name="half",
        checkpoint=checkpoint,
    )


class World:
    """A repository with contracts, in its folder and in HEAD, and the records of its runs."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top = top
        (top / "runs").mkdir()
        self.committed_files: dict[str, bytes] = {}
        self.records: dict[str, list[Any]] = {MINE: []}
        self.on_remote: dict[str, list[Any]] = {}
        self.unreadable = ""
        monkeypatch.setattr(module, "known_slugs", lambda repository: list(self.records))
        monkeypatch.setattr(module.Record, "discover", self._record)

    def _record(self, repository: Any, slug: str, branch: str, remote: str | None) -> Any:
        def must_understand() -> None:
            if slug == self.unreadable:
                raise CouldNotLook("it is of a newer herorun")

        def lines(events: list[Any], where: str) -> list[Any]:
            return [
                SimpleNamespace(id=f"{where}{number}", event=event)
                for number, event in enumerate(events)
            ]

        return SimpleNamespace(
            must_understand=must_understand,
            lines=lambda: lines(self.records.get(slug, []), "here"),
            published_lines=lambda: lines(self.on_remote.get(slug, []), "there"),
        )

    def contract(
        self, slug: str, start: str = "", is_committed: bool = False, **output: str
    ) -> None:
        data = {**SMALL, "slug": slug, "output": {**SMALL["output"], **output}}
        data |= {"start": {"from": start, "kind": "full-state"}} if start else {}
        text = tomli_w.dumps(data).encode()
        if is_committed:
            self.committed_files[f"runs/{slug}.toml"] = text
        else:
            (self.top / "runs" / f"{slug}.toml").write_bytes(text)

    def references(self) -> Any:
        repository = SimpleNamespace(
            top=self.top,
            resolve=lambda name: "head" if self.committed_files else None,
            entries=lambda head, folder: [
                ("100644", "oid", path.rpartition("/")[2]) for path in self.committed_files
            ],
            read=lambda head, paths, most: {path: self.committed_files[path] for path in paths},
            remotes=lambda: {"origin": "url"},
            remote_tips=lambda remote, pattern: {
                f"refs/heads/herorun/{slug}": "oid" for slug in self.on_remote
            },
        )
        run: Any = SimpleNamespace(
            slug=MINE,
            repository=repository,
            contract=SimpleNamespace(record_remote="origin", record_branch="herorun/tiny"),
        )
        return module.all_references(run)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_contract_refers_to_its_start_and_to_its_roots(world: World, is_committed: bool) -> None:
    world.contract(MINE, start="/data/parent/step-100/", is_committed=is_committed)
    world.contract(
        OTHER,
        is_committed=is_committed,
        root="/data/other/",
        temporary_root="/data/other-temporary/",
    )
    references = world.references()
    assert list(references.names) == ["/data/parent/step-100"]
    assert "tiny" in references.names["/data/parent/step-100"]
    # a run may delete in its own roots
    assert references.roots == {"/data/other": OTHER, "/data/other-temporary": OTHER}


@pytest.mark.parametrize("slug", [MINE, OTHER])
@pytest.mark.parametrize("where", ["records", "on_remote"])
def test_a_record_refers_to_what_was_started_loaded_or_sealed(
    world: World, slug: str, where: str
) -> None:
    events = [
        Initialised(NOON, slug, {}),
        launching(slug, "/data/a/step-1/", output_root="/data/old/", temporary_root="/data/tmp/"),
        CheckedIn(at=NOON, instance=f"{slug}-1", attempt=1, outcome="pass", loaded="/data/b/s-2"),
        CheckedIn(at=NOON, instance=f"{slug}-1", attempt=2, outcome="pass", loaded=""),
        sealed_event("/data/c/s-3"),
    ]
    getattr(world, where)[slug] = events
    references = world.references()
    assert set(references.names) == {"/data/a/step-1", "/data/b/s-2", "/data/c/s-3"}
    assert references.roots == ({} if slug == MINE else {"/data/old": OTHER, "/data/tmp": OTHER})


def test_a_run_refers_to_what_was_there_before_its_first_launch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = SimpleNamespace(foreign=frozenset({"/data/tiny/step-9"}))
    monkeypatch.setattr(module, "fold", lambda events: SimpleNamespace(history=history))
    assert list(world.references().names) == ["/data/tiny/step-9"]


@pytest.mark.parametrize("slug", [MINE, OTHER])
def test_a_record_that_cannot_be_read_may_refer_to_anything(world: World, slug: str) -> None:
    world.records[OTHER], world.unreadable = [], slug
    with pytest.raises(CouldNotLook, match=slug):
        world.references()


@pytest.mark.parametrize("data", [b"slug = ", b"\xff"])
def test_a_contract_that_cannot_be_read_may_refer_to_anything(world: World, data: bytes) -> None:
    (world.top / "runs" / "broken.toml").write_bytes(data)
    with pytest.raises(CouldNotLook, match="broken"):
        world.references()
