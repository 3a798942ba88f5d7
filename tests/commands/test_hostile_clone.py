"""A repository or a record that somebody made to hurt whoever looks at it: bounded time and memory,
and nothing reaches the terminal but text.
"""

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.event import Initialised, Noted
from herorun.runs import contract_at, known_slugs
from herorun.signatures import with_own
from herorun.system.clock import now
from herorun.system.git.plumbing import commit_files
from herorun.system.project_config import read_settings
from stories import SLUG, Story, git
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
NOTHING = Path("/dev/null")  # it can be read at once, unlike the devices that this stands for
EVIL = "\x1b]0;title\x07\x9b2J\u202egnp\u2066\u2028\x85"
LARGE = b"#" * (5 << 20)


@pytest.mark.parametrize("words", [("logbook", "show", SLUG), ("box", "runbook", SLUG, "--out=-")])
def test_a_record_writes_nothing_but_text_to_the_terminal(
    story: Story, capsys: CAPTURE, words: tuple[str, ...]
) -> None:
    assert story.init() == 0
    lines = {"Status": EVIL, EVIL: EVIL}
    story.run.record.append(Noted(now(), EVIL, EVIL, lines, caveat=EVIL))
    story.tamper("tiny.md", lambda text: f"{text}\nA name: @\u200bana {EVIL} the end\n")
    capsys.readouterr()
    story.herorun(*words)
    output = "".join(capsys.readouterr())
    assert not [c for c in output if not c.isprintable() and c not in "\n\t\u200b"]
    assert ("@\u200bana �" if words[0] == "logbook" else SLUG) in output


def test_a_contract_that_is_a_device_is_told_of_and_not_read(story: Story) -> None:
    (story.work / "runs" / "device.toml").symlink_to(NOTHING)
    assert "device" in known_slugs(story.run.repository)  # an empty file would name no run


def test_a_contract_that_is_too_large_is_not_read(story: Story) -> None:
    (story.work / "runs" / "large.toml").write_bytes(LARGE)
    assert "large" in known_slugs(story.run.repository)
    story.publish()
    with pytest.raises(CouldNotLook) as error:
        contract_at(
            story.run.repository, git(story.work, "rev-parse", "HEAD").strip(), "runs/large.toml"
        )
    assert mentions(str(error.value), "runs/large.toml", "large")


def test_so_is_one_that_a_record_names(story: Story) -> None:
    repository, head = story.run.repository, git(story.work, "rev-parse", "HEAD").strip()
    commit = commit_files(
        repository, "refs/heads/evil", head, {"runs/tiny.toml": LARGE}, "evil", now()
    )
    git(story.work, "repack", "-adq")
    with pytest.raises(CouldNotLook):
        contract_at(repository, commit, "runs/tiny.toml")


def _device(path: Path) -> None:
    path.symlink_to(NOTHING)


def _large(path: Path) -> None:
    path.write_bytes(LARGE)


def _deep(path: Path) -> None:
    path.write_text("a" + ".a" * 20_000 + " = 1")


@pytest.mark.parametrize("make", [_device, _large, _deep])
def test_a_catalogue_that_is_none_is_reported(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "own.toml")
    with pytest.raises(WrongUse):
        with_own(tmp_path / "own.toml")


@pytest.mark.parametrize("make", [_large, _deep])
def test_so_is_a_project_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "pyproject.toml")
    with pytest.raises(WrongUse):
        read_settings(tmp_path)


def test_the_first_faults_of_a_contract_are_reported_and_the_others_counted(story: Story) -> None:
    path = story.work / "runs" / "tiny.toml"
    path.write_text(
        f"{path.read_text()}\n[x]\n[[waiver]]\n" + "".join(f"k{n} = 1\n" for n in range(3_000))
    )
    with pytest.raises(WrongUse) as error:
        story.run.contract  # noqa: B018  # reading it is what is tried
    text = str(error.value)
    assert "`x`" in text and mentions(text, "more") and len(text.splitlines()) < 30


@pytest.mark.parametrize("path", ["../../x.md", "/etc/x.md", ".git/x.md", "-x", EVIL])
def test_a_logbook_that_no_contract_could_name_is_not_used(story: Story, path: str) -> None:
    record = story.run.record
    record.append(Initialised(now(), SLUG, {}, "", path))
    record.append(Noted(now(), "@dri", "seen", {"Status": "seen"}))
    assert record.logbook_path == ".agents/logbooks/tiny.md" and "seen" in record.logbook()


def _fill_journal(story: Story, count: int) -> None:
    """So many more files in the folder of the record's journal, by one tree of them all: git adds
    them one by one in the square of the time.
    """
    tip, journal = story.run.record.tip, ".agents/logbooks/tiny.journal"
    files = git(story.work, "ls-tree", f"{tip}:{journal}")
    blob = git(story.work, "hash-object", "-w", "--stdin", stdin="x").strip()
    files += "".join(f"100644 blob {blob}\t99990101-{n:06d}.jsonl\n" for n in range(count))
    tree = git(story.work, "mktree", stdin=files).strip()
    stream = "commit refs/herorun/record/tiny\ncommitter x <x@example.org> 1 +0000\ndata 1\nx\n"
    stream += f"from {tip}\nM 040000 {tree} {journal}\n"
    git(story.work, "fast-import", "--quiet", "--force", stdin=stream)


@pytest.mark.thorough
def test_a_journal_of_many_files_is_read_in_bounded_time(story: Story) -> None:
    assert story.init() == 0
    _fill_journal(story, 40_000)
    before = cpu_seconds()
    with pytest.raises(HerorunError):
        story.run.record.memory()
    assert cpu_seconds() - before < 3.0  # by their paths it takes ten


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(each).ru_utime for each in whose)
