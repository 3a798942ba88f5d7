"""The local issue: the contract suite, then what is special about a file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import herorun
from herorun.core.ports import IssueTracker, Place, ReadBack
from herorun.notifiers import local
from herorun.system.files import hold_lock
from ports.notifier_suite import IssueBench, IssueTrackerSuite, a_post

START = a_post("init:tiny", "Hero run: tiny", "Show the path.")

SRC = str(Path(herorun.__file__).parents[1])


class Bench:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.page = folder / "state" / "issue.md"
        self.connect().open(
            START,
            ("experiment", "agent-generated"),
        )

    def connect(self) -> IssueTracker:
        return self._at("state")

    def connect_elsewhere(self) -> IssueTracker:
        return self._at("another")

    def _at(self, state: str) -> IssueTracker:
        place = Place("tiny", str(self._folder / state), "/data/tiny", str(self._folder))
        return local.connect(local.Options(), place)

    def read_messages(self) -> str:
        return self.page.read_bytes().decode()

    def cut_off(self) -> None:
        self.page.unlink()
        self.page.symlink_to(self.page.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class TestLocalIssue(IssueTrackerSuite):
    @pytest.fixture(params=["plain", "with space/ünï\nline"])
    def bench(self, request: pytest.FixtureRequest, tmp_path: Path) -> IssueBench:
        return Bench(tmp_path / request.param)


def test_the_page_reads_well(bench: Bench) -> None:
    body = "It ended with exit code 1."
    bench.connect().post(a_post(body=body))
    visible = [
        line for line in bench.read_messages().splitlines() if line and not line.startswith("<!--")
    ]
    assert visible == [
        f"# {START.title}",
        "Labels: experiment, agent-generated",
        START.body,
        "---",
        "🤖 **tiny-1 crashed**",
        body,
    ]


def test_the_comments_are_read_back_without_the_page_s_own_text(bench: Bench) -> None:
    for key in ("one", "two", "three"):
        bench.connect().post(a_post(key, body=f"said {key}"))
    issue = bench.connect()
    assert isinstance(issue, ReadBack)
    comments = issue.comments("init:tiny", 2)
    assert ["said one" in comments.bodies[0], "said two" in comments.bodies[1]] == [True, True]
    assert comments.more and len(comments.bodies) == 2 and START.body not in comments.bodies[0]


def test_the_reference_leads_to_the_comment(bench: Bench) -> None:
    path, _, anchor = bench.connect().post(a_post()).rpartition("#")
    assert path == str(bench.page)
    assert f'<a id="{anchor}"></a>' in bench.read_messages()


def test_a_title_that_the_body_says_is_not_said_twice(bench: Bench) -> None:
    bench.connect().post(
        a_post(title="tiny-1 crashed", body="🤖 **tiny-1 crashed** with exit code 1")
    )
    assert bench.read_messages().count("tiny-1 crashed") == 1


@pytest.mark.parametrize(
    "body",
    [
        "```\nlog",
        "~~~~ text\n~~~\nlog",
        "````\n```\nlog",
        "see\n<!-- this",
        "```\nlog\n```",
        "a <!-- b --> c",
    ],
)
def test_what_a_body_leaves_open_hides_no_later_comment(bench: Bench, body: str) -> None:
    bench.connect().post(a_post("cut", body=body))
    bench.connect().post(a_post("later", title="later", body="**shown**"))
    assert "<strong>shown</strong>" in MarkdownIt().render(bench.read_messages())


def test_what_people_wrote_into_it_stays(bench: Bench) -> None:
    with bench.page.open("ab") as file:
        file.write(b"\r\nA person's note, caf\xe9\r\n")
    bench.connect().post(a_post())
    assert b"A person's note, caf\xe9" in bench.page.read_bytes()
    assert bench.connect().find(a_post().key)


def test_a_lock_that_is_never_freed_is_a_time_out(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "LOCK_WAIT", 0.1)
    with hold_lock(bench.page.with_name(".issue.lock")), pytest.raises(TimeoutError):
        bench.connect().post(a_post())
    assert bench.connect().find(a_post().key) is None


def test_the_page_is_private(bench: Bench) -> None:
    bench.connect().post(a_post())
    assert bench.page.stat().st_mode & 0o077 == 0


POST = """
import sys
from pathlib import Path
from herorun.core.ports import Post
from herorun.notifiers.local import LocalIssue
issue = LocalIssue(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    issue.post(Post(f"key-{number}", f"title {number}", f"begin-{number} " + "x" * 20_000 + f" end-{number}."))
    print(number, flush=True)
"""  # noqa: E501  # a text that is read as it stands


def start(bench: Bench, posts: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", POST, str(bench.page), str(posts)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SRC}, stdout=subprocess.PIPE)


@pytest.mark.thorough
def test_a_killed_writer_tears_nothing_and_the_next_one_repeats_nothing(bench: Bench) -> None:
    for observations in (1, 7, 12):
        with start(bench, 10_000) as writer:
            assert writer.stdout
            for _ in range(observations):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        whole(bench.read_messages())
    size = whole(bench.read_messages())
    with start(bench, size + 3) as writer:
        assert writer.wait(60) == 0
    assert whole(bench.read_messages()) == size + 3


@pytest.mark.thorough
def test_two_writers_at_once_say_each_key_once(bench: Bench) -> None:
    with start(bench, 30) as one, start(bench, 30) as two:
        assert (one.wait(60), two.wait(60)) == (0, 0)
    assert whole(bench.read_messages()) == 30


def whole(page: str) -> int:
    """How many comments there are, each whole, once and in order."""
    comments = page.split("\n---\n")[1:]
    for number, comment in enumerate(comments):
        assert comment.count(f"begin-{number} ") == comment.count(f" end-{number}.") == 1
        assert comment.count(f"<!-- herorun key=key-{number} -->") == 1
    return len(comments)
