"""`herorun waive`: a block for a person to sign, on standard output and nowhere else."""

import tomllib
from datetime import timedelta

import pytest

from commands.answers import ask
from herorun.core.errors import WrongUse
from herorun.runs import open_run
from herorun.system.clock import now
from stories import SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def test_it_prints_what_nobody_has_signed_yet(story: Story, capsys: CAPTURE) -> None:
    folder = story.work / "runs"
    (folder / f"{SLUG}.toml").rename(folder / f"{SLUG}.bak")  # so that there is no run
    answer = ask(story, capsys, "waive", "dirty-tree", "--reason", "notes", "--days", "3")
    (block,) = tomllib.loads(answer.out)["waiver"]
    expires = block.pop("expires")
    assert block == {"check": "dirty-tree", "reason": "notes", "approved_by": ""}
    assert timedelta(days=3) - timedelta(minutes=1) < expires - now() <= timedelta(days=3)
    assert (answer.code, "runs/<slug>.toml" in answer.err, "commit it" in answer.err) == (
        0,
        True,
        True,
    )


def test_a_name_that_no_check_has_is_refused_with_the_nearest(
    story: Story, capsys: CAPTURE
) -> None:
    answer = ask(story, capsys, "waive", "dirty-tre")
    assert (answer.code, answer.out) == (2, "")
    assert mentions(answer.err, "mean", "dirty-tree")


def test_with_a_run_each_open_finding_is_proposed_with_its_subject(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    roots = [story.root, story.data / "tiny-temporary"]
    for root in roots:
        root.mkdir()
        (root / "something").write_text("")
    blocks = tomllib.loads(ask(story, capsys, "waive", "output-root-in-use", SLUG).out)["waiver"]
    assert [block["subject"] for block in blocks] == [str(root) for root in roots]
    one = ask(story, capsys, "waive", "output-root-in-use", SLUG, "--subject", "x").out
    assert [block["subject"] for block in tomllib.loads(one)["waiver"]] == ["x"]


def test_the_only_run_is_the_one_that_is_meant(story: Story, capsys: CAPTURE) -> None:
    story.init()
    story.root.mkdir()
    (story.root / "something").write_text("")
    answer = ask(story, capsys, "waive", "output-root-in-use")
    (block,) = tomllib.loads(answer.out)["waiver"]
    assert block["subject"] == str(story.root)
    assert f"runs/{SLUG}.toml" in answer.err


def test_what_is_not_open_is_reported(story: Story, capsys: CAPTURE) -> None:
    story.init()
    answer = ask(story, capsys, "waive", "dirty-tree", SLUG)
    assert mentions(answer.err, "dirty-tree", "open")
    assert len(tomllib.loads(answer.out)["waiver"]) == 1


def test_what_could_not_be_read_is_proposed_as_such(story: Story, capsys: CAPTURE) -> None:
    story.init()
    story.origin.rename(story.home / "away")
    (block,) = tomllib.loads(ask(story, capsys, "waive", "unpushed-commit", SLUG).out)["waiver"]
    assert block["covers_unknown"] is True


def test_it_edits_nothing(story: Story, capsys: CAPTURE) -> None:
    story.init()
    (story.work / "notes").write_text("todo")
    before = (
        (story.work / "runs" / "tiny.toml").read_text(),
        git(story.work, "status", "--porcelain"),
    )
    ask(story, capsys, "waive", "dirty-tree", SLUG)
    assert before == (
        (story.work / "runs" / "tiny.toml").read_text(),
        git(story.work, "status", "--porcelain"),
    )


@pytest.mark.thorough
def test_the_block_counts_once_it_is_signed_and_committed(story: Story, capsys: CAPTURE) -> None:
    story.init()
    contract = story.work / "runs" / "tiny.toml"
    (story.work / "notes").write_text("todo")
    block = ask(story, capsys, "waive", "dirty-tree", SLUG).out
    (story.work / "notes").unlink()
    contract.write_text(f"{contract.read_text()}\n{block}")
    for key, text in (("approved_by", "@dri"), ("reason", "notes")):
        with pytest.raises(WrongUse, match=key):
            open_run(SLUG, story.work)
        contract.write_text(contract.read_text().replace(f'{key} = ""', f'{key} = "{text}"'))
    story.publish()
    (story.work / "notes").write_text("todo")
    answer = ask(story, capsys, "preflight", SLUG, "--json")
    assert answer.finding("dirty-tree")["waiver"]["approved_by"] == "@dri"
    assert answer.code == 0


# --- waivers that do nothing ----------------------------------------------------------------------


def sign_waiver(check: str, **changes: str) -> dict[str, str]:
    fields = {"reason": "a test", "approved_by": "@dri", "expires": "2999-01-01T00:00:00Z"}
    return {"check": check, **fields, **changes}


def test_waivers_that_do_nothing_are_reported_and_stop_nothing(
    story: Story, capsys: CAPTURE
) -> None:
    old = {"expires": "2020-01-01T00:00:00Z"}
    story.sign(
        waiver=[
            sign_waiver("dirty-tree"),
            sign_waiver("no-remote", **old),
            sign_waiver("open-alerts"),
            sign_waiver("drity-tree"),
        ]
    )
    story.init()
    answer = ask(story, capsys, "preflight", SLUG, "--json")
    findings = [f for f in answer.document["findings"] if f["check"] == "unused-waiver"]
    assert [f["subject"] for f in findings] == ["no-remote", "dirty-tree", "drity-tree"]
    assert (answer.code, answer.document["verdict"]) == (0, "clear")


def test_a_waiver_that_signs_something_is_not_told(story: Story, capsys: CAPTURE) -> None:
    story.sign(waiver=[sign_waiver("dirty-tree")])
    story.init()
    (story.work / "notes").write_text("todo")
    findings = ask(story, capsys, "preflight", SLUG, "--json").document["findings"]
    assert [f["outcome"] for f in findings if f["check"] == "unused-waiver"] == ["pass"]


@pytest.mark.thorough
def test_the_seal_reports_its_own(story: Story, capsys: CAPTURE) -> None:
    story.sign(waiver=[sign_waiver("open-alerts"), sign_waiver("dirty-tree")])
    story.run_to_success()
    answer = ask(story, capsys, "seal", SLUG, "--json")
    (finding,) = [f for f in answer.document["findings"] if f["check"] == "unused-waiver"]
    assert (answer.code, finding["subject"], finding["outcome"]) == (0, "open-alerts", "fail")


def test_the_other_order_is_reported(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "waive", SLUG, "dirty-tree")
    assert (answer.code, answer.out) == (2, "")
    assert story.shown_commands(f"`herorun waive dirty-tree {SLUG}`") in answer.err


@pytest.mark.parametrize(
    ("approvals", "committer"), [("recorded", "anyone"), ("committed", "blocks")]
)
def test_the_note_names_the_approver_and_who_commits(
    story: Story, capsys: CAPTURE, approvals: str, committer: str
) -> None:
    story.init()
    story.sign(policy={"approvals": approvals})
    answer = ask(story, capsys, "waive", "dirty-tree", SLUG)
    assert mentions(answer.err, "approved_by", "@dri", committer)
