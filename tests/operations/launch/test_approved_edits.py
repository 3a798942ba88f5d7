"""An approved dirty tree: the edited code is what is judged, kept, run, run again and sealed."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from herorun.core.errors import Blocked
from herorun.operations.launch import start_instance
from herorun.operations.launch.admitted_plan import admitted_plan
from herorun.operations.launch.snapshot import admitted_snapshot
from stories import CRASH, JOB, REFUSE_ALL, SLUG, TAG, Story, copy, git
from wording import mentions

WAIVER = {
    "check": "dirty-tree",
    "reason": "a hot fix",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}
OVER = {**WAIVER, "expires": "2020-01-01T00:00:00Z"}
UNSAFE = {**WAIVER, "check": "unsafe-snapshot", "reason": "a dummy of the tests"}
EDITED_JOB = 'echo "$HERORUN_INSTANCE" >> "$1/edited"\n' + JOB
SNAPSHOTS = "refs/herorun/snapshots/tiny/"
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def edited_story(story: Story) -> Story:
    """Begun and waived; then the training script was edited."""
    return approve_edits(story)


def approve_edits(story: Story, *waivers: dict[str, str], **changes: Any) -> Story:
    story.sign(waiver=[WAIVER, *waivers], **changes)
    assert story.init() == 0
    (story.work / "train.sh").write_text(EDITED_JOB)
    return story


def ran_edited(story: Story) -> list[str]:
    return (story.data / "edited").read_text().split()


def refs(where: Path) -> dict[str, str]:
    """Snapshot ref -> commit."""
    lines = git(where, "for-each-ref", "--format=%(refname) %(objectname)", SNAPSHOTS).splitlines()
    return dict(line.split(" ") for line in lines)


def answer(story: Story, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    story.herorun(*words, SLUG, "--json")
    fields: dict[str, Any] = json.loads(capsys.readouterr().out)
    return fields


def finding(fields: dict[str, Any], check: str) -> dict[str, Any]:
    (item,) = [f for f in fields["findings"] if f["check"] == check]
    return dict(item)


# --- what runs ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_edited_code_runs_and_is_kept_on_the_remote(edited_story: Story) -> None:
    assert edited_story.launch() == 0
    edited_story.wait_for_end()
    assert ran_edited(edited_story) == ["tiny-1"]
    (launched_event,), head = (
        edited_story.events("Launched"),
        git(edited_story.work, "rev-parse", "HEAD").strip(),
    )
    patch = edited_story.events("Launching")[0].plan["patch"]["value"]
    ref = f"{SNAPSHOTS}{patch['tree']}"
    assert refs(edited_story.work) == refs(edited_story.origin) == {ref: patch["commit"]}
    assert git(edited_story.origin, "show", f"{ref}:train.sh") == EDITED_JOB
    assert git(edited_story.origin, "rev-parse", f"{ref}^").strip() == launched_event.commit == head
    identity = f"tree:{patch['tree']} diff:{patch['diff']}"
    assert mentions(launched_event.entry["Dirty tree"], "approved", "@dri", identity, "(a hot fix)")
    assert identity in edited_story.run.record.logbook()
    assert git(edited_story.work, "status", "--porcelain").split() == ["M", "train.sh"]


@pytest.mark.thorough
def test_it_is_kept_before_the_job_is_submitted(edited_story: Story) -> None:
    assert edited_story.launch() == 0
    kinds = [
        (e.kind, getattr(e, "key", ""))
        for e in edited_story.events("Launching", "Done", "Launched")
    ]
    order = [kinds.index(k) for k in (("Done", "snapshot/tiny-1"), ("Done", "post/submit/tiny-1"))]
    assert kinds[0][0] == "Launching" and kinds[-1][0] == "Launched"
    assert order == sorted(order)


@pytest.mark.thorough
def test_an_edited_config_is_what_is_judged(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    (story.work / "config.toml").write_text("[trainer]\nseed = 7\nsteps = 3\n")
    story.sign(waiver=[WAIVER], final_step="trainer.steps")
    assert story.init() == 0
    assert answer(story, capsys, "preflight")["plan"]["final_step"]["value"] == 3
    (story.work / "config.toml").write_text("[trainer]\nseed = 8\nsteps = 4\n")
    plan = answer(story, capsys, "preflight")["plan"]
    assert plan["final_step"]["value"] == 4
    assert plan["config"]["value"] == {"trainer": {"seed": 8, "steps": 4}}
    assert story.launch() == 0
    story.wait_for_end()
    assert (story.state / "code" / "tiny-1" / "config.toml").read_text().endswith("steps = 4\n")
    admission = json.loads((story.state / "admissions" / "tiny-1" / "admission.json").read_text())
    digest = hashlib.sha256((story.work / "config.toml").read_bytes()).hexdigest()
    assert admission["config_digests"]["config.toml"] == f"sha256:{digest}"


@pytest.mark.thorough
def test_new_files_are_admitted_and_checked_in_with(edited_story: Story) -> None:
    (edited_story.work / "model.py").write_text("width = 8\n")
    assert edited_story.launch() == 0
    admission = json.loads(
        (edited_story.state / "admissions" / "tiny-1" / "admission.json").read_text()
    )
    assert {"model.py", "train.sh"} <= admission["files"].keys()


@pytest.mark.thorough
def test_notes_alone_are_no_snapshot(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.sign(waiver=[WAIVER])
    story.init()
    (story.work / "NOTES.md").write_text("todo\n")
    assert answer(story, capsys, "preflight")["plan"]["patch"]["value"] is None
    assert story.launch() == 0
    assert refs(story.origin) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("waivers", [[], [OVER]])
def test_without_a_valid_waiver_nothing_is_written(
    story: Story, waivers: list[dict[str, str]]
) -> None:
    story.sign(waiver=waivers)
    story.init()
    (story.work / "train.sh").write_text(EDITED_JOB)
    before = git(story.work, "count-objects", "-v")
    assert story.herorun("preflight", SLUG) == 1
    assert git(story.work, "count-objects", "-v") == before
    assert story.launch() == 1
    assert story.starts == []


def test_a_waiver_in_an_uncommitted_contract_takes_no_snapshot(story: Story) -> None:
    story.init()
    contract = story.work / "runs" / "tiny.toml"
    lines = [f'{key} = "{value}"' for key, value in WAIVER.items()]
    contract.write_text(contract.read_text() + "\n[[waiver]]\n" + "\n".join(lines) + "\n")
    (story.work / "train.sh").write_text(EDITED_JOB)
    before = git(story.work, "count-objects", "-v")
    assert story.herorun("preflight", SLUG) == 1
    assert git(story.work, "count-objects", "-v") == before


@pytest.mark.thorough
def test_the_plan_is_the_same_each_time_and_moves_with_the_edits(
    edited_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = edited_story.home / "plan.json"
    assert edited_story.herorun("preflight", SLUG, "--out", str(plan)) == 0
    before = answer(edited_story, capsys, "preflight")["plan_digest"]
    assert before == json.loads(plan.read_text())["plan_digest"]
    (edited_story.work / "train.sh").write_text(EDITED_JOB + "# and more\n")
    capsys.readouterr()
    assert edited_story.launch("--plan", str(plan)) == 1
    errors = capsys.readouterr().err
    assert "patch.tree: " in errors and "patch.diff: sha256:" in errors and "commit: " in errors
    (edited_story.work / "train.sh").write_text(EDITED_JOB)
    assert edited_story.launch("--plan", str(plan)) == 0


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_secret_in_it_blocks_and_is_never_told(
    edited_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    (edited_story.work / "setup.sh").write_text(f"set -e\nexport HF_TOKEN={KEY}\n")
    verdict = answer(edited_story, capsys, "preflight")
    item = finding(verdict, "unsafe-snapshot")
    assert (verdict["verdict"], item["outcome"], item["subject"]) == (
        "blocked",
        "fail",
        "setup.sh",
    )
    assert mentions(item["message"], "setup.sh", "2", "secret")
    assert edited_story.launch() == 1
    assert KEY not in json.dumps(verdict) + "".join(capsys.readouterr())
    assert (refs(edited_story.work), refs(edited_story.origin), edited_story.starts) == ({}, {}, [])


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["warn", "audit"])
def test_no_lenient_mode_pushes_a_secret(
    story: Story, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    approve_edits(story, policy={"mode": mode})
    (story.work / "setup.sh").write_text(f"export HF_TOKEN={KEY}\n")
    capsys.readouterr()
    assert story.launch() == 1
    assert mentions(capsys.readouterr().out, "setup.sh", "1", "secret")
    assert (refs(story.origin), story.starts) == ({}, [])


@pytest.mark.thorough
def test_a_person_may_say_that_it_is_no_secret_and_the_diff_is_not_kept(story: Story) -> None:
    approve_edits(story, UNSAFE)
    (story.work / "setup.sh").write_text(f"export HF_TOKEN={KEY}\n")
    assert story.launch() == 0
    story.wait_for_end()
    assert ran_edited(story) == ["tiny-1"]
    assert diffs_in_record(story) == []


@pytest.mark.thorough
def test_too_much_blocks_and_no_waiver_helps(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    approve_edits(story, UNSAFE, code={"snapshot_max_mb": 1})
    (story.work / "data.bin").write_bytes(b"\1" * 1_000_001)
    verdict = answer(story, capsys, "preflight")
    message = finding(verdict, "unsafe-snapshot")["message"]
    assert mentions(message, "1.0 MB", "train.sh", "data.bin", "[code] snapshot_max_mb = 1")
    assert verdict["plan"] is None
    assert story.launch() != 0
    assert (refs(story.origin), story.starts) == ({}, [])


@pytest.mark.thorough
def test_what_cannot_be_pushed_is_not_launched(
    edited_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    only_snapshots = (
        f"#!/bin/sh\nwhile read -r a b ref; do case $ref in {SNAPSHOTS}*)\n{REFUSE_ALL}\nesac; "
        "done\n"
    )
    hook = edited_story.refuse_pushes(only_snapshots)
    capsys.readouterr()
    assert edited_story.launch() == 3
    assert mentions(capsys.readouterr().err, "approved", "edits")
    assert (edited_story.starts, [e.key for e in edited_story.events("Failed")]) == (
        [],
        ["submit/tiny-1"],
    )
    hook.unlink()
    assert edited_story.launch() == 0
    assert len(refs(edited_story.origin)) == 1


@pytest.mark.thorough
def test_a_ref_that_says_something_else_is_never_moved(
    edited_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = answer(edited_story, capsys, "preflight")["plan"]["patch"]["value"]["tree"]
    head = git(edited_story.work, "rev-parse", "HEAD").strip()
    git(edited_story.origin, "update-ref", f"{SNAPSHOTS}{tree}", head)
    capsys.readouterr()
    assert edited_story.launch() == 1
    assert mentions(capsys.readouterr().err, "never", "moves")
    assert (refs(edited_story.origin), edited_story.starts) == ({f"{SNAPSHOTS}{tree}": head}, [])


# --- interruptions --------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("after", ["keep_snapshot", "announce", "submit"])
def test_an_interrupted_launch_goes_on_with_the_same_edits(
    edited_story: Story, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    real = getattr(start_instance, after)

    def cut(*args: Any) -> None:
        real(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(start_instance, after, cut)
        assert edited_story.launch() == 130
    assert edited_story.launch() == 0
    edited_story.wait_for_end()
    assert ran_edited(edited_story) == ["tiny-1"]
    assert len(refs(edited_story.origin)) == 1
    assert len([e for e in edited_story.events("Done") if e.key == "snapshot/tiny-1"]) == 1


# --- the record, the relaunch, the seal -----------------------------------------------------------


def diffs_in_record(story: Story) -> list[str]:
    names = git(story.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny").split()
    return [name for name in names if name.endswith(".diff")]


@pytest.mark.thorough
def test_a_small_diff_is_kept_next_to_the_record(edited_story: Story) -> None:
    assert edited_story.launch() == 0
    (name,) = diffs_in_record(edited_story)
    diff = git(edited_story.work, "show", f"refs/herorun/record/tiny:{name}")
    patch = edited_story.events("Launching")[0].plan["patch"]["value"]
    assert f"sha256:{hashlib.sha256(diff.encode()).hexdigest()}" == patch["diff"]
    assert name.endswith(f"patch-{patch['diff'][7:19]}.diff") and "+echo " in diff
    assert edited_story.herorun("logbook", "verify", SLUG) == 0


@pytest.mark.thorough
def test_a_large_diff_is_not(edited_story: Story) -> None:
    (edited_story.work / "table.csv").write_text("".join(f"{n}\n" for n in range(60_000)))
    assert edited_story.launch() == 0
    assert diffs_in_record(edited_story) == []


def crash_story(story: Story) -> Story:
    story.order("tiny-1", CRASH)
    assert story.launch() == 0
    story.wait_for_end()
    return story


@pytest.mark.thorough
def test_a_crash_is_relaunched_with_the_same_edits_whatever_became_of_the_checkout(
    edited_story: Story,
) -> None:
    crash_story(edited_story)
    (edited_story.work / "train.sh").write_text("exit 1\n")
    git(edited_story.work, "update-ref", "-d", *refs(edited_story.work))
    edited_story.tick()
    edited_story.wait_for_end("tiny-2")
    assert ran_edited(edited_story) == ["tiny-1", "tiny-2"]
    assert refs(edited_story.work) == refs(edited_story.origin)
    first, second = (event.entry["Dirty tree"] for event in edited_story.events("Launched"))
    assert " tree:" in first == second


@pytest.mark.thorough
def test_another_clone_relaunches_the_same_edits(story: Story) -> None:
    """Once it has taken the watch: the lease is one clone's, and the others only look."""
    edited_story = crash_story(approve_edits(story, babysit={"cadence": "1s"}))
    other = edited_story.clone("elsewhere")
    assert (
        other.herorun("handoff", SLUG, "--take", "--wait", "20s", "--reason", "its disk is full")
        == 0
    )
    copy(edited_story.state / "jobs", other.jobs)  # as a scheduler that both ask would tell it
    other.tick()
    other.wait_for_end("tiny-2")
    assert ran_edited(edited_story) == ["tiny-1", "tiny-2"]
    assert refs(other.work) == refs(edited_story.origin)
    assert git(other.work, "status", "--porcelain") == ""


@pytest.mark.thorough
def test_another_clone_makes_the_admitted_plan_again(edited_story: Story) -> None:
    crash_story(edited_story)
    other = edited_story.clone("elsewhere")
    assert refs(other.work) == {}
    plan = plan_of_admission(other)
    assert plan.digest == edited_story.events("Launched")[0].plan_digest
    assert refs(other.work) == refs(edited_story.origin)
    assert git(other.work, "show", f"{plan.code_commit}:train.sh") == EDITED_JOB
    assert git(other.work, "status", "--porcelain") == ""


def plan_of_admission(story: Story) -> Any:
    run = story.run
    run.record.fetch()
    return admitted_plan(run, run.record.memory().launchings["tiny-1"])


@pytest.mark.thorough
@pytest.mark.parametrize("result", [{"diff": "sha256:0"}, {"commit": "0" * 40}])
def test_what_the_record_says_of_the_edits_must_be_so(
    edited_story: Story, result: dict[str, str]
) -> None:
    assert edited_story.launch() == 0
    plan = edited_story.events("Launching")[0].plan
    lie = {"patch": {"value": {**plan["patch"]["value"], **result}}}
    with pytest.raises(Blocked):
        admitted_snapshot(edited_story.run, plan["commit"]["value"], lie)
    older = git(edited_story.work, "rev-parse", "HEAD^").strip()
    with pytest.raises(Blocked, match=r"approved.*commit"):
        admitted_snapshot(edited_story.run, older, plan)


def forge_snapshot(story: Story) -> None:
    """A snapshot of the same name that holds what is committed."""
    tree = story.events("Launching")[0].plan["patch"]["value"]["tree"]
    who = {f"GIT_{r}_{p}": "m@x" for r in ("AUTHOR", "COMMITTER") for p in ("NAME", "EMAIL")}
    commit = git(story.work, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x", env=who).strip()
    git(story.work, "update-ref", f"{SNAPSHOTS}{tree}", commit)


@pytest.mark.thorough
def test_a_snapshot_that_is_another_is_never_relaunched(edited_story: Story) -> None:
    crash_story(edited_story)
    forge_snapshot(edited_story)
    assert edited_story.tick() == 1
    assert len(edited_story.starts) == 1
    assert any(mentions(e.why, "never", "moves") for e in edited_story.events("Failed"))


@pytest.mark.thorough
def test_a_snapshot_that_is_lost_everywhere_is_put_to_a_person(edited_story: Story) -> None:
    crash_story(edited_story)
    for where in (edited_story.work, edited_story.origin):
        git(where, "update-ref", "-d", *refs(where))
    assert edited_story.tick() == 1
    assert len(edited_story.starts) == 1
    assert any(mentions(e.why, "neither", "remote") for e in edited_story.events("Failed"))


@pytest.mark.thorough
def test_the_seal_names_it(edited_story: Story) -> None:
    assert edited_story.launch() == 0
    edited_story.wait_for_end()
    assert (edited_story.tick(), edited_story.tick()) == (0, 0)
    (edited_story.work / "train.sh").write_text(JOB)
    assert edited_story.seal() == 0
    patch = edited_story.events("Launching")[0].plan["patch"]["value"]
    statement = edited_story.statement_facts
    assert statement["patch"] == patch
    assert mentions(statement["dirty_tree"], "approved", "@dri", f"tree:{patch['tree']} ")
    assert f"- Dirty tree: {statement['dirty_tree']}" in edited_story.run.record.logbook()
    assert (
        statement["commit"]
        == patch["commit"]
        == git(edited_story.work, "rev-parse", f"{TAG}^{{commit}}").strip()
    )
    edits = f"herorun/tiny/edits-{patch['tree'][:12]}"
    for where in (edited_story.work, edited_story.origin):
        assert git(where, "rev-parse", f"{edits}^{{commit}}").strip() == patch["commit"]


@pytest.mark.thorough
def test_the_seal_commit_is_made_again_from_the_diff_in_the_record(
    edited_story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert edited_story.launch() == 0
    edited_story.wait_for_end()
    assert (edited_story.tick(), edited_story.tick()) == (0, 0)
    for where in (edited_story.work, edited_story.origin):
        git(where, "update-ref", "-d", *refs(where))
    git(edited_story.work, "gc", "--prune=now", "--quiet")
    before = git(edited_story.work, "status", "--porcelain")
    assert edited_story.seal() == 0
    patch = edited_story.events("Launching")[0].plan["patch"]["value"]
    assert edited_story.statement_facts["commit"] == patch["commit"]
    assert git(edited_story.work, "status", "--porcelain") == before


@pytest.mark.thorough
def test_a_clean_run_is_sealed_as_clean(story: Story) -> None:
    story.run_to_seal()
    assert (story.statement_facts["patch"], story.statement_facts["dirty_tree"]) == (None, "no")


# --- in place -------------------------------------------------------------------------------------


@pytest.fixture
def in_place(story: Story) -> Story:
    return crash_story(approve_edits(story, code={"in_place": True}))


@pytest.mark.thorough
def test_in_place_the_checkout_runs_as_it_is_and_again_while_it_stands(in_place: Story) -> None:
    in_place.tick()
    in_place.wait_for_end("tiny-2")
    assert ran_edited(in_place) == ["tiny-1", "tiny-2"]
    (entry,) = {event.entry["Dirty tree"] for event in in_place.events("Launched")}
    assert " tree:" in entry and mentions(entry, "checkout")


@pytest.mark.thorough
@pytest.mark.parametrize("content", [JOB, EDITED_JOB + "# more\n"])
def test_in_place_other_edits_than_were_approved_are_not_relaunched(
    in_place: Story, content: str
) -> None:
    (in_place.work / "train.sh").write_text(content)
    assert in_place.tick() == 1
    assert len(in_place.starts) == 1


@pytest.mark.thorough
def test_in_place_notes_do_not_keep_it_from_a_relaunch(story: Story) -> None:
    story.sign(code={"in_place": True})
    story.run_first_job(CRASH)
    (story.work / "NOTES.md").write_text("what happened\n")
    story.tick()
    story.wait_for_end("tiny-2")
    assert len(story.starts) == 2


# --- the check-in ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_job_checks_in_with_the_edited_code(story: Story) -> None:
    """In a real process: the edited file is what was admitted, and the committed one is not."""
    (story.work / "train.py").write_text("print('as committed')\n")
    argv = [sys.executable, "train.py"]
    story.sign(waiver=[WAIVER], command={"argv": argv}, final_step=1)
    story.init()
    (story.work / "train.py").write_text(
        "import herorun\nherorun.check_in(required=True)\nprint('edited')\n"
    )
    assert story.launch() == 0
    story.wait_for_end()
    log = (story.jobs / "tiny-1" / "job.log").read_text()
    assert "edited" in log and '"outcome":"pass"' in log.replace(" ", "")
