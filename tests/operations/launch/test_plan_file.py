"""Plan, review, apply: what was reviewed is launched, and nothing else; what moved is named."""

import errno
import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.canonical_json import canonical
from herorun.core.finding import Outcome, failed
from herorun.operations.launch import start_instance
from herorun.operations.launch.plan_file import moved_since, moving_evidence
from screens.notices import Notice
from stories import SLUG, WAIT, Story, git
from wording import mentions


@pytest.fixture
def plan(story: Story) -> Path:
    """A reviewed plan of a run that is ready to start."""
    assert story.init() == 0
    return review(story)


def review(story: Story, name: str = "plan.json") -> Path:
    path = story.home / name
    story.herorun("preflight", SLUG, "--out", str(path))
    return path


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def refusal(story: Story, capsys: pytest.CaptureFixture[str], plan: Path, code: int) -> str:
    """What is said where nothing is launched."""
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == code
    assert (story.starts, story.events("Launching")) == ([], [])
    output = capsys.readouterr()
    assert not output.out or code != 2
    return output.err


# --- the file -------------------------------------------------------------------------------------


def test_it_is_canonical_json(plan: Path) -> None:
    document = json.loads(plan.read_text())
    assert plan.read_text() == canonical(document) + "\n"
    assert document.keys() == {"schema", "run", "plan_digest", "plan", "seen"}
    assert document["seen"] == {
        "verdict": "clear",
        "findings": {},
        "tips": document["seen"]["tips"],
        "newest_checkpoint": None,
        "tracker": document["seen"]["tracker"],
    }


@pytest.mark.thorough
def test_the_digest_covers_the_plan_and_not_what_was_seen(story: Story, plan: Path) -> None:
    edit(plan, lambda document: document.pop("seen"))
    edit(plan, lambda document: document.pop("run"))
    assert story.launch("--plan", str(plan)) == 0


# --- one that was tampered with, or is none -------------------------------------------------------


def another_value(document: dict[str, Any]) -> None:
    document["plan"]["final_step"]["value"] = 9


def another_digest(document: dict[str, Any]) -> None:
    document["plan_digest"] = "sha256:" + "0" * 64


def a_value_less(document: dict[str, Any]) -> None:
    del document["plan"]["output_root"]


def a_value_more(document: dict[str, Any]) -> None:
    document["plan"]["further"] = {"value": 1, "source": "", "inferred": False}


def test_a_key_that_is_given_twice_is_no_plan(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(plan.read_text().replace('"plan":{', '"plan":{"final_step":{"value":9},', 1))
    assert mentions(refusal(story, capsys, plan, 2), "plan")


@pytest.mark.parametrize(
    "change",
    [
        another_value,
        another_digest,
        a_value_less,
        a_value_more,
        lambda d: d.update(schema=2),
        lambda d: d.update(schema="1"),
        lambda d: d.update(schema=True),
        lambda d: d.pop("schema"),
        lambda d: d.update(run="other"),
        lambda d: d.update(plan=[]),
        lambda d: d.update(plan={"argv": "x"}),
        lambda d: d.pop("plan_digest"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_and_says_how(
    story: Story,
    plan: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], object],
    notice: Notice,
) -> None:
    edit(plan, change)
    assert refusal(story, capsys, plan, 2).replace(str(plan), "plan.json") == notice


@pytest.mark.parametrize("content", ["[[[", "", "[]", '"plan"', "{" * 100_000])
def test_what_is_no_plan_at_all(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    plan.write_text(content)
    assert mentions(refusal(story, capsys, plan, 2), f"{plan}", "plan")


def test_a_folder_and_a_missing_file(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = os.strerror(errno.EISDIR)
    assert f"{story.home}: {directory}" in refusal(story, capsys, story.home, 2)
    assert mentions(refusal(story, capsys, story.home / "none.json", 2), "such", "file")


def test_a_tampered_file_that_hangs_together_still_is_another_plan(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who edits the values and makes the digest again has another plan, and that is not what would
    run.
    """
    from herorun.operations.launch.plan_file import _digest

    edit(plan, another_value)
    edit(plan, lambda d: d.update(plan_digest=_digest(d["plan"])))
    assert "final_step: 9 -> 4" in refusal(story, capsys, plan, 1)


# --- what moved -----------------------------------------------------------------------------------


def test_each_value_that_moved_is_named_in_words(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (story.work / "config.toml").write_text("[trainer]\nseed = 8\nclip = true\n")
    story.sign(checkpoints={"keep": 3}, command={"env": {"MODE": "slow"}}, hardware={"count": 8})
    text = refusal(story, capsys, plan, 1)
    for words in (
        "config.trainer.seed: 7 -> 8",
        "config.trainer.clip: absent -> true",
        "env.MODE: absent -> slow",
        "hardware.count: absent -> 8",
        "retention.keep: 10 -> 3",
        "code_tree: sha256:",
    ):
        assert words in text
    assert "argv" not in text and "None" not in text and "{" not in text


def warnings(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said next to the exact request, which comes first."""
    head, request, *rest = capsys.readouterr().err.splitlines(keepends=True)
    assert head == "herorun: submitting\n" and request.startswith("$ sh train.sh ")
    return "".join(rest)


@pytest.mark.thorough
def test_what_was_seen_otherwise_is_named_and_does_not_stop_it(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(plan, lambda d: d["seen"].update(verdict="blocked", findings={"no-record": "fail"}))
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 0
    text = warnings(capsys)
    changes = ("no longer open: no-record", "verdict: blocked -> clear\n")
    assert text.count("\n") == 1 and mentions(text, "herorun: ", "reviewed", *changes)


def test_findings_that_moved_are_named_by_outcome_and_only_a_few() -> None:
    names = [*(f"check-{number}" for number in range(9)), "secret-in-command"]
    findings = [SimpleNamespace(check=name, open=True, verdict=failed("no")) for name in names]
    answer: Any = SimpleNamespace(
        verdict=Outcome.FAIL, report=SimpleNamespace(evidence={}, findings=findings)
    )
    assert moving_evidence(answer)["findings"]["secret-in-command"] == "fail"
    evidence = {**moving_evidence(answer), "findings": {"check-0": "fail", "gone": "unknown"}}
    text = moved_since({"seen": evidence}, answer).partition(": ")[2]
    assert text == "now fail: check-1, check-2, check-3 and 6 more; no longer open: gone"


@pytest.mark.thorough
def test_nothing_is_reported_where_nothing_moved(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 0
    assert warnings(capsys) == ""


@pytest.mark.thorough
def test_a_job_that_was_started_since_the_review_is_named(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    plan = review(story)
    story.run_first_job(WAIT)
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 1
    errors = capsys.readouterr().err
    for words in (
        "now fail: live-duplicate[tiny-1];",
        f"newest_checkpoint: none -> {story.root}/step-2",
        "verdict: clear -> blocked",
    ):
        assert words in errors
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_a_tip_that_moved_is_named(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tips = json.loads(plan.read_text())["seen"]["tips"]
    other = story.clone("elsewhere")
    (other.work / "README.md").write_text("words\n")
    other.publish()
    tip = git(story.origin, "rev-parse", "refs/heads/main").strip()
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 0
    assert f"tips.refs/heads/main: {tips['refs/heads/main']} -> {tip}" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_job_that_was_submitted_before_the_review_is_taken_over_and_said(
    story: Story, plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            start_instance, "_confirm", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert story.launch() == 130
    story.wait_for_end()
    story.sign(checkpoints={"keep": 3})
    later = review(story, "later.json")
    capsys.readouterr()
    assert story.launch("--plan", str(later)) == 0
    errors = capsys.readouterr().err
    assert mentions(errors, "tiny-1", "review", "sha256")
    assert json.loads(plan.read_text())["plan_digest"] in errors


# --- masked values --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_plan_with_a_masked_value_is_compared_as_it_is_shown(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    waiver = {
        "check": "secret-in-command",
        "reason": "a dummy",
        "approved_by": "@dri",
        "expires": "2999-01-01T00:00:00Z",
    }
    story.sign(waiver=[waiver], command={"env": {"API_TOKEN": "correct-horse"}})
    story.init()
    plan = review(story)
    assert "correct-horse" not in plan.read_text()
    edit(plan, another_value)
    assert "final_step: 9 -> 4" in refusal(story, capsys, plan, 1)
    plan = review(story)
    edit(plan, another_digest)
    assert mentions(refusal(story, capsys, plan, 1), "value", "masked")
    assert story.launch("--plan", str(review(story))) == 0


# --- where it lies --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["linked work tree", "fresh clone"])
def test_a_plan_in_the_state_folder_does_not_block_its_launch(story: Story, kind: str) -> None:
    """Where the folder is new, and git was told to ignore it nowhere yet."""
    assert story.init() == 0
    other = story.clone("elsewhere")
    work = other.work
    if kind == "linked work tree":
        git(work, "switch", "-q", "-c", "other")
        work = other.home / "linked"
        git(other.work, "worktree", "add", "-q", str(work), "main")
    plan = ".herorun/plan.json"
    assert story.herorun("-C", str(work), "preflight", SLUG, "--out", plan) == 0
    assert git(work, "status", "--porcelain") == ""
    assert story.herorun("-C", str(work), "launch", SLUG, "--no-babysit", "--plan", plan) == 0
    Story(other.home).wait_for_end()


def test_a_plan_takes_no_name_of_gits_own_and_follows_no_loop_of_links(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.init()
    loop, into_git = story.home / "loop", story.home / "git"
    loop.symlink_to(loop)
    into_git.symlink_to(story.work / ".git")
    for path in (loop, into_git / "HEAD.lock", story.work / ".git" / "refs" / "heads" / "plan"):
        assert story.herorun("preflight", SLUG, "--out", str(path)) == 2
        assert path.is_symlink() or not path.exists()
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stands_in", "folder", "name"),
    [
        ("work", ".", "plan.json"),
        ("work", ".", SLUG),
        ("work", ".", "docs/plan.json"),
        ("work", ".", "-p.json"),
        ("work/docs", ".", "../a plan.json"),
        ("", "work", "plan.json"),
        ("", "work", "docs/plan.json"),
        ("far/off", "a link", "a plan.json"),
    ],
)
def test_the_command_after_preflight_launches_from_where_a_person_stands(
    story: Story,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stands_in: str,
    folder: str,
    name: str,
) -> None:
    """A plan file that git sees in the work tree would block its own launch."""
    assert story.init() == 0
    (story.work / "docs").mkdir()
    link = story.home / "far" / "off" / "a link"
    link.parent.mkdir(parents=True)
    link.symlink_to(story.work)
    earlier = story.work / ".herorun" / f"plan-{SLUG}.json"
    earlier.write_text("an earlier plan")
    monkeypatch.chdir(story.home / stands_in)
    capsys.readouterr()
    assert story.herorun("-C", folder, "preflight", SLUG, f"--out={name}") == 0
    output = capsys.readouterr()
    blocks = story.herorun("preflight", SLUG) == 1
    assert bool(output.err) == blocks == (not name.startswith("docs/"))
    (command, *_) = [line for line in output.out.splitlines() if line.startswith("next: ")]
    move, _, launch = command.removeprefix("next: ").rpartition(" && ")
    subprocess.run(move, shell=True, check=True)
    assert git(story.work, "ls-files", "-o", "--exclude-standard").strip() == (
        "" if blocks else name
    )
    if blocks:
        assert output.err.endswith(f" {shlex.split(move)[-1]}\n")
    program, *argv = shlex.split(launch)
    assert program == "herorun"
    assert story.herorun("-C", ".", *argv, "--no-babysit") == 0
    assert earlier.read_text() == "an earlier plan"
    story.wait_for_end()


@pytest.mark.parametrize("name", ["reserve", ".gitignore"])
def test_a_file_of_the_state_folder_is_not_overwritten(
    story: Story, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert story.init() == 0
    own_file = story.work / ".herorun" / name
    content = own_file.read_bytes()
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--out", f".herorun/{name}") == 2
    assert str(own_file) in capsys.readouterr().err
    assert own_file.read_bytes() == content
    for _ in range(2):  # an earlier plan is replaced
        assert story.herorun("preflight", SLUG, "--out", ".herorun/plan.json") == 0


@pytest.mark.parametrize("name", ["docs/notes.md", ".git/config", f".git/herorun/{SLUG}.act.lock"])
def test_no_file_is_overwritten_that_is_no_plan(
    story: Story, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert story.init() == 0
    file = story.work / name
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as lines:
        lines.write("# precious\n" if "lock" not in name else "")
    content = file.read_bytes()
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--out", name) == 2
    assert str(file) in capsys.readouterr().err
    assert file.read_bytes() == content


def test_an_empty_file_takes_a_plan(story: Story) -> None:
    assert story.init() == 0
    file = story.home / "made-by-mktemp"
    file.touch()
    assert story.herorun("preflight", SLUG, "--out", str(file)) == 0
    assert json.loads(file.read_text())["plan_digest"]


def test_a_program_is_told_where_the_plan_must_be_moved(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story.init() == 0
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--json", "--out", "plan.json") == 0
    assert f"{story.work}/.herorun/plan-{SLUG}.json" in capsys.readouterr().err


def test_a_tracked_file_is_overwritten_only_where_its_change_does_not_block(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    (story.work / "docs").mkdir()
    (story.work / "docs" / "plan.json").write_text(
        '{"plan": {}, "plan_digest": "of an earlier one"}'
    )
    story.publish()
    assert story.init() == 0
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--out", "config.toml") == 2
    assert f"{story.work}/config.toml" in capsys.readouterr().err
    assert git(story.work, "status", "--porcelain") == ""
    assert story.herorun("preflight", SLUG, "--out", "docs/plan.json") == 0
    assert story.launch("--plan", "docs/plan.json") == 0
    story.wait_for_end()


def test_without_a_plan_the_findings_are_shown_and_no_file_is_written(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story.init() == 0
    git(story.work, "rm", "-q", "config.toml")
    story.publish()
    capsys.readouterr()
    assert story.herorun("preflight", SLUG, "--out", str(story.home / "plan.json")) == 3
    output = capsys.readouterr()
    assert mentions(output.err, "plan.json", "config.toml") and "\n" not in output.err.strip()
    assert mentions(output.out, "final-step-mismatch")
    assert not (story.home / "plan.json").exists()


def test_after_a_blocked_launch_the_command_that_is_shown_makes_the_plan_again(
    story: Story, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fix that is committed changes the plan: the same launch again would be refused."""
    (story.work / "train.sh").open("a").write("# an idea\n")
    capsys.readouterr()
    assert story.launch("--plan", str(plan)) == 1
    (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith("next: ")]
    story.publish()
    assert story.launch("--plan", str(plan)) == 1 and story.starts == []
    program, *argv = shlex.split(line.rpartition(": ")[2])
    assert program == "herorun" and story.herorun(*argv) == 0
    assert story.launch("--plan", str(plan)) == 0
    story.wait_for_end()
