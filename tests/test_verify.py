"""`logbook verify`: a record that only ever grew is clear, and everything else is found."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from herorun.core.canonical_json import canonical, digest
from herorun.core.record import logbook
from herorun.operations.record.verify import open_record, verify_record
from stories import SLUG, Story, git, note
from wording import mentions

REF = "refs/herorun/record/tiny"


@pytest.fixture
def healthy_record(story: Story) -> Story:
    """A healthy record: begun, three notes, pushed."""
    story.init()
    for word in ("one", "two", "three"):
        story.run.record.append(note(word))
    assert story.run.record.push()
    return story


def verdict(story: Story) -> str:
    return verify_record(open_record(SLUG, story.work)).verdict


def faults(story: Story) -> str:
    verification = verify_record(open_record(SLUG, story.work))
    assert verification.verdict == ("blocked" if verification.faults else "clear")
    return "\n".join(verification.faults)


def test_a_healthy_record_is_clear(healthy_record: Story) -> None:
    verification = verify_record(open_record(SLUG, healthy_record.work))
    assert (
        verification.verdict,
        verification.entries,
        verification.commits,
        verification.faults,
    ) == ("clear", 4, 4, ())
    (dated_note,) = verification.notes  # it was begun now, and its notes are of noon on another day
    assert mentions(dated_note, "1 event", "came")


def test_it_is_verified_in_a_fresh_clone_and_without_the_contract(healthy_record: Story) -> None:
    other = healthy_record.clone("elsewhere")
    (other.work / "runs" / "tiny.toml").unlink()
    assert verdict(other) == "clear"


# --- the journal ----------------------------------------------------------------------------------


def lines(edit: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    return lambda text: "".join(f"{line}\n" for line in edit(text.splitlines()))


def forge_line(text: str, prev: str | None = None, **changes: Any) -> str:
    """A line with another content, its own id and hash made again."""
    body = json.loads(text)
    body.pop("hash")
    body["event"] |= changes
    body["id"] = digest({"kind": body["kind"], **body["event"]})[7:23]
    body["prev"] = body["prev"] if prev is None else prev
    return canonical({**body, "hash": digest(body)})


def rechain(texts: list[str]) -> list[str]:
    """The whole chain made again, as somebody would who knows how it is made."""
    prev, out = "", []
    for text in texts:
        out.append(forge_line(text, prev))
        prev = json.loads(out[-1])["hash"]
    return out


TAMPERINGS: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "edited": (
        lambda all_: [all_[0], all_[1].replace('"one"', '"won"'), *all_[2:]],
        "it was changed",
    ),
    "edited, its hash made anew": (
        lambda all_: [all_[0], forge_line(all_[1], title="won"), *all_[2:]],
        "does not follow the line before it",
    ),
    "the whole chain made anew": (
        lambda all_: rechain([all_[0], forge_line(all_[1], title="won"), *all_[2:]]),
        "earlier lines were changed",
    ),
    "reordered": (lambda all_: [all_[0], all_[2], all_[1], all_[3]], "earlier lines were changed"),
    "one deleted": (lambda all_: [all_[0], *all_[2:]], "does not follow the line before it"),
    "the last one deleted": (lambda all_: all_[:-1], "earlier lines were changed"),
    "one twice": (lambda all_: [*all_, all_[-1]], "does not follow the line before it"),
    "one put in between": (lambda all_: [*all_[:2], '{"v":1}', *all_[2:]], "journal: "),
    "not JSON": (lambda all_: [*all_, "\x00\x7f{"], "not a journal line"),
    "spaces": (lambda all_: [*all_[:-1], all_[-1].replace('":', '": ')], "it was changed"),
    "only blank lines at the end": (lambda all_: [*all_, ""], "not a journal line"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampered_journal_is_found(healthy_record: Story, name: str) -> None:
    edit, target = TAMPERINGS[name]
    healthy_record.tamper(".jsonl", lines(edit))
    assert target in faults(healthy_record)


def test_not_to_launch_after_a_fault_is_shown_under_quiet_too(
    healthy_record: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy_record.tamper(".jsonl", lines(TAMPERINGS["spaces"][0]))
    capsys.readouterr()
    assert healthy_record.herorun("verify", SLUG, "-q") == 1
    assert mentions(capsys.readouterr().out, "not launch")


def test_a_line_that_the_logbook_does_not_show_is_found(healthy_record: Story) -> None:
    last = healthy_record.lines[-1]
    more = forge_line(last.text, last.hash, title="four")
    healthy_record.tamper(".jsonl", lambda text: f"{text}{more}\n")
    assert mentions(faults(healthy_record), "entry", "event", f"{json.loads(more)['id']}")


def test_a_removed_segment_is_found(healthy_record: Story) -> None:
    _remove(healthy_record, ".jsonl")
    assert "was removed" in faults(healthy_record)


@pytest.mark.thorough
def test_a_removed_logbook_is_found(healthy_record: Story) -> None:
    _remove(healthy_record, "tiny.md")
    assert mentions(faults(healthy_record), "logbook", "removed")


def _remove(story: Story, ending: str) -> None:
    index = {"GIT_INDEX_FILE": str(story.home / "index")}
    git(story.work, "read-tree", REF, env=index)
    (name,) = [n for n in git(story.work, "ls-files", env=index).split() if n.endswith(ending)]
    git(story.work, "rm", "--cached", "-q", name, env=index)
    _commit(story, git(story.work, "write-tree", env=index).strip(), "-p", REF)


def _commit(story: Story, tree: str, *parents: str) -> None:
    commit = git(story.work, "commit-tree", tree, *parents, "-m", "by hand").strip()
    git(story.work, "update-ref", REF, commit)


FORGERIES: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "edited": (
        ".jsonl",
        lambda all_: rechain([all_[0], forge_line(all_[1], title="won"), *all_[2:]]),
    ),
    "reordered": (".jsonl", lambda all_: rechain([all_[0], all_[2], all_[1], all_[3]])),
    "deleted": (".jsonl", lambda all_: rechain([*all_[:2], all_[3]])),
    "the last one deleted": (".jsonl", lambda all_: all_[:-1]),
    "back-dated": (
        ".jsonl",
        lambda all_: rechain([*all_[:2], forge_line(all_[2], at="2025-12-31T12:00:00Z"), all_[3]]),
    ),
    "put in between with an old date": (
        ".jsonl",
        lambda all_: rechain(
            [*all_[:2], forge_line(all_[1], at="2025-12-31T12:00:00Z"), *all_[2:]]
        ),
    ),
    "forked": (
        ".jsonl",
        lambda all_: [*all_, forge_line(all_[2], json.loads(all_[1])["hash"], title="else")],
    ),
    "shown otherwise": (
        "tiny.md",
        lambda all_: [line.replace("Status: two", "Status: too") for line in all_],
    ),
    "not shown": ("tiny.md", lambda all_: all_[: all_.index("### 2026-01-01 12:00 UTC - three")]),
}


def test_whoever_clones_finds_what_was_forged_and_pushed(healthy_record: Story) -> None:
    """By a plain push, on top of the honest commits, and with all hashes made again."""
    honest, verdicts = git(healthy_record.work, "rev-parse", REF).strip(), {}
    for number, (name, (ending, edit)) in enumerate(FORGERIES.items()):
        healthy_record.tamper(ending, lines(edit))
        git(healthy_record.work, "push", "-q", "-f", "origin", f"{REF}:refs/heads/herorun/tiny")
        verdicts[name] = verdict(healthy_record.clone(f"clone-{number}"))
        git(healthy_record.work, "update-ref", REF, honest)
    git(healthy_record.work, "push", "-q", "-f", "origin", f"{REF}:refs/heads/herorun/tiny")
    assert verdict(healthy_record.clone("honest")) == "clear"
    assert verdicts == dict.fromkeys(FORGERIES, "blocked")


@pytest.mark.thorough
def test_whoever_clones_finds_a_rewritten_branch_by_the_seals_tag(healthy_record: Story) -> None:
    """All of it made again from its first commit on, and in harmony: but a seal names a commit that
    it lacks.
    """
    sealed_commit = git(healthy_record.work, "rev-parse", REF).strip()
    git(
        healthy_record.work,
        "tag",
        "-a",
        "herorun/tiny/seal-1",
        "-m",
        f'seal\n\n{{"record": "{sealed_commit}"}}',
        "HEAD",
    )
    git(healthy_record.work, "push", "-q", "origin", "herorun/tiny/seal-1")
    git(healthy_record.work, "update-ref", REF, f"{REF}~2")
    healthy_record.run.record.append(note("forged"))
    git(healthy_record.work, "push", "-q", "-f", "origin", f"{REF}:refs/heads/herorun/tiny")
    verification = verify_record(open_record(SLUG, healthy_record.clone("elsewhere").work))
    assert verification.verdict != "clear" and mentions(
        str(verification), "record", "herorun/tiny/seal-1"
    )


# --- the logbook ----------------------------------------------------------------------------------

EDITS: dict[str, tuple[Callable[[str], str], str]] = {
    "an entry": (
        lambda text: text.replace("- Status: two", "- Status: too"),
        "differs from its journal line",
    ),
    "an entry's mark": (
        lambda text: re.sub("hash=sha256:....", "hash=sha256:0000", text),
        "differs from",
    ),
    "an entry removed": (
        lambda text: text[: text.index("### 2026-01-01 12:00 UTC - three")],
        "is missing",
    ),
    "an entry by hand": (
        lambda text: f"{text.rstrip()}\n\n### 2026-01-02 12:00 UTC - mine\n\n- Status: fine\n",
        "the entry '2026-01-02 12:00 UTC - mine' has no journal line",
    ),
    "a mark that is not ours": (
        lambda text: f"{text}\n### x\n<!-- herorun event={'0' * 16} hash=sha256:{'0' * 64} -->\n",
        "names an event that the journal does not have",
    ),
    "the contract": (
        lambda text: text.replace("- DRI: @dri", "- DRI: @eve"),
        "Run Contract section was changed",
    ),
    "two entries swapped": (
        lambda text: text.replace("UTC - one", "UTC - x").replace("UTC - two", "UTC - one"),
        "changed, moved or removed",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", EDITS)
def test_an_edited_logbook_is_found(healthy_record: Story, name: str) -> None:
    edit, target = EDITS[name]
    healthy_record.tamper("tiny.md", edit)
    assert target in faults(healthy_record)


# --- a logbook of many pages ----------------------------------------------------------------------


@pytest.fixture
def long(healthy_record: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The same, gone on to a third page, pushed."""
    monkeypatch.setattr(logbook, "PAGE", 1200)
    healthy_record.run.record.append(*(note(f"more {number}") for number in range(12)))
    assert healthy_record.run.record.push()
    return healthy_record


PAGES: dict[str, tuple[Callable[[Story], object], str]] = {
    "an entry of a closed page edited": (
        lambda story: story.tamper(
            "_002.md", lambda text: text.replace("Status: more", "Status: less")
        ),
        "tiny_002.md was changed after it was closed",
    ),
    "an entry of the newest edited": (
        lambda story: story.tamper(
            "_003.md", lambda text: text.replace("Status: more", "Status: less")
        ),
        "differs from its journal line",
    ),
    "a page deleted": (lambda story: _remove(story, "_002.md"), "tiny_002.md was removed"),
    "the newest deleted": (
        lambda story: _remove(story, "_003.md"),
        "tiny_003.md, which does not exist",
    ),
}


@pytest.mark.thorough
def test_whoever_clones_finds_what_was_forged_on_a_later_page(long: Story) -> None:
    verification = verify_record(open_record(SLUG, long.clone("honest").work))
    assert (verification.verdict, verification.entries) == ("clear", 16)
    honest = git(long.work, "rev-parse", REF).strip()
    for number, (forge, target) in enumerate(PAGES.values()):
        forge(long)
        git(long.work, "push", "-q", "-f", "origin", f"{REF}:refs/heads/herorun/tiny")
        verification = verify_record(open_record(SLUG, long.clone(f"clone-{number}").work))
        assert verification.verdict == "blocked" and target in "\n".join(verification.faults)
        git(long.work, "update-ref", REF, honest)


@pytest.mark.thorough
def test_all_pages_are_shown(long: Story, capsys: pytest.CaptureFixture[str]) -> None:
    assert long.herorun("logbook", "show", SLUG) == 0
    output = capsys.readouterr().out
    assert (
        len(re.findall("^### ", output, re.MULTILINE)) == 15 and output.count("## Event Log") == 1
    )
    assert long.herorun("logbook", "verify", SLUG) == 0


# --- the branch -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_rewritten_history_is_found_by_its_anchors(healthy_record: Story) -> None:
    """All made again, journal and logbook in harmony: but what was pushed is not part of it."""
    tip = git(healthy_record.work, "rev-parse", REF).strip()
    git(healthy_record.work, "update-ref", REF, f"{tip}~2")
    healthy_record.run.record.append(note("forged"))
    messages = faults(healthy_record)
    assert mentions(messages, "pushed", "last") and mentions(messages, "rewritten", "forked")
    git(healthy_record.work, "update-ref", "-d", "refs/herorun/pushed/tiny")
    assert mentions(faults(healthy_record), "branch", "origin")


@pytest.mark.thorough
def test_a_remote_that_was_rewritten_is_found(healthy_record: Story) -> None:
    other = healthy_record.clone("elsewhere")
    other.init()
    git(other.work, "update-ref", REF, f"{REF}~2")
    other.run.record.append(note("forged"))
    git(other.work, "push", "-q", "-f", "origin", f"{REF}:refs/heads/herorun/tiny")
    assert mentions(faults(healthy_record), "branch", "origin")


@pytest.mark.thorough
def test_what_another_clone_added_since_is_judged_too(healthy_record: Story) -> None:
    other = healthy_record.clone("elsewhere")
    other.init()
    other.run.record.append(note("theirs"))
    assert other.run.record.push()
    assert faults(healthy_record) == ""
    other.tamper("tiny.md", lambda text: text.replace("- Status: one", "- Status: won"))
    git(other.work, "push", "-q", "origin", f"{REF}:refs/heads/herorun/tiny")
    assert mentions(faults(healthy_record), "differs", "journal")


@pytest.mark.thorough
def test_a_merge_is_found(healthy_record: Story) -> None:
    tree = git(healthy_record.work, "rev-parse", f"{REF}^{{tree}}").strip()
    _commit(healthy_record, tree, "-p", REF, "-p", "HEAD")
    assert "has 2 parents" in faults(healthy_record)


@pytest.mark.thorough
def test_a_history_of_two_machines_is_clear(healthy_record: Story) -> None:
    other = healthy_record.clone("elsewhere")
    other.init()
    for story, word in (
        (healthy_record, "four"),
        (other, "five"),
        (healthy_record, "six"),
        (other, "seven"),
    ):
        story.run.record.append(note(word))
        assert story.run.record.push()
    assert (faults(healthy_record), faults(other)) == ("", "")


def test_a_remote_that_cannot_be_asked_leaves_it_unknown(healthy_record: Story) -> None:
    healthy_record.origin.rename(healthy_record.home / "elsewhere")
    assert verdict(healthy_record) == "unknown"
    assert Path(healthy_record.home / "elsewhere").is_dir()


def test_what_is_nowhere_else_is_said_to_have_no_anchor(story: Story) -> None:
    git(story.work, "remote", "remove", "origin")
    story.init()
    verification = verify_record(open_record(SLUG, story.work))
    (note,) = verification.notes
    assert verification.verdict == "clear" and mentions(note, "not anchored", "remote")
