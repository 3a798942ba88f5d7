"""Whatever a box, W&B, GitHub or a log answers: no error but the promised ones, and a time that is
bounded.
"""

import base64
import contextlib
import json
import time
import zlib
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from builders import NOON
from herorun.core.errors import HerorunError
from herorun.core.evidence import TrackerIdentity
from herorun.core.ports import Post
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.core.triage.incremental import OwnLog, follow, verdict_of_log
from herorun.notifiers import _github_calls
from herorun.notifiers.github import GitHubIssue, Options as OfGitHub
from herorun.schedulers import ssh
from herorun.signatures import load_signature_set
from herorun.stores import _ssh
from herorun.system import remote_file, remote_python
from herorun.system.process import Lines, ProcessResult
from herorun.trackers import wandb
from test_fuzz import JSON, fuzz

REACH = RemoteTarget(SshLogin(host="box"))
PROBE_FIELDS = {
    "there": True,
    "submitting": False,
    "locked": False,
    "watched": False,
    "lives": False,
    "records": {},
}


class Box:
    """A road whose far end answers each question with the same value."""

    where, reach = "box", "ssh"

    def __init__(self, values: Any) -> None:
        self.answer = values

    def run(self, argv: Any, timeout: float, stdin: bytes = b"") -> ProcessResult:
        asks = len(json.loads(stdin[: int(argv[-1])])["asks"])
        return ProcessResult(0, json.dumps([{"told": self.answer}] * asks).encode(), b"")

    def lines(self, argv: Any, idle: float, stdin: bytes = b"") -> Lines:
        yield from (json.dumps(each).encode() for each in ({"told": self.answer}, self.answer))
        return ProcessResult(0, b"", b"")


class Raw(Box):
    def run(self, argv: Any, timeout: float, stdin: bytes = b"") -> ProcessResult:
        return ProcessResult(0, json.dumps(self.answer).encode(), b"")


def ask_box(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is asked of a box."""
    end = remote_python.RemotePython(box)
    for module in (ssh, _ssh, remote_file):
        monkeypatch.setattr(module, "remote_to", lambda reach: end)
    job = ssh.SshScheduler(ssh.Options(host="box", folder="/jobs"))
    files = _ssh.OverSsh(REACH)
    questions = [
        *(
            lambda name=name: getattr(files, name)("/a")
            for name in ("entries", "names", "read", "modified", "room")
        ),
        lambda: files.end("/a", 9),
        lambda: list(files.digests("/a", ["b"], {})),
        lambda: files.swap("/a", b"1", b"2"),
        lambda: remote_file.RemoteFile(REACH, "/a", [[0, 9]]).read(9),
        lambda: job.find("tiny-1", NOON),
        lambda: job.live_jobs("tiny"),
        lambda: job.with_snapshot(job.snapshot({"tiny-1": NOON})).find("tiny-1", NOON),
        lambda: job.tail("tiny-1", 9),
        lambda: job.read_log("tiny-1", 0, 9),
        lambda: job.stop("tiny-1", "dri"),
    ]
    for each in questions:
        with contextlib.suppress(HerorunError, OSError):
            each()


FACTS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys([*PROBE_FIELDS, "rest", "watched"], JSON)
) | st.just(PROBE_FIELDS)
BOXES = JSON | st.fixed_dictionaries(
    {},
    optional={
        "now": JSON,
        "boot": JSON,
        "jobs": JSON | st.dictionaries(st.sampled_from(["tiny-1", "tiny-2"]), FACTS),
        "pieces": JSON | st.just(["eJwDAAAAAAE="]),
        "size": JSON,
        "changed": JSON,
        "data": JSON,
        "offset": JSON,
        "mark": JSON,
        "restarted": JSON,
    },
)


@pytest.mark.thorough
@fuzz
@given(answer=BOXES)
@example(
    answer={
        "now": 1e999,
        "boot": "",
        "jobs": {"tiny-1": {**PROBE_FIELDS, "records": {"exit.json": "[" * 99_999}}},
    }
)
def test_any_answer_of_a_box_is_answered(answer: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(remote_python, "BATCH_WINDOW", 0.0)
        ask_box(Box(answer), monkeypatch)
        ask_box(Raw(answer), monkeypatch)
        ask_box(Raw([answer]), monkeypatch)


def test_a_few_bytes_of_a_box_do_not_unpack_to_many(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = base64.b64encode(zlib.compress(b"0" * (64 << 20))).decode()
    end = remote_python.RemotePython(Box({"size": 9, "changed": 0.0, "pieces": [bomb]}))
    monkeypatch.setattr(remote_file, "remote_to", lambda reach: end)
    with pytest.raises(ConnectionError, match=r"cannot.*read"):
        remote_file.RemoteFile(REACH, "/a", [[0, 9]])


RUNS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            "state",
            "started",
            "name",
            "last_step",
            "heartbeat",
            "created",
            "config",
            "url",
            "summary",
        ),
        JSON,
    ),
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "run": JSON | RUNS,
        "parent": JSON | RUNS,
        "namesakes": JSON,
        "rows": JSON
        | st.lists(st.dictionaries(st.sampled_from(["_step", "loss", "_timestamp"]), JSON)),
        "start": JSON,
        "next": JSON,
        "fault": JSON,
        "status": JSON,
        "kind": JSON,
    },
)


@fuzz
@given(answer=ANSWERS, cursor=st.sampled_from(["", "1:0:now", "1:9:"]) | st.text(max_size=9))
def test_any_answer_of_wandb_is_answered(answer: Any, cursor: str) -> None:
    options = wandb.Options(entity="e", project="p", id="i", name="n", fork_from="x?_step=3")
    tracker = wandb.Wandb(options, lambda question, seconds: answer)
    assert isinstance(tracker.identify(), TrackerIdentity)
    with contextlib.suppress(HerorunError, OSError):
        tracker.read(cursor)


class Server:
    """What PyGithub's requester is told, whatever it asks."""

    def __init__(self, values: Any, status: int, headers: dict[str, str]) -> None:
        self.answer, self.status, self.headers = values, status, headers

    def __call__(self, requester: Any, *args: Any, **keywords: Any) -> Any:
        from github import Requester

        if self.status >= 400:
            error = Requester.Requester.createException(self.status, self.headers, self.answer)
            raise error
        return self.headers, self.answer


PAGES = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            "number",
            "html_url",
            "body",
            "user",
            "login",
            "id",
            "labels",
            "message",
            "errors",
            "updated_at",
        ),
        JSON,
    ),
)
HEADERS = st.dictionaries(
    st.sampled_from(
        ["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "link", "x-github-sso"]
    ),
    st.sampled_from(["0", "9" * 400, "\u00b2", "-1"]) | st.text(max_size=9),
)


@fuzz
@given(
    answer=JSON | PAGES | st.lists(PAGES, max_size=2),
    status=st.sampled_from([200, 201, 401, 403, 404, 410, 422, 429, 500, 502]),
    headers=HEADERS,
)
def test_any_answer_of_github_is_answered(
    answer: Any, status: int, headers: dict[str, str]
) -> None:
    from github import Requester

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("GITHUB_TOKEN", "x")
        monkeypatch.setattr(
            Requester.Requester, "requestJsonAndCheck", Server(answer, status, headers)
        )
        monkeypatch.setattr(_github_calls, "DEADLINE", 0.05)
        page = GitHubIssue(OfGitHub(repo="o/r", number=1, login="we"), "o/r", lambda seconds: None)
        post = Post("tiny/x", "title", "body")
        for ask in (
            lambda: page.open(post, ("hero-run",)),
            lambda: page.post(post),
            lambda: page.edit(post),
            lambda: page.find("tiny/x"),
            lambda: page.comments("tiny/x", 9),
            page.examine,
        ):
            with contextlib.suppress(HerorunError, OSError):
                ask()


TELLING = st.sampled_from(
    [
        b"Traceback (most recent call last):\n",
        b'  File "x.py", line 9, in f\n',
        b"torch.OutOfMemoryError: CUDA out of memory\n",
        b"[rank3]: ",
        b"wandb: \xf0\x9f\x9a\x80 View run at https://wandb.ai/e/p/runs/i\n",
        b"step 999999999999999999999/1\r",
        b"\x1b[31m",
        b"2026-01-01T00:00:00Z ",
        b"NCCL WARN ",
    ]
)


@fuzz
@given(
    parts=st.lists(
        st.lists(TELLING | st.binary(max_size=30), max_size=12).map(b"".join), max_size=4
    ),
    code=st.none() | st.integers(-(2**40), 2**40),
)
def test_any_log_is_judged(parts: list[bytes], code: int | None) -> None:
    log = OwnLog(instance="tiny-1")
    for data in parts:
        log = follow(load_signature_set(), log, data)
    verdict_of_log(load_signature_set(), log, code)


@pytest.mark.parametrize(
    "unit",
    [
        b"x",
        b"\n",
        b" ",
        b"\xff",
        b"[",
        b"(",
        b"Traceback (most recent call last):\n",
        b'  File "',
        b"Error: ",
        b"step 1/",
        b"a.b.",
        b"\x1b[",
        b"\r",
        b"9",
        b"Caused by: ",
        b"NCCL WARN a",
        b"CUDA out of memory ",
        b"wandb: ",
    ],
)
def test_a_log_that_is_made_to_hang_it_is_judged_in_time(unit: bytes) -> None:
    before, data = time.process_time(), unit * ((1 << 18) // len(unit))
    log = follow(load_signature_set(), OwnLog(instance="tiny-1"), data)
    verdict_of_log(
        load_signature_set(), follow(load_signature_set(), log, b"\n" + data[: 1 << 16] + b"\n"), 1
    )
    assert time.process_time() - before < 5.0
