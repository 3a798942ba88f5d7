"""Retention: what is listed, what may go, and deleting exactly that and nothing else."""

import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

from builders import a_checkpoint
from herorun.core.retention import PrunePlan, SizedCheckpoint
from herorun.operations.checkpoints import delete, list as checkpoints, prune as pruning
from stories import SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def test_where_no_checkpoint_is_found_a_root_that_does_not_exist_is_named(story: Story) -> None:
    shutil.rmtree(story.data, ignore_errors=True)
    root, temporary = (str(story.data / name) for name in ("tiny", "tiny-temporary"))
    Path(root).mkdir(parents=True)
    searched_root = checkpoints.searched_roots(story.run)
    assert (searched_root.present, searched_root.missing, searched_root.unreadable) == (
        (root,),
        (temporary,),
        (),
    )
    assert mentions(searched_root.describe(), root, "missing", temporary)


def test_a_checkpoint_that_cannot_be_read_is_no_success(
    ended_story: Story, capsys: CAPTURE
) -> None:
    assert ended_story.herorun("checkpoints", "list", SLUG) == 0
    metadata = ended_story.data / "tiny" / "step-2" / "metadata.json"
    metadata.unlink()
    metadata.symlink_to(metadata)  # a loop: reading it fails
    capsys.readouterr()
    assert ended_story.herorun("checkpoints", "list", SLUG, "--json") == 3
    entries = json.loads(capsys.readouterr().out)["checkpoints"]
    (unread_entry,) = [entry for entry in entries if entry["state"] == "unknown"]
    assert (unread_entry["step"], bool(unread_entry["problem"])) == (2, True)


def test_without_the_root_of_a_launched_job_the_checkpoints_are_unknown(
    ended_story: Story, capsys: CAPTURE
) -> None:
    root = ended_story.data / "tiny"
    root.rename(ended_story.data / "unmounted")
    capsys.readouterr()
    assert ended_story.herorun("checkpoints", "list", SLUG) == 3
    assert mentions(capsys.readouterr().err, "machine", str(root))
    shutil.rmtree(ended_story.data / "tiny-temporary")
    assert ended_story.herorun("checkpoints", "list", SLUG, "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert document["checkpoints"] == [] and document["unread_roots"] == [str(root)]
    assert document["missing_roots"] == [str(root), str(ended_story.data / "tiny-temporary")]
    assert checkpoints.searched_roots(ended_story.run).unreadable == (str(root),)


def test_a_missing_temporary_root_is_named_after_the_checkpoints(
    ended_story: Story, capsys: CAPTURE
) -> None:
    (ended_story.data / "tiny-temporary").rename(ended_story.data / "unmounted")
    capsys.readouterr()
    assert ended_story.herorun("checkpoints", "list", SLUG) == 0
    output = capsys.readouterr()
    assert mentions(output.err, "machine", str(ended_story.data / "tiny-temporary"))
    assert "step" in output.out


def save(story: Story, step: int, root: str = "tiny-temporary", temporary: bool = True) -> Path:
    """A complete checkpoint, as the trainer leaves it."""
    folder = story.data / root / f"step-{step}"
    (folder / "model" / "layer").mkdir(parents=True)
    (folder / "model" / "layer" / "0").write_text("weights" * step)
    (folder / "metadata.json").write_text(
        json.dumps(
            {"step": step, "timestamp": f"2026-01-01T00:00:0{step}", "is_temporary": temporary}
        )
    )
    return folder


@pytest.fixture
def ended_story(story: Story) -> Story:
    """Permanent steps 2 and 4 by the contract, and temporary 1 and 3; one is kept."""
    story.sign(checkpoints={"keep": 1})
    story.run_first_job()
    save(story, 1)
    save(story, 3)
    return story


def run_json(story: Story, capsys: CAPTURE, *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert story.herorun("checkpoints", *words, "--json") == code
    fields: dict[str, Any] = json.loads(capsys.readouterr().out)
    return fields


def plan_of_pruning(story: Story, capsys: CAPTURE) -> tuple[str, str]:
    """The plan's file, and its digest."""
    file = story.home / "prune.json"
    file.unlink(missing_ok=True)
    digest = run_json(story, capsys, "plan", SLUG, "--out", str(file))["digest"]
    return str(file), str(digest)


def prune(story: Story, monkeypatch: pytest.MonkeyPatch, file: str, typed_digest: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{typed_digest}\n"))
    return story.herorun("checkpoints", "prune", SLUG, "--plan", file)


def there(story: Story) -> list[str]:
    return sorted(str(p.relative_to(story.data)) for p in story.data.glob("tiny*/step-*"))


ALL = ["tiny-temporary/step-1", "tiny-temporary/step-3", "tiny/step-2", "tiny/step-4"]
PERMANENT = ["tiny/step-2", "tiny/step-4"]


@pytest.mark.thorough
def test_they_are_listed_in_number_order_with_kind_size_and_age(
    ended_story: Story, capsys: CAPTURE
) -> None:
    rows = run_json(ended_story, capsys, "list", SLUG)["checkpoints"]
    assert [(row["step"], row["state"], row["temporary"]) for row in rows] == [
        *(
            (1, "complete", True),
            (2, "complete", False),
            (3, "complete", True),
            (4, "complete", False),
        )
    ]
    assert rows[0]["files"] == 2 and rows[0]["bytes"] > 7 and rows[0]["age_seconds"] >= 0


@pytest.mark.thorough
def test_the_plan_says_why_each_is_kept_and_deletes_nothing(
    ended_story: Story, capsys: CAPTURE
) -> None:
    plan = run_json(ended_story, capsys, "plan", SLUG)
    assert [Path(v["path"]).name for v in plan["victims"]] == ["step-1", "step-3"]
    texts = {Path(k["path"]).name: "; ".join(k["why"]) for k in plan["remaining"]}
    assert mentions(texts["step-2"], "permanent", "2 steps")
    for why in ("the newest", "recovery source", "of the final step"):
        assert why in texts["step-4"]
    assert there(ended_story) == ALL


def test_a_printed_plan_names_the_command_that_comes_next_until_all_is_deleted(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed from elsewhere; git sees no new file, and a plan is not written twice."""
    monkeypatch.chdir(ended_story.home)
    capsys.readouterr()
    plan = ["checkpoints", "plan", SLUG]
    argv = plan
    for verb in ("plan", "prune"):
        assert ended_story.herorun(*argv) == 0
        printed_text = capsys.readouterr().out
        command = printed_text.partition("next: ")[2]
        _, _, work, *argv = shlex.split(command)
        assert (work, argv[:3]) == (str(ended_story.work), ["checkpoints", verb, SLUG])
    assert ended_story.herorun(*plan) == 0
    assert capsys.readouterr().out.partition("next: ")[2] == command
    assert git(ended_story.work, "status", "--porcelain") == ""
    digest = printed_text.partition("digest sha256:")[2].split()[0]
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{digest}\n"))
    assert ended_story.herorun(*argv) == 0
    assert there(ended_story) == PERMANENT
    capsys.readouterr()
    assert ended_story.herorun("checkpoints", "plan", SLUG, "--out", "later.json") == 0
    assert "next: " not in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))  # nothing is asked where nothing goes
    assert ended_story.herorun(*argv[:3], "--plan", "later.json") == 0
    assert "digest" not in capsys.readouterr().err


def test_exactly_the_plan_is_deleted_and_doing_it_twice_is_doing_it_once(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    late = save(ended_story, 0)
    assert prune(ended_story, monkeypatch, file, digest[7:19]) == 0
    assert there(ended_story) == ["tiny-temporary/step-0", *PERMANENT]
    assert late.exists()
    events = [e for e in ended_story.events("Done") if e.key.startswith("prune/")]
    assert [event.title for event in events] == ["step 1 deleted", "step 3 deleted"]
    before = len(ended_story.lines)
    assert prune(ended_story, monkeypatch, file, digest) == 0
    assert len(ended_story.lines) == before
    assert ended_story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("typed_digest", ["", "yes", "3f2a", "0" * 64])
def test_anything_but_the_digest_deletes_nothing(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch, typed_digest: str
) -> None:
    file, _ = plan_of_pruning(ended_story, capsys)
    assert prune(ended_story, monkeypatch, file, typed_digest) == 1
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_a_plan_that_was_edited_is_refused(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    Path(file).write_text(Path(file).read_text().replace("step-1", "step-4"))
    assert prune(ended_story, monkeypatch, file, digest) == 2
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_a_victim_that_changed_since_stops_it(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    (ended_story.data / "tiny-temporary/step-3/model/more").write_text("new")
    assert prune(ended_story, monkeypatch, file, digest) == 1
    assert mentions(capsys.readouterr().err, "changed", "printed")
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_a_victim_that_somebody_else_deleted_stops_it(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    shutil.rmtree(ended_story.data / "tiny-temporary/step-1")
    assert prune(ended_story, monkeypatch, file, digest) == 1
    assert mentions(capsys.readouterr().err, "step-1", "gone")
    assert there(ended_story) == ALL[1:]


@pytest.mark.thorough
def test_a_contract_that_names_a_victim_since_stops_it(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    text = (ended_story.work / "runs/tiny.toml").read_text().replace('"tiny"', '"fork"')
    text = (
        text.replace("data/tiny", "data/fork")
        + f'\n[start]\nfrom = "{ended_story.data}/tiny-temporary/step-1"\n'
    )
    (ended_story.work / "runs/fork.toml").write_text(text)
    assert prune(ended_story, monkeypatch, file, digest) == 1
    assert mentions(capsys.readouterr().err, "fork", "starts")
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_a_root_that_cannot_be_read_stops_it(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    (ended_story.work / "runs/other.toml").write_text("slug = ")
    assert prune(ended_story, monkeypatch, file, digest) == 3
    assert mentions(capsys.readouterr().err, "Nothing", "deleted", "runs/other.toml")
    (ended_story.work / "runs/other.toml").unlink()
    ended_story.origin.rename(ended_story.home / "elsewhere")
    assert prune(ended_story, monkeypatch, file, digest) == 3
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_without_a_complete_one_that_stays_nothing_goes(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else deleted what the plan keeps, between the last question and the deletion."""
    file, digest = plan_of_pruning(ended_story, capsys)
    real = pruning.make_plan

    def then_lost(*words: Any) -> PrunePlan:
        plan = real(*words)
        for step in (2, 4):
            (ended_story.root / f"step-{step}/metadata.json").unlink()
        return plan

    monkeypatch.setattr(pruning, "make_plan", then_lost)
    assert prune(ended_story, monkeypatch, file, digest) == 1
    assert mentions(capsys.readouterr().out, "complete", "keeps")
    assert there(ended_story) == ALL


@pytest.mark.thorough
def test_a_link_is_never_followed(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = save(ended_story, 2, "archive")
    (ended_story.data / "tiny-temporary/step-1/linked").symlink_to(elsewhere)
    (ended_story.data / "tiny-temporary/step-0").symlink_to(elsewhere)
    file, digest = plan_of_pruning(ended_story, capsys)
    assert prune(ended_story, monkeypatch, file, digest) == 0
    assert there(ended_story) == ["tiny-temporary/step-0", *PERMANENT]
    assert (elsewhere / "model/layer/0").exists()


KILLED_PROGRAM = """\
import os, signal, sys
from herorun import cli
from herorun.stores.local import LocalStore
real, calls = LocalStore.delete, []
def delete(self, path):
    calls.append(path)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, path)
LocalStore.delete = delete
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.mark.thorough
def test_a_killed_one_is_finished_by_the_same_plan(
    ended_story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = plan_of_pruning(ended_story, capsys)
    words = ("-C", str(ended_story.work), "checkpoints", "prune", SLUG, "--plan", file)
    killed_process = subprocess.run(
        [sys.executable, "-c", KILLED_PROGRAM, *words],
        input=f"{digest}\n",
        text=True,
        check=False,
        env=os.environ,
    )
    assert killed_process.returncode == -signal.SIGKILL
    half = ended_story.data / "tiny-temporary/step-1"
    assert not (half / "metadata.json").exists() and (half / "model/layer/0").exists()
    assert ended_story.run.record.memory().history.deleting == {str(half)}
    assert prune(ended_story, monkeypatch, file, digest) == 0
    assert there(ended_story) == PERMANENT
    assert ended_story.run.record.memory().history.deleting == frozenset()
    assert git(ended_story.work, "status", "--porcelain") == ""


class Counted:
    """A store whose deletions are counted; of some names they fail."""

    def __init__(self, refusal: str = "") -> None:
        self.requests: list[str] = []
        self._refusal = refusal

    def delete(self, path: str) -> None:
        self.requests.append(path)
        if self._refusal and self._refusal in path:
            raise PermissionError(13, "Permission denied", path)
        if path.endswith("gone"):
            raise FileNotFoundError(path)


def test_after_files_that_could_not_be_deleted_no_others_are_begun_and_each_is_named() -> None:
    paths = [f"/data/step-1/{number:03}" for number in range(100)]
    whole = Counted()
    delete._all(whole.delete, [*paths, "/data/step-1/gone"])
    assert sorted(whole.requests) == [*paths, "/data/step-1/gone"]
    one, many = Counted("/033"), Counted("/04")
    with pytest.raises(PermissionError, match="033"):
        delete._all(one.delete, paths)
    with pytest.raises(OSError, match=r"step-1/040.*step-1/041.*step-1/042.*; and 7 more"):
        delete._all(many.delete, paths)
    assert sorted(one.requests) == sorted(many.requests) == paths[: 2 * delete.AT_ONCE]


def test_checkpoints_are_looked_into_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over ssh each costs round trips, which they share."""
    together = Barrier(4)

    def size_slowly(run: object, one: checkpoints.ListedCheckpoint) -> SizedCheckpoint | None:
        together.wait(60)
        return None if one.candidate.step == 3 else SizedCheckpoint(one.candidate)

    there = {
        str(step): checkpoints.ListedCheckpoint(a_checkpoint(step), False) for step in (4, 3, 2, 1)
    }
    monkeypatch.setattr(checkpoints, "list_by_path", lambda run: there)
    monkeypatch.setattr(checkpoints, "measure_checkpoint", size_slowly)
    listing = checkpoints.list_checkpoints(None)  # type: ignore[arg-type]  # who lists them is replaced
    assert [each.candidate.step for each in listing.checkpoints] == [1, 2, 4]


def test_a_checkpoint_of_one_file_is_deleted_by_its_own_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def walk(store: object, path: str) -> None:
        raise NotADirectoryError(path)

    deleted_paths: list[str] = []
    run: Any = SimpleNamespace(store=SimpleNamespace(delete=deleted_paths.append))
    monkeypatch.setattr(delete, "walk", walk)
    delete.delete_checkpoint(run, "/data/step-7.ckpt")
    assert deleted_paths == ["/data/step-7.ckpt"]
