"""Beginning the record and the issue: on a branch of its own, and again where the page is lost."""

import shutil
from typing import Any

import pytest

from commands.answers import ask
from herorun.core.errors import WrongUse
from herorun.operations.record.init import reopen
from stories import SLUG, Story, git, note
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]

# --- the branch -----------------------------------------------------------------------------------


@pytest.mark.parametrize("branch", ["main", "master", "release"])
def test_the_record_continues_no_branch_that_holds_other_things(
    story: Story, capsys: CAPTURE, branch: str
) -> None:
    git(story.work, "push", "-q", "origin", "HEAD:refs/heads/release")
    story.sign(logbook={"branch": branch})
    before = git(story.origin, "for-each-ref")
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and f"[logbook] branch = '{branch}'" in answer.err
    assert git(story.origin, "for-each-ref") == before
    assert story.run.record.tip is None and not (story.state / "issue.md").exists()


def test_also_when_the_branch_is_named_later(story: Story) -> None:
    """The record is begun without a remote's word; the push must still not go on top of code."""
    git(story.work, "remote", "rename", "origin", "away")
    assert story.herorun("init", SLUG) == 0
    git(story.work, "remote", "rename", "away", "origin")
    for branch in ("main", "trunk"):
        story.sign(logbook={"branch": branch})
        git(story.work, "push", "-q", "origin", "HEAD:refs/heads/trunk")
        before = git(story.origin, "for-each-ref")
        push = story.run.record.push()
        assert f"[logbook] branch = '{branch}'" in push.why
        assert git(story.origin, "for-each-ref") == before


def test_another_runs_record_is_other_things(story: Story, capsys: CAPTURE) -> None:
    other = Story(story.home / "other").begin()
    other.init()
    git(other.work, "push", "-q", str(story.origin), "refs/herorun/record/tiny:refs/heads/logs")
    path = story.work / "runs" / "small.toml"
    path.write_text((story.work / "runs" / "tiny.toml").read_text().replace('"tiny"', '"small"', 1))
    path.write_text(path.read_text() + '\n[logbook]\nbranch = "logs"\n')
    story.publish()
    answer = ask(story, capsys, "init", "small")
    assert answer.code == 2 and mentions(answer.err, "[logbook]", "=", "origin")


def test_a_branch_of_the_contracts_choice_is_used_and_found_again(
    story: Story, capsys: CAPTURE
) -> None:
    story.sign(logbook={"branch": "logs"})
    assert story.herorun("init", SLUG) == 0
    other = story.clone("elsewhere")
    assert other.init() == 0
    assert (
        other.run.record.tip
        == story.run.record.tip
        == git(story.origin, "rev-parse", "logs").strip()
    )
    assert mentions(ask(story, capsys, "status", SLUG).out, "record", "branch logs at")


# --- the issue's page -----------------------------------------------------------------------------


def test_a_lost_page_is_opened_again_and_says_so(story: Story) -> None:
    story.herorun("init", SLUG)
    shutil.rmtree(story.work / ".herorun")
    reopen(story.run)
    page = (story.state / "issue.md").read_text()
    assert mentions(page, "# Run", "tiny", "created again")
    assert git(story.work, "status", "--porcelain") == ""
    reopen(story.run)
    assert (story.state / "issue.md").read_text() == page


def test_in_another_clone_there_is_a_page_too(story: Story) -> None:
    story.herorun("init", SLUG)
    for way in ("reopen", "init"):
        other = story.clone(way)
        run = other.run
        run.record.fetch()
        assert other.init() == 0 if way == "init" else reopen(run) is None
        assert other.comments == ["issue/tiny"]


def test_a_page_that_is_there_stays_as_people_left_it(story: Story) -> None:
    story.herorun("init", SLUG)
    page = story.state / "issue.md"
    page.write_text(page.read_text() + "\na word of mine\n")
    before = page.read_text(), page.stat().st_mtime_ns
    reopen(story.run)
    assert story.herorun("init", SLUG) == 0
    assert (page.read_text(), page.stat().st_mtime_ns) == before


def test_a_page_from_before_is_adopted_and_not_called_created(
    story: Story, capsys: CAPTURE
) -> None:
    story.herorun("init", SLUG)
    page = story.state / "issue.md"
    text = page.read_text()
    git(story.work, "update-ref", "-d", "refs/herorun/record/tiny")
    git(story.origin, "update-ref", "-d", "refs/heads/herorun/tiny")
    capsys.readouterr()
    assert story.herorun("init", SLUG) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        f"adopted issue {page}" in lines
        and [line for line in lines if line.startswith("created issue")] == []
    )
    assert page.read_text() == text


def test_before_the_record_is_begun_no_page_is_opened(story: Story) -> None:
    reopen(story.run)
    assert not (story.work / ".herorun").exists()


# --- a record of a newer herorun ------------------------------------------------------------------


@pytest.mark.thorough
def test_a_newer_record_is_looked_at_and_not_written(story: Story, capsys: CAPTURE) -> None:
    story.run_to_success()
    story.tamper(".jsonl", lambda text: text + '{"v":2,"kind":"Rewound","event":{"to":7}}\n')
    story.tamper(
        "tiny.md", lambda text: text + "\n### 2026-11-21 00:02 UTC - Rewound\n\n- Status: new\n"
    )
    status = ask(story, capsys, "status", SLUG, "--json")
    assert status.code == 0 and status.document["run"] == "finished"
    assert "Rewound" in ask(story, capsys, "logbook", "show", SLUG).out
    verified_answer = ask(story, capsys, "logbook", "verify", SLUG, "--json")
    assert (verified_answer.code, verified_answer.document["faults"]) == (3, [])
    assert mentions(str(verified_answer.document["notes"]), "1 journal", "newer")
    assert mentions(ask(story, capsys, "verify", SLUG).out, "next", "upgrade", f"verify {SLUG}")
    assert story.run.record.memory().newer
    with pytest.raises(WrongUse, match=r"2.*therefore"):
        story.run.record.append(note("mine"))


@pytest.mark.thorough
def test_nothing_of_ours_goes_on_top_of_a_newer_record(story: Story) -> None:
    story.herorun("init", SLUG)
    other = story.clone("elsewhere")
    other.init()
    other.tamper(".jsonl", lambda text: text + '{"v":2}\n')
    git(other.work, "push", "-q", "origin", "refs/herorun/record/tiny:refs/heads/herorun/tiny")
    before = git(story.origin, "for-each-ref")
    story.run.record.append(note("mine"))
    assert "Upgrade herorun" in story.run.record.push().why
    assert git(story.origin, "for-each-ref") == before
    assert [line.event.kind for line in story.run.record.lines()][-1] == "Noted"


def test_a_contract_that_nobody_filled_in_begins_no_record(story: Story, capsys: CAPTURE) -> None:
    assert story.herorun("init", "another") == 0
    assert story.herorun("init", "another") == 2
    assert mentions(capsys.readouterr().err, "herorun init", "fill")
    assert git(story.work, "for-each-ref", "refs/herorun/record/another") == ""


# --- what the head says of the contract -----------------------------------------------------------

KEY_CONFIG = "[trainer]\nseed = 7\nnum_train_steps = 4\n"


def head(story: Story) -> str:
    return story.run.record.logbook().partition("\n## Launched Instances")[0]


def test_an_uncommitted_contract_begins_no_record(story: Story, capsys: CAPTURE) -> None:
    path = story.work / "runs" / "tiny.toml"
    path.write_text(path.read_text() + "\n# an afterthought\n")
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and mentions(answer.err, "runs/tiny.toml", "committed")
    assert story.run.record.tip is None and not (story.state / "issue.md").exists()
    story.publish()
    assert story.herorun("init", SLUG) == 0


def test_a_final_step_that_no_key_holds_begins_no_record(story: Story, capsys: CAPTURE) -> None:
    story.sign(final_step="trainer.num_train_stepz")
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2
    assert mentions(answer.err, "trainer.num_train_stepz", "missing", "config.toml")
    text = (story.work / "runs" / "tiny.toml").read_text()
    number = text[: text.index("final_step")].count("\n") + 1
    assert mentions(answer.err, f"runs/tiny.toml, line {number},", "final_step")
    assert story.run.record.tip is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"tracker": {"kind": "wandb", "entity": "lab", "project": "pre"}},
            "[tracker] wandb: unknown key `path`",
        ),
        ({"tracker": {"kind": "nope"}}, "no [tracker] kind = 'nope'"),
        ({"scheduler": {"no_such": 1}}, "[scheduler] local: unknown key `no_such`"),
        ({"checkpoints": {"layout": "nope"}}, "no [checkpoints] layout = 'nope'"),
    ],
    ids=["key", "tracker", "scheduler", "layout"],
)
def test_a_table_that_no_adapter_takes_begins_no_record(
    story: Story, capsys: CAPTURE, changes: dict[str, Any], why: str
) -> None:
    """Each later command would end with 2: `init` must not send a person on to them."""
    story.sign(**changes)
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and why in answer.err
    assert story.run.record.tip is None and not (story.state / "issue.md").exists()


def test_a_notifier_that_does_not_exist_begins_no_record(story: Story, capsys: CAPTURE) -> None:
    path = story.work / "runs" / f"{SLUG}.toml"
    path.write_text(path.read_text() + '\n[notify]\nkinds = ["nope"]\n')
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and mentions(answer.err, f"runs/{SLUG}.toml", "kind = 'nope'")
    assert not (story.state / "issue.md").exists()


def test_the_final_step_is_the_number_and_its_key_and_jsonl_is_not_called_wandb(
    story: Story,
) -> None:
    (story.work / "config.toml").write_text(KEY_CONFIG)
    story.sign(final_step="trainer.num_train_steps")
    assert story.herorun("init", SLUG) == 0
    for text in (head(story), (story.state / "issue.md").read_text()):
        assert "4 (trainer.num_train_steps in config.toml)" in text
        assert "Tracker" in text and "W&B" not in text
    assert mentions(head(story), "- Final step: 4 (trainer")
    assert mentions(head(story), "- Tracker: jsonl", "tiny")


def test_a_contract_that_changed_before_the_launch_amends_the_head(
    story: Story, capsys: CAPTURE
) -> None:
    story.herorun("init", SLUG)
    before = story.run.contract.goal
    story.sign(goal="show more", stop_when="loss > 4")
    assert story.launch() == 0
    story.wait_for_end()
    text = head(story)
    assert mentions(text, f"- Goal: {before}\n") and " UTC - amended by tiny-1" in text
    amended_text = f"Goal: {before} -&gt; show more"
    assert f"- {amended_text}" in text
    issue = (story.state / "issue.md").read_text()
    assert mentions(issue, "Contract amended", amended_text, "Stop/escalation criteria")
    assert story.herorun("logbook", "verify", SLUG) == 0
    story.tamper("tiny.md", lambda page: page.replace("show more", "show less"))
    assert story.herorun("logbook", "verify", SLUG) == 1
    assert mentions(capsys.readouterr().out, "entry", "changed")


@pytest.mark.thorough
def test_an_unchanged_contract_amends_nothing(story: Story) -> None:
    story.run_first_job()
    assert "amended" not in head(story)
    assert not story.events("Amended")


def test_a_link_to_no_contract_is_named_and_left(story: Story, capsys: CAPTURE) -> None:
    link = story.work / "runs" / "linked.toml"
    link.symlink_to("nowhere.toml")
    answer = ask(story, capsys, "init", "linked")
    assert answer.code == 2 and str(link) in answer.err
    assert link.is_symlink() and not link.exists()


# --- the logbook's path ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["notes/tiny.md", "TINY.md"])
def test_the_logbook_lies_where_the_contract_says_and_stays_there(story: Story, path: str) -> None:
    story.sign(logbook={"path": path})
    assert story.herorun("init", SLUG) == 0
    assert (
        path in git(story.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny").split()
    )
    assert path in (story.state / "issue.md").read_text()
    story.sign(logbook={"path": "elsewhere.md"})
    assert story.run.record.logbook_path == path
    story.run.record.append(note("mine"))
    assert "mine" in story.run.record.logbook()
    assert story.herorun("logbook", "verify", SLUG) == 0
    other = story.clone("elsewhere")
    assert other.init() == 0 and other.run.record.logbook_path == path


@pytest.mark.parametrize(
    "path", ["/abs.md", "../up.md", "a//b.md", "notes.txt", ".git/x.md", "x_002.md", ".agents/logbooks/tiny.journal/x.md"]  # noqa: E501  # one entry of a table, or one recorded value
)  # fmt: skip
def test_what_is_no_path_of_a_logbook(story: Story, capsys: CAPTURE, path: str) -> None:
    story.sign(logbook={"path": path})
    answer = ask(story, capsys, "init", SLUG)
    assert answer.code == 2 and "[logbook] path" in answer.err.replace("`", "").replace(
        "logbook.path", "[logbook] path"
    )
