"""`checkpoints prune` where the roots lie behind ssh, in Cloud Storage and in S3: on real servers,
by the real commands.
"""

import io
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from herorun.operations.checkpoints import prune as pruning
from herorun.operations.checkpoints.manifest import walk
from operations.launch.test_on_object_stores import bucket_of
from services.boxes import Box
from services.servers import Service
from stories import SLUG, Story, contract_of
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class World:
    """A run that has ended, and the machine or store that its roots lie on."""

    story: Story
    top: str  # that both roots lie in
    files: Callable[[str], Iterable[str]]  # in one root
    write: Callable[[Mapping[str, str]], object]  # files by their paths in `top`
    remove: Callable[[str], object]
    cut: Callable[[], object]  # the temporary root cannot be read
    fix: Callable[[], object]

    @property
    def there(self) -> list[str]:
        """The files of all checkpoints."""
        roots = ("tiny", "tiny-temporary")
        texts = [
            f"{root}/{name}"
            for root in roots
            for name in self.files(root)
            if name.startswith("step-")
        ]
        return sorted(texts)


def a_checkpoint(step: int) -> dict[str, str]:
    """Even ones are permanent."""
    folder = f"tiny{'-temporary' if step % 2 else ''}/step-{step}"
    fields = {
        "step": step,
        "timestamp": f"2026-01-01T00:00:0{step}",
        "is_temporary": bool(step % 2),
    }
    return {f"{folder}/model/0": "weights" * step, f"{folder}/metadata.json": json.dumps(fields)}


def has_ended(story: Story, top: str, scheduler: Mapping[str, Any]) -> None:
    """It saved nothing itself: what lies there was put there for the test."""
    contract = {
        **contract_of(story.data),
        "command": {"argv": ["true"]},
        "output": {"root": f"{top}/tiny", "temporary_root": f"{top}/tiny-temporary"},
        "checkpoints": {"permanent_every": 2, "temporary_every": "15m", "keep": 1},
        "tracker": {"kind": "jsonl", "path": f"{story.data}/rows", "id": SLUG},
        "scheduler": dict(scheduler),
    }
    if scheduler["kind"] == "ssh":
        contract["tracker"]["path"] = "rows"
    (story.work / "runs" / "tiny.toml").write_text(tomli_w.dumps(contract))
    story.publish()
    assert story.init() == 0
    assert story.launch() == 0


LOCAL = {"kind": "local", "settle": "1ms", "grace": "200ms"}


@pytest.fixture
def on_ssh(home: Path, box: Box) -> Iterator[World]:
    top = f"{box.home}/{home.name}"
    box.ssh(f"mkdir -p {top}")
    fields = {
        "kind": "ssh",
        "host": box.name,
        "ssh_config": str(box.config),
        "folder": f"{top}/jobs",
    }
    story = Story(home).begin()
    has_ended(
        story,
        top,
        {**fields, "settle": "20s", "grace": "200ms", "connect_timeout": "2s", "timeout": "5s"},
    )

    def write(files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = shlex.quote(f"{top}/{name}")
            box.ssh(f"mkdir -p $(dirname {path}) && printf %s {shlex.quote(text)} > {path}")

    def files(root: str) -> list[str]:
        return box.ssh(f"cd {top}/{root} && find . -type f").stdout.replace("./", "").split()

    yield World(
        story=story,
        top=top,
        files=files,
        write=write,
        remove=lambda name: box.ssh(f"rm {top}/{name}"),
        cut=box.cut,
        fix=box.fix,
    )
    box.fix()
    box.ssh(f"rm -rf {top}", check=False)


def on_store(story: Story, scheme: str, server: Service) -> World:
    bucket = bucket_of(story)
    server.tell("bucket", name=bucket)
    top = f"{scheme}://{bucket}"
    has_ended(story, top, LOCAL)

    def files(root: str) -> list[str]:
        with suppress(FileNotFoundError):  # a store has no folder without a file
            return [file.name for file in walk(story.run.store, f"{top}/{root}")[0]]
        return []

    return World(
        story=story,
        top=top,
        files=files,
        write=lambda files: server.tell("fill", bucket=bucket, files=dict(files)),
        remove=lambda name: story.run.store.delete(f"{top}/{name}"),
        cut=lambda: server.fault(url="tiny-temporary", status=403),
        fix=server.heal,
    )


@pytest.fixture
def on_gs(story: Story, gcs: Service) -> World:
    return on_store(story, "gs", gcs)


@pytest.fixture
def on_s3(story: Story, s3: Service) -> World:
    return on_store(story, "s3", s3)


def plan_digest(world: World, capsys: CAPTURE) -> str:
    """The digest of a new plan, which names both temporary ones."""
    file = world.story.home / "prune.json"
    file.unlink(missing_ok=True)
    capsys.readouterr()
    assert world.story.herorun("checkpoints", "plan", SLUG, "--out", str(file), "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert [v["path"] for v in plan["victims"]] == [
        f"{world.top}/tiny-temporary/step-{n}" for n in (1, 3)
    ]
    return str(plan["digest"])


def prune(world: World, capsys: CAPTURE, typed_digest: str) -> tuple[int, str]:
    """The exit code, and all that was said."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(f"{typed_digest}\n"))
        file = str(world.story.home / "prune.json")
        code = world.story.herorun("checkpoints", "prune", SLUG, "--plan", file)
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    return code, output.out + output.err


@pytest.mark.parametrize("where", ["on_ssh", "on_gs", "on_s3"])
def test_exactly_what_was_printed_is_deleted_and_only_while_all_can_be_read(
    where: str, request: pytest.FixtureRequest, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    world: World = request.getfixturevalue(where)
    files = {name: text for step in (1, 2, 3, 4) for name, text in a_checkpoint(step).items()}
    world.write(files)
    digest = plan_digest(world, capsys)

    world.cut()
    code, output = prune(world, capsys, digest)
    assert code == 3 and mentions(output, "could not") and ".." not in output, output
    assert world.story.herorun("checkpoints", "plan", SLUG) == 3
    world.fix()
    assert world.there == sorted(files)

    for step in (2, 4):
        world.remove(f"tiny/step-{step}/metadata.json")
    code, output = prune(world, capsys, digest)
    assert code == 1 and mentions(output, "tiny-temporary/step-3", "stay"), output
    world.write(files)
    digest = plan_digest(world, capsys)

    late = {"tiny-temporary/step-1/model/1": "more"}
    push = pruning._must_be_pushed

    def written_meanwhile(run: Any) -> None:
        world.write(late)
        push(run)

    with monkeypatch.context() as patch:
        patch.setattr(pruning, "_must_be_pushed", written_meanwhile)
        code, output = prune(world, capsys, digest)
    assert code == 1 and mentions(output, "step-1", "printed"), output
    assert world.there == sorted({**files, **late})
    code, output = prune(world, capsys, digest)
    assert code == 1 and "changed since" in output, output

    digest = plan_digest(world, capsys)
    code, output = prune(world, capsys, digest)
    assert code == 0 and "2 of 2 deleted" in output, output
    stay = sorted(name for name in files if name.startswith("tiny/"))
    assert world.there == stay
    lines = len(world.story.lines)
    assert prune(world, capsys, digest)[0] == 0
    assert (world.there, len(world.story.lines)) == (stay, lines)
    assert world.story.herorun("logbook", "verify", SLUG) == 0
