"""`herorun fork`: a new run with its own contract, logbook and issue, and each run names the
other.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.answers import ask
from herorun.runs import open_run
from memory_folder import in_memory
from stories import CRASH, SLUG, Story

CAPTURE = pytest.CaptureFixture[str]
NEW = "tiny-b"
FORK = ("fork", SLUG, NEW)
REASON = "fp8 from here on"


@pytest.fixture(scope="module")
def forked_story() -> Iterator[Story]:
    """Forked, the contract committed as it was written, begun, and launched."""
    with tempfile.TemporaryDirectory(prefix="herorun-", dir=in_memory()) as folder:
        story = Story(Path(folder).resolve()).begin(waiver=[SIGNED_WAIVER])
        story.run_first_job(CRASH)
        assert story.herorun(*FORK, "--reason", REASON) == 0
        story.publish()
        assert story.herorun(*FORK, "--launch", "--no-babysit") == 0
        yield story
        story.end()


SIGNED_WAIVER = {
    "check": "dirty-tree",
    "reason": "known",
    "approved_by": "@dri",
    "expires": "2999-01-01T00:00:00Z",
}


def test_the_fork_starts_from_the_parents_checkpoint_under_its_own_name(
    forked_story: Story,
) -> None:
    run = open_run(NEW, forked_story.work)
    contract = run.contract
    assert (contract.tracker.id, contract.output.root) == (NEW, f"{forked_story.data}/{NEW}")
    assert (contract.start.from_, contract.start.source_run) == (
        f"{forked_story.root}/step-2",
        SLUG,
    )
    assert contract.waiver == ()  # signed for another run
    assert run.record.memory().current is not None
    assert [line.partition(" ")[2] for line in forked_story.starts] == [
        "scratch",
        f"{forked_story.root}/step-2",
    ]


def test_each_names_the_other_with_all_that_counts(forked_story: Story) -> None:
    new = open_run(NEW, forked_story.work)
    pages = {SLUG: forked_story.state / "issue.md", NEW: new.state / "issue.md"}
    shas = [
        forked_story.run.record.memory().instances[0].commit,
        new.record.memory().instances[0].commit,
    ]
    for slug, other in ((SLUG, NEW), (NEW, SLUG)):
        run = forked_story.run if slug == SLUG else new
        for text in (pages[slug].read_text(), run.record.logbook()):
            assert str(pages[other]) in text and f"branch herorun/{other}" in text
            assert f"- Reason: {REASON}" in text and f"{forked_story.root}/step-2" in text
            assert (
                f"root {forked_story.root}," in text and f"root {forked_story.data}/{NEW}," in text
            )
            assert all(sha in text for sha in shas)
    assert (
        forked_story.herorun("logbook", "verify", NEW)
        == forked_story.herorun("logbook", "verify", SLUG)
        == 0
    )


def test_said_again_it_is_reported_once(forked_story: Story) -> None:
    page = (forked_story.state / "issue.md").read_text()
    assert forked_story.herorun(*FORK) == 0
    assert (forked_story.state / "issue.md").read_text() == page


def test_what_is_no_fork(forked_story: Story, capsys: CAPTURE) -> None:
    path = forked_story.work / "runs" / f"{NEW}.toml"
    text = path.read_text()
    try:
        for words, change, why in (
            (FORK, ('slug = "tiny-b"', 'slug = "tiny-b"\n'), "is not committed"),
            (FORK, (f'source_run = "{SLUG}"', 'source_run = "other"'), "is not a fork of tiny"),
            ((*FORK, "--from", "4"), ("", ""), "not from step 4"),
            (("fork", SLUG, SLUG), ("", ""), "is no slug for a new run"),
            (("fork", SLUG, "tiny-c"), ("", ""), "--reason"),
            (
                ("fork", SLUG, "tiny-c", "--reason", "x", "--from", "3"),
                ("", ""),
                "no checkpoint of that step",
            ),
        ):
            path.write_text(text.replace(*change) if change[0] else text)
            answer = ask(forked_story, capsys, *words)
            assert answer.code in (1, 2) and why in answer.err, answer.err
    finally:
        path.write_text(text)
    assert not (forked_story.work / "runs" / "tiny-c.toml").exists()
