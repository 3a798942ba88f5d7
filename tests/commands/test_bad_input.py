"""Bad input gets one or two clear sentences that name the place and the mend, and nothing is
lost.
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.answers import Answer, ask, check_answer
from herorun.operations.orders import note as noting
from stories import SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
NOTE = ("note", SLUG, "--status", "a", "--evidence", "b", "--decision", "c", "--next", "d")


# --- the contract ---------------------------------------------------------------------------------

BAD_CONTRACTS: dict[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "an unknown key": (
        lambda text: f"{text}\n[babysit.budget]\na = 1\n",
        ("runs/tiny.toml", "unknown key `babysit.budget`", "line "),
    ),
    "a wrong type": (
        lambda text: text.replace("keep = 10", 'keep = "ten"'),
        ("`checkpoints.keep`", "'ten'"),
    ),
    "no TOML": (lambda text: f"{text}\n[[[", ("runs/tiny.toml is not valid TOML", "line ")),
    "a bad slug": (
        lambda text: text.replace('slug = "tiny"', 'slug = "Ti ny"'),
        ("`slug`", "'Ti ny'"),
    ),
    "a missing key": (
        lambda text: text.replace("[output]", "[hardware]"),
        ("missing table [output]",),
    ),
    "a number without a unit": (lambda text: text.replace('"15m"', "15"), ("has no unit", '"15m"')),
    "thresholds of an unknown check": (
        lambda text: f"{text}\n[babysit.thresholds.nonsense]\na = 1\n",
        ("[babysit.thresholds]", "'nonsense'", "herorun explain --list"),
    ),
    "an unknown threshold": (
        lambda text: f"{text}\n[babysit.thresholds.loss-spike]\nnope = 1\n",
        ("[babysit.thresholds.loss-spike]", "unknown key `nope`"),
    ),
    "a file of signatures that is not there": (
        lambda text: text.replace("[babysit]", '[babysit]\nsignatures = "ops/none.toml"'),
        ("The signatures cannot be read", "ops/none.toml"),
    ),
    "a signature without its words": (
        lambda text: text.replace("[babysit]", '[babysit]\nsignatures = "config.toml"'),
        ("config.toml", "it holds more than [[signature]] tables"),
    ),
    "an unknown tracker": (
        lambda text: text.replace('"jsonl"', '"jsnl"'),
        ("runs/tiny.toml: line ", "'jsnl'", "mean `jsonl`?", "wandb_offline"),
    ),
    "an unknown channel": (
        lambda text: f'{text}\n[notify]\nkinds = ["terminl"]\n',
        ("runs/tiny.toml: line ", "'terminl'", "mean `terminal`?"),
    ),
    "a channel without an address": (
        lambda text: f'{text}\n[notify]\nkinds = ["channel"]\n',
        ("runs/tiny.toml: line ", "[notify] kinds", "'channel'", "[notify] targets"),
    ),
    "a page where nothing stays": (
        lambda text: text.replace('[issue]\nkind = "local"', '[issue]\nkind = "terminal"'),
        ("tiny.toml: line ", "[issue] kind = 'terminal'", "github, local", "[notify] kinds"),
    ),
    "an issue without its repository": (
        lambda text: text.replace('[issue]\nkind = "local"', '[issue]\nkind = "github"'),
        ("tiny.toml: line ", "[issue] kind = 'github'", "repo"),
    ),
    "an unknown list of tables": (
        lambda text: f"{text}\n[[waivers]]\ncheck = 1\n",
        ("tiny.toml: line ", "`waivers`", "mean `waiver`?"),
    ),
    "a table below an unknown one": (
        lambda text: f"{text}\n[health.x]\na = 1\n",
        ("tiny.toml: line ", "`health`", "`herorun schema`"),
    ),
    "the beginning of a table's name": (
        lambda text: f"{text}\n[checkz]\na = 1\n",
        ("tiny.toml: line ", "`checkz`", "mean `checkpoints`?"),
    ),
    "an unknown option": (
        lambda text: text.replace('settle = "1ms"', "settles = 1"),
        ("runs/tiny.toml: line ", "[scheduler] local: unknown key `settles`", "`settle`?"),
    ),
    "two unknown options": (
        lambda text: text.replace('settle = "1ms"', "settles = 1\nkid = 2"),
        ("2 errors:\n  line ", "`settles`; did", "\n  line ", "`kid`; did you mean `kind`?"),
    ),
    "faults of four tables": (
        lambda text: (
            text.replace('settle = "1ms"', "settles = 1")
            .replace('"jsonl"', '"jsnl"')
            .replace('[issue]\nkind = "local"', '[issue]\nkind = "terminal"')
            + '\n[notify]\nkinds = ["terminl"]\n'
        ),
        (
            "4 errors:\n  line ",
            "`settles`; did",
            "'jsnl'",
            "[issue] kind = 'terminal'",
            "'terminl'",
        ),
    ),
    "faults that several readers would find": (
        lambda text: (
            text.replace('cadence = "15m"', 'cadnce = "5m"\nstop_on = ["crashedd"]').replace(
                'settle = "1ms"', "settles = 1"
            )
            + "\n[babysit.thresholds.not-finite]\nloss_row = 3\n[babysit.thresholds.blnd]\n"
        ),
        (
            "5 errors:\n  line ",
            "`babysit.cadnce`; did you mean `babysit.cadence`?",
            "'crashedd'",
            "`settles`; did you mean `settle`?",
            "`loss_row`: did you mean `loss_rows`?",
            "'blnd'",
        ),
    ),
    "a wrong kind, which hides the options of its table alone": (
        lambda text: text.replace('kind = "jsonl"', "kind = 3\npth = 1").replace(
            'settle = "1ms"', "settles = 1"
        ),
        ("2 errors:\n  line ", "`tracker.kind`", "`settles`; did"),
    ),
    "a name that is not the file's, and an unknown option": (
        lambda text: text.replace('slug = "tiny"', 'slug = "tony"').replace(
            'settle = "1ms"', "settles = 1"
        ),
        ("2 errors:\n  line 1: slug = 'tony'", "`settles`; did"),
    ),
    "a name that is not the file's, and an unknown key": (
        lambda text: "zork = 1\n" + text.replace('slug = "tiny"', 'slug = "three"'),
        ("2 errors:\n  line 1: unknown key `zork`", "\n  line 2: slug = 'three'"),
    ),
    "a threshold by both of its names, and an unknown one": (
        lambda text: (
            text + "\n[babysit.thresholds.loss-spike]\nnoises = 3\nnoise_ratio = 4\nzz = 1\n"
        ),
        ("2 errors:\n  line ", "`noises`", "`noise_ratio`", "unknown key `zz`"),
    ),
    "a file of signatures that is not there, and an unknown option": (
        lambda text: text.replace("[babysit]", '[babysit]\nsignatures = "ops/none.toml"').replace(
            'settle = "1ms"', "settles = 1"
        ),
        ("2 errors:\n  line ", "ops/none.toml", "`settles`; did"),
    ),
    "a duration that is none": (
        lambda text: text.replace('"15m"', '"15 parsecs"'),
        ("'15 parsecs' is no duration", 'or "2d"\n'),
    ),
}


@pytest.mark.parametrize("name", BAD_CONTRACTS)
def test_a_bad_contract_is_named_with_its_key(story: Story, capsys: CAPTURE, name: str) -> None:
    edit, target = BAD_CONTRACTS[name]
    path = story.work / "runs" / "tiny.toml"
    path.write_text(edit(path.read_text()))
    for words in (("preflight", SLUG), ("preflight", SLUG, "--json"), ("launch", SLUG, "--json")):
        answer = ask(story, capsys, *words)
        assert answer.code == 2
        assert [part for part in target if part not in answer.err] == []
        assert bool(answer.out) == ("--json" in words)
        assert not answer.out or answer.err == f"herorun: {answer.document['error']}\n"
        lines = [int(line) for line in re.findall(r"^  line (\d+):", answer.err, re.MULTILINE)]
        assert lines == sorted(lines)


def test_a_missing_contract_says_what_writes_one(story: Story, capsys: CAPTURE) -> None:
    (story.work / "runs" / "tiny.toml").unlink()
    for words in (
        ("preflight", SLUG),
        ("launch", SLUG),
        ("babysit", SLUG, "--once"),
        ("seal", SLUG),
        NOTE,
    ):
        answer = ask(story, capsys, *words)
        assert answer.code == 2
        assert f"{story.work}/runs/tiny.toml" in answer.err
        assert story.shown_commands("`herorun init tiny`") in answer.err


def test_a_run_whose_name_was_mistyped_is_offered(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "status", "tinny")
    assert answer.code == 2 and mentions(
        answer.err, "tiny", story.shown_commands("`herorun init tinny`")
    )


def test_a_contract_that_cannot_be_read_is_named(story: Story, capsys: CAPTURE) -> None:
    path = story.work / "runs" / "tiny.toml"
    path.write_bytes(b"# \xff\n" + path.read_bytes())
    assert mentions(ask(story, capsys, "preflight", SLUG).err, "UTF-8")
    path.unlink()
    path.mkdir()
    answer = ask(story, capsys, "preflight", SLUG)
    assert answer.code == 2 and f"{path}: {os.strerror(errno.EISDIR)}" in answer.err


@pytest.mark.parametrize("command", ["init", "preflight", "launch"])
@pytest.mark.parametrize("name", ["Ti ny", "/outside/x.toml", "../x.toml"])
def test_a_bad_name_writes_nothing(story: Story, capsys: CAPTURE, command: str, name: str) -> None:
    before = sorted(story.home.rglob("*"))
    answer = ask(story, capsys, command, "--", name)
    assert answer.code == 2 and (
        "slug" in answer.err or mentions(answer.err, "outside", "repository")
    )
    assert sorted(story.home.rglob("*")) == before


# --- the repository -------------------------------------------------------------------------------


def test_no_repository(home: Path, capsys: CAPTURE) -> None:
    git(home, "init", "-q", "--bare", "bare.git")
    for folder, target in (
        (home, "not in a git repository"),
        (home / "bare.git", "bare git repository"),
    ):
        answer = _at(folder, capsys, "preflight", SLUG)
        assert answer.code == 2 and str(folder) in answer.err and target in answer.err
    assert mentions(_at(home / "gone", capsys, "preflight", SLUG).err, "exist")


def test_a_linked_work_tree_whose_main_repository_moved(story: Story, capsys: CAPTURE) -> None:
    linked_path, moved_path = story.home / "linked", story.home / "moved"
    git(story.work, "worktree", "add", "-q", "--detach", str(linked_path))
    story.work.rename(moved_path)
    answer = _at(linked_path / "runs", capsys, "preflight", SLUG)
    assert answer.code == 2 and str(story.work) in answer.err
    assert mentions(answer.err, "worktree", "repair", str(linked_path))
    git(moved_path, "worktree", "repair", str(linked_path))
    assert git(linked_path, "rev-parse", "--show-toplevel").strip() == str(linked_path)


def test_a_branch_in_the_way_of_the_record(story: Story, capsys: CAPTURE) -> None:
    """The proposed commands are typed as they stand."""

    def in_the_way() -> list[str]:
        findings = ask(story, capsys, "preflight", SLUG, "--json").document["findings"]
        return [
            each["message"]
            for each in findings
            if each["check"] == "no-record" and each["outcome"] == "fail"
        ]

    git(story.work, "push", "-q", "origin", "HEAD:refs/heads/herorun")
    story.init()
    (message,) = in_the_way()
    repair = message.split("`")[1]
    subprocess.run(repair, shell=True, cwd=story.work, check=True, capture_output=True, timeout=60)
    assert in_the_way() == []
    assert ask(story, capsys, "logbook", "verify", SLUG).code == 0


def test_an_unborn_branch(story: Story, capsys: CAPTURE) -> None:
    unborn = story.home / "unborn"
    git(story.home, "init", "-q", str(unborn))
    shutil.copytree(story.work / "runs", unborn / "runs")
    for command in ("preflight", "launch"):
        answer = _at(unborn, capsys, command, SLUG)
        assert answer.code == 2 and mentions(answer.err, f"{unborn}", "commit", "commit")


def _at(folder: Path, capsys: CAPTURE, *words: str) -> Answer:
    return ask(Story(folder.parent), capsys, "-C", str(folder), *words)


# --- the remote -----------------------------------------------------------------------------------


def test_without_a_remote_nothing_is_launched_and_all_say_not_pushed(
    story: Story, capsys: CAPTURE
) -> None:
    git(story.work, "remote", "remove", "origin")
    assert mentions(ask(story, capsys, "init", SLUG).err, "pushed", "remote")
    blocked_answer = ask(story, capsys, "launch", SLUG, "--json")
    assert blocked_answer.code == 1 and mentions(
        blocked_answer.finding("no-remote")["message"], "called", "origin"
    )
    assert mentions(ask(story, capsys, "logbook", "verify", SLUG).out, "anchored", "remote")
    assert story.starts == []


def test_a_remote_that_is_gone_is_named(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noting, "PATIENCE", 0.0)  # it does not come back
    story.init()
    story.origin.rename(story.home / "elsewhere")
    answer = ask(story, capsys, "launch", SLUG, "--json")
    assert answer.code == 3 and story.starts == []
    message = answer.finding("unpushed-commit")["message"]
    assert "git ls-remote origin" in message and str(story.origin) in message
    assert mentions(
        ask(story, capsys, "logbook", "verify", SLUG).out, "could not", "query", "remote"
    )
    note = ask(story, capsys, *NOTE)
    assert note.code == 3 and mentions(note.err, "repeat", "UTC")


def test_a_host_that_is_not_known_is_named(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(story.work, "remote", "set-url", "origin", "ssh://nobody@nowhere.example/tiny")
    monkeypatch.setenv(
        "GIT_SSH_COMMAND", "echo 'ssh: Could not resolve hostname nowhere.example' >&2; false"
    )
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 3 and mentions(answer.err, "resolve", "nowhere.example")
    assert story.run.record.tip is None
    answer = ask(story, capsys, "preflight", SLUG, "--json")  # a record may lie there: nobody knows
    assert answer.code == 3 and answer.finding("no-record")["outcome"] == "unknown"
    assert (json.loads(answer.out)["verdict"], json.loads(answer.out)["plan"]) == ("unknown", None)


# --- the output root ------------------------------------------------------------------------------


def _a_file(root: Path) -> None:
    root.write_text("somebody's notes")


def _a_loop(root: Path) -> None:
    root.symlink_to(root)


@pytest.mark.thorough
@pytest.mark.parametrize("put", [_a_file, _a_loop])
def test_an_output_root_that_cannot_be_read_is_unknown_and_never_empty(
    story: Story, capsys: CAPTURE, put: Callable[[Path], None]
) -> None:
    story.init()
    put(story.root)
    for words in (("preflight", SLUG, "--json"), ("launch", SLUG, "--json")):
        answer = ask(story, capsys, *words)
        assert answer.code == 3
        finding = answer.finding("output-root-in-use")
        assert finding["outcome"] == "unknown" and f"{story.root}: " in finding["message"]
    probed_answer = ask(story, capsys, "preflight", SLUG, "--probe")
    assert probed_answer.code == 3 and mentions(
        probed_answer.err, "output", f"{story.root}", "written"
    )
    assert story.starts == []


# --- what lies in files ---------------------------------------------------------------------------


def test_a_start_checkpoint_with_malformed_metadata(story: Story, capsys: CAPTURE) -> None:
    parent = story.data / "parent" / "step-2"
    parent.mkdir(parents=True)
    (parent / "metadata.json").write_text("{nope")
    (parent / "weights").write_text("weights")
    story.sign(start={"from": str(parent)})
    story.init()
    answer = ask(story, capsys, "launch", SLUG, "--json")
    assert answer.code == 1
    assert mentions(str(answer.finding("incomplete-start-checkpoint")), "metadata.json", "JSON")
    assert story.starts == []


@pytest.mark.thorough
def test_not_a_number_and_a_torn_last_line_in_the_metrics(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job()
    with (story.root / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "train/loss": NaN}\n{"step": 5, "train/lo')
    capsys.readouterr()
    code = story.tick("--json")
    answer = Answer(code, *capsys.readouterr())
    assert (
        code == 1
        and answer.document["progress"] == "~5/4"
        and answer.document["monitor"] == "fresh"
    )
    assert answer.finding("not-finite")["subject"] == "train/loss"
    status = ask(story, capsys, "status", SLUG, "--json").document
    assert [alert["check"] for alert in status["alerts"] if alert["state"] == "firing"] == [
        "not-finite"
    ]


@pytest.mark.thorough
def test_a_file_name_that_is_not_utf8(story: Story, capsys: CAPTURE) -> None:
    story.init()
    odd = story.work / os.fsdecode(b"data-\xff.txt")
    odd.write_text("untracked")
    finding = ask(story, capsys, "preflight", SLUG, "--json").finding("dirty-tree")
    assert "data-\\xff.txt" in str(finding["details"]) + finding["message"]
    story.publish()
    assert ask(story, capsys, "launch", SLUG, "--no-babysit", "--json").code == 0
    story.wait_for_end()
    assert ask(story, capsys, "babysit", SLUG, "--once", "--json").document["run"] == "finished"


BAD_CONFIGS = {
    "missing in the commit": (
        {"config": {"files": ["nope.toml"]}},
        "nope.toml is not in commit",
        3,
    ),
    "outside the repository": (
        {"config": {"files": ["../x.toml"]}},
        "lies outside the repository",
        3,
    ),
    "a missing key": ({"final_step": "trainer.nope"}, "trainer.nope is missing in config.toml", 1),
    "a key that is no integer": ({"final_step": "trainer"}, "trainer is {'seed': 7}", 1),
    "no such program": ({"config": {"command": ["herorun-no-such-program"]}}, "was not found", 3),
    "a program that prints no JSON": (
        {"config": {"command": ["echo", "hello"]}},
        "one JSON object",
        3,
    ),
}


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_a_bad_config_is_named(story: Story, capsys: CAPTURE, name: str) -> None:
    changes, target, code = BAD_CONFIGS[name]
    story.sign(**changes)
    story.init()
    answer = ask(story, capsys, "launch", SLUG, "--json")
    assert (answer.code, story.starts) == (code, [])
    assert target in answer.finding("unknown-final-step")["message"]


def test_a_malformed_config_file(story: Story, capsys: CAPTURE) -> None:
    (story.work / "config.toml").write_text("[[[")
    story.publish()
    story.init()
    finding = ask(story, capsys, "preflight", SLUG, "--json").finding("unknown-final-step")
    assert "config.toml: " in finding["message"] and "line 1" in finding["message"]


# --- the record -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_damaged_journal_stops_every_act_and_is_not_touched(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job()
    story.tamper(".jsonl", lambda text: text.replace("show the whole path", "show another path"))
    _nobody_acts(story, capsys, 1, ("damaged", ".jsonl:1", "`herorun verify tiny`"))
    assert ask(story, capsys, "babysit", SLUG, "--once", "--json").code == 1
    verified_answer = ask(story, capsys, "logbook", "verify", SLUG, "--json")
    assert verified_answer.code == 1 and verified_answer.document["verdict"] == "blocked"


@pytest.mark.thorough
def test_a_newer_journal_is_only_looked_at(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job()
    story.tamper(".jsonl", lambda text: text + '{"v":2}\n')
    _nobody_acts(
        story, capsys, 2, ("newer than this herorun", "journal version 2", "Upgrade herorun")
    )
    before = story.run.record.tip
    look = ask(story, capsys, "babysit", SLUG, "--once", "--json")
    assert (look.code, look.document["monitor"]) == (3, "partial")
    assert mentions(str(look.document["doubts"]), "newer", "herorun")
    assert story.run.record.tip == before
    assert ask(story, capsys, "status", SLUG, "--json").document["run"] == "finished"
    assert ask(story, capsys, "logbook", "show", SLUG).code == 0
    assert ask(story, capsys, "logbook", "verify", SLUG, "--json").code == 3


def _nobody_acts(story: Story, capsys: CAPTURE, code: int, target: tuple[str, ...]) -> None:
    before = (git(story.work, "for-each-ref"), story.comments, sorted(story.data.rglob("*")))
    for words in (("init", SLUG), ("launch", SLUG, "--json"), ("seal", SLUG, "--json"), NOTE):
        answer = ask(story, capsys, *words)
        assert answer.code == code, words
        assert [part for part in target if story.shown_commands(part) not in answer.err] == []
    after = (git(story.work, "for-each-ref"), story.comments, sorted(story.data.rglob("*")))
    assert after == before


# --- out of turn ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_what_comes_too_early_says_what_comes_first(story: Story, capsys: CAPTURE) -> None:
    for words, code, target in (
        (NOTE, 1, "`herorun init tiny`"),
        (("logbook", "show", SLUG), 2, "`herorun init tiny`"),
        (("logbook", "verify", SLUG, "--json"), 2, "`herorun init tiny`"),
        (("babysit", SLUG), 2, "`herorun launch tiny`"),
        (("babysit", SLUG, "--once", "--json"), 2, "`herorun launch tiny`"),
        (("babysit",), 2, "`herorun launch tiny`"),
    ):
        answer = ask(story, capsys, *words)
        assert (answer.code, bool(answer.out)) == (code, "--json" in words), words
        assert story.shown_commands(target) in answer.err
    unlogged_answer = ask(story, capsys, "launch", SLUG, "--json")
    assert (
        unlogged_answer.code == 1
        and "herorun init tiny" in unlogged_answer.finding("no-record")["fix"]
    )
    unlaunched_answer = ask(story, capsys, "seal", SLUG, "--json")
    assert unlaunched_answer.code == 1 and unlaunched_answer.document["tag"] is None


@pytest.mark.thorough
def test_a_sealed_run_admits_no_instance(story: Story, capsys: CAPTURE) -> None:
    story.run_to_seal()
    answer = ask(story, capsys, "launch", SLUG, "--json")
    assert answer.code == 1 and "seal-1" in answer.finding("sealed-run")["message"]
    assert len(story.starts) == 1
    assert ask(story, capsys, "launch", SLUG).out.splitlines()[-1].endswith("explain sealed-run")


@pytest.mark.parametrize("content", [b"nonsense", b"\xff\xfe", b"[]", b'{"schema": 1}', b""])
def test_a_plan_file_that_is_none(story: Story, capsys: CAPTURE, content: bytes) -> None:
    story.init()
    plan = story.home / "plan.json"
    plan.write_bytes(content)
    answer = ask(story, capsys, "launch", SLUG, "--plan", str(plan), "--json")
    assert (
        answer.code == 2
        and mentions(answer.err, f"{plan}", "plan")
        and f"preflight {SLUG} --out" in answer.err
    )
    assert story.starts == []


def test_a_pipe_as_a_plan_is_not_waited_for(story: Story, capsys: CAPTURE) -> None:
    story.init()
    pipe = story.home / "plan.json"
    os.mkfifo(pipe)
    for words in (("launch", SLUG, "--plan"), ("checkpoints", "prune", SLUG, "--plan")):
        answer = ask(story, capsys, *words, str(pipe), "--json")
        assert answer.code == 2 and mentions(answer.err, "regular", "file"), words


def test_a_link_out_of_the_repository_is_no_state_folder(story: Story, capsys: CAPTURE) -> None:
    """A cloned repository may bring one: what is private would be written wherever it says."""
    outside = story.home / "outside"
    outside.mkdir()
    shutil.rmtree(story.work / ".herorun", ignore_errors=True)
    (story.work / ".herorun").symlink_to(outside)
    for words in (("init", SLUG), ("launch", SLUG), ("babysit", SLUG, "--once"), ("status", SLUG)):
        answer = ask(story, capsys, *words, "--json")
        assert answer.code == 2 and mentions(answer.err, "link", f"{outside}"), words
    assert list(outside.iterdir()) == [] and story.starts == []


# --- the issue ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["init", "launch"])
def test_a_lost_issue_page_is_opened_again(story: Story, capsys: CAPTURE, command: str) -> None:
    story.init()
    page = story.work / ".herorun" / SLUG / "issue.md"
    page.unlink()
    assert (story.init if command == "init" else story.launch)() == 0
    assert mentions(page.read_text(), "earlier", "entries")
    assert len(story.starts) <= 1


# --- really from outside --------------------------------------------------------------------------


def herorun(story: Story, *words: str, stdout: int = subprocess.PIPE) -> Answer:
    argv = [sys.executable, "-m", "herorun", "-C", str(story.work), *words]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.run(
        argv, stdout=stdout, stderr=subprocess.PIPE, env=env, text=True, check=False
    )
    return check_answer(Answer(process.returncode, process.stdout or "", process.stderr), words)


@pytest.mark.thorough
def test_a_bad_contract_in_a_process_of_its_own(story: Story) -> None:
    (story.work / "runs" / "tiny.toml").write_text("slug = 1\n")
    answer = herorun(story, "preflight", SLUG, "--json")
    assert (answer.code, answer.document["exit_code"]) == (2, 2)
    assert "`slug`" in answer.err and mentions(answer.err, "missing", "[command]")


@pytest.mark.thorough
def test_a_reader_that_goes_away_ends_it_quietly(story: Story) -> None:
    """As `herorun logbook show tiny | head -1` does; and a gate that nobody heard has not said
    "clear".
    """
    story.init()
    for words in (("logbook", "show", SLUG), ("preflight", SLUG)):
        reader, writer = os.pipe()
        os.close(reader)
        answer = herorun(story, *words, stdout=writer)
        os.close(writer)
        assert (answer.code, answer.err) == (141, "")


@pytest.mark.thorough
def test_a_full_disk_under_the_output_is_reported(story: Story) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    answer = herorun(story, "status", SLUG, stdout=full)
    os.close(full)
    assert answer.code == 3 and mentions(answer.err, "space", "device")


def test_among_several_runs_each_fault_keeps_its_line(story: Story, capsys: CAPTURE) -> None:
    path = story.work / "runs" / "tiny.toml"
    path.write_text(path.read_text().replace("slug =", "slg = 1\nslug =") + "\n[babysit.budget]\n")
    answer = ask(story, capsys, "status")
    assert [line[:7] for line in answer.err.splitlines()] == ["herorun", "  line ", "  line "]
    below = ask(story, capsys, "status", "--all").out.splitlines()[-3:]
    assert [line[:7] for line in below] == ["tiny: r", "  line ", "  line "]
    assert mentions(ask(story, capsys, "watch").out, "2 errors:\n  line ", "slg", "\n  line ")
