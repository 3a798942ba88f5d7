"""A run in a scratch repository, for real: a bare origin, a contract, and a training job that takes
milliseconds.

The job counts its starts in `<data>/started`, checks in (unless there is `<data>/no-receipt`), logs
rows, saves Levanter-shaped checkpoints at steps 2 and 4, and between steps 3 and 4 follows the
shell words in `<data>/orders/<instance>`, where there are any.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from builders import NOON
from first_commit import commit_first
from herorun import cli, gather
from herorun.core.canonical_json import canonical, digest
from herorun.core.event import Noted, Sealed
from herorun.core.journal import JournalLine
from herorun.core.proposed_commands import command_in_folder, on_screen
from herorun.core.seal.parse import statement_of
from herorun.core.seal.statement import facts_of
from herorun.notifiers import channel, terminal
from herorun.runs import Run, open_run
from herorun.schedulers._instance import StartedProcess, decode_record
from herorun.system.clock import now
from herorun.system.files import is_locked
from herorun.system.git import discover, remote_refs
from herorun.system.git.plumbing import commit_files, identity_of
from herorun.system.git.tags import annotated_tag
from memory_folder import in_memory
from proposed import is_tried, listening, type_one
from worlds import LASTS, begin_world, copy_tree, is_alone, make_or_copy, place

SLUG = "tiny"
TAG = "herorun/tiny/seal-1"
FINAL = 4
MESSAGE = "the training code"
CRASH = "kill -9 $$"
STOP_COMMAND = "kill -TERM $$; sleep 5"
REFUSE = "exit 78"
WAIT = 'while [ ! -e "$data/go" ]; do sleep 0.05; done'
REFUSE_ALL = "#!/bin/sh\necho 'no room' >&2\nexit 1\n"
JOB = """\
data=$1
root=$data/tiny
echo "$HERORUN_INSTANCE ${HERORUN_START:-scratch}" >> "$data/started"
if [ -n "$HERORUN_INSTANCE" ] && [ ! -e "$data/no-receipt" ]; then
  mkdir -p "$root/_herorun/receipts"
  echo "{\\"instance\\": \\"$HERORUN_INSTANCE\\", \\"attempt\\": 1, \\"outcome\\": \\"pass\\", \\"items\\": []}" \\
    > "$root/_herorun/receipts/$HERORUN_INSTANCE.1.json"
fi
save() {
  mkdir -p "$root/step-$1"
  echo weights > "$root/step-$1/weights"
  echo "{\\"step\\": $1, \\"timestamp\\": \\"2026-01-01T00:00:0$1\\", \\"is_temporary\\": false}" \\
    > "$root/step-$1/metadata.json"
}
if [ -e "$data/orders/$HERORUN_INSTANCE-at-once" ]; then exit 0; fi
step=${HERORUN_START##*-}
step=${step:-0}
while [ "$step" -lt 4 ]; do
  echo "{\\"step\\": $step, \\"train/loss\\": 2.5}" >> "$root/metrics.jsonl"
  step=$((step + 1))
  if [ "$step" = 2 ]; then save 2; fi
  if [ "$step" = 3 ] && [ -e "$data/orders/$HERORUN_INSTANCE" ]; then
    . "$data/orders/$HERORUN_INSTANCE"
  fi
done
save 4
"""  # noqa: E501  # a text that is read as it stands
_PASSING = re.compile(
    r"note/[0-9a-f]{16}|handoff/\d{8}T\d{6}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| UTC)?"
)


def contract_of(data: Path) -> dict[str, Any]:
    """The contract of a healthy run, as TOML's tables."""
    return {
        "slug": SLUG,
        "goal": "show the whole path",
        "dri": "@dri",
        "stop_when": "the loss rises",
        "final_step": FINAL,
        "command": {"argv": ["sh", "train.sh", str(data)]},
        "config": {"files": ["config.toml"]},
        "output": {"root": str(data / "tiny"), "temporary_root": str(data / "tiny-temporary")},
        "checkpoints": {"permanent_every": 2, "temporary_every": "15m", "keep": 10},
        "tracker": {"kind": "jsonl", "path": "metrics.jsonl", "id": SLUG},
        "scheduler": {"kind": "local", "settle": "1ms", "grace": "200ms"},
        "babysit": {"cadence": "15m"},
        "issue": {"kind": "local"},
    }


@dataclass(frozen=True)
class Story:
    """One scratch world in `home`; everything of it lies there."""

    home: Path

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def origin(self) -> Path:
        return self.home / "origin.git"

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def root(self) -> Path:
        return self.data / "tiny"

    # --- the world ---------------------------------------------------------------------------

    def begin(self, **changes: Any) -> "Story":
        """The repository with its origin, the job and the contract, committed and pushed."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "orders").mkdir()
        _init(self.origin, "--bare")
        with (self.origin / "config").open("a") as config:
            config.write("[receive]\nautogc = false\n")  # a process less for each push
        _init(self.work)
        with (self.work / ".git" / "config").open("a") as config:
            config.write(
                "[user]\nname = Dri\nemail = dri@example.org\n"
                f'[remote "origin"]\nurl = {self.origin}\nfetch = '
                "+refs/heads/*:refs/remotes/origin/*\n"
            )
        (self.work / "train.sh").write_text(JOB)
        (self.work / "config.toml").write_text("[trainer]\nseed = 7\n")
        self._write(**changes)
        commit_first(self.work, "Dri <dri@example.org>", MESSAGE)
        self._be_pushed()
        return self

    def sign(self, **changes: Any) -> None:
        """Write the contract, a table given as a mapping merged into its own, where None takes a
        key away, and publish everything.
        """
        self._write(**changes)
        self.publish()

    def publish(self) -> None:
        self._commit()
        git(self.work, "push", "-q", "origin", "HEAD:refs/heads/main")

    def _write(self, **changes: Any) -> None:
        data = contract_of(self.data)
        for key, value in changes.items():
            data[key] = _merge_tables(data.get(key, {}), value)
        path = self.work / "runs" / "tiny.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(tomli_w.dumps(data))

    def _commit(self) -> None:
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", MESSAGE)

    def _be_pushed(self) -> None:
        """What the first push leaves, without the nine processes that it takes."""
        git_folder = self.work / ".git"
        for folder in (git_folder / "objects").glob("??"):
            copy_tree(str(folder), str(self.origin / "objects" / folder.name))
        for ref in (
            self.origin / "refs" / "heads" / "main",
            git_folder / "refs" / "remotes" / "origin" / "main",
        ):
            ref.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(git_folder / "refs" / "heads" / "main", ref)

    def order(self, instance: str, command: str) -> None:
        """What the job of an instance does between steps 3 and 4."""
        (self.data / "orders" / instance).write_text(command + "\n")

    def clone(self, name: str) -> "Story":
        """Another clone of the same origin, with the same data, as on another machine."""
        other = Story(self.home / name)
        git(self.home, "clone", "-q", "--template=", str(self.origin), str(other.work))
        with (other.work / ".git" / "config").open("a") as config:
            config.write(f"[user]\nname = {name}\nemail = {name}@example.org\n")
        return other

    def refuse_pushes(self, script: str = REFUSE_ALL) -> Path:
        """Let the remote refuse what its hook says; removing the hook fixes it."""
        hook = self.origin / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(script)
        hook.chmod(0o755)
        return hook

    # --- commands -----------------------------------------------------------------------------

    def herorun(self, *argv: str) -> int:
        """The real command line, in this process, which remembers nothing of an earlier call."""
        forget()
        with listening(self.home):
            return cli.run(["-C", str(self.work), *argv])

    def shown_commands(self, text: str) -> str:
        """The commands of a text as the screen has them: stories are called with -C."""
        return on_screen(command_in_folder(text, str(self.work)))

    def typed_elsewhere(self, *argv: str) -> int:
        """A command line as it is, in the directory of the tests, which has no run."""
        forget()
        with listening(self.home):
            return cli.run([*argv])

    def init(self) -> int:
        return self.make_or_copy("initialised", lambda: self.herorun("init", SLUG))

    def launch(self, *argv: str) -> int:
        return self.herorun("launch", SLUG, "--no-babysit", *argv)

    def tick(self, *argv: str) -> int:
        return self.herorun("babysit", SLUG, "--once", *argv)

    def seal(self) -> int:
        return self.herorun("seal", SLUG)

    @property
    def run(self) -> Run:
        """The run as a new process would open it."""
        return open_run(SLUG, self.work)

    def tamper(self, ending: str, edit: Callable[[str], str]) -> None:
        """Commit an edit of a file of the record on top of it, as somebody could with git."""
        run = self.run
        tip, ref = run.record.tip, run.record.ref
        assert tip is not None
        (path,) = [name for _, _, name in run.repository.entries(tip) if name.endswith(ending)]
        text = (run.repository.read(tip, [path])[path] or b"").decode()
        commit_files(run.repository, ref, tip, {path: edit(text).encode()}, "an edit", now())

    # --- the job ------------------------------------------------------------------------------

    @property
    def state(self) -> Path:
        return self.work / ".herorun" / SLUG

    @property
    def jobs(self) -> Path:
        return self.state / "jobs"

    def wait_for_end(self, instance: str = "tiny-1") -> None:
        """Wait until nothing of the instance runs any more."""
        eventually(
            lambda: (
                (self.jobs / instance).exists() and not is_locked(self.jobs / f"{instance}.lock")
            )
        )

    def reaches(self, step: int) -> None:
        eventually(lambda: f'"step": {step},' in _text(self.root / "metrics.jsonl"))

    def run_first_job(self, command: str = "") -> "Story":
        """Initialised and launched; its first instance has come to its end, or to what it was
        ordered to.
        """
        if command != WAIT:  # what lives cannot be copied
            assert (
                self.make_or_copy(f"launched {command}", lambda: self._run_first_job(command)) == 0
            )
            return self
        assert self.init() == 0
        self.order("tiny-1", command)
        assert self.launch() == 0
        self.reaches(2)
        return self

    def _run_first_job(self, command: str) -> int:
        assert self.init() == 0
        if command:
            self.order("tiny-1", command)
        assert self.launch() == 0
        self.wait_for_end()
        return 0

    def run_to_success(self) -> "Story":
        """Launched, ended with success, and all of that told."""
        assert self.make_or_copy("finished", self._run_to_success) == 0
        return self

    def _run_to_success(self) -> int:
        self.run_first_job()
        assert self.tick() == 0
        assert self.tick() == 0
        return 0

    def run_to_seal(self) -> "Story":
        """Finished, and its end sealed."""
        assert self.make_or_copy("sealed", lambda: self.run_to_success().seal()) == 0
        return self

    def make_or_copy(self, what: str, make: Callable[[], int], lasts: float = LASTS) -> int:
        """As `worlds.make_or_copy`."""
        code = make_or_copy(self.home, what, make, lasts)
        forget()
        return code

    def end(self) -> None:
        """Kill what still runs, by its own record, and wait until it is gone."""
        watching = self.work / ".git" / "herorun" / f"{SLUG}.babysitter.lock"
        if is_locked(watching):
            os.kill(json.loads(_text(self.state / "heartbeat.json"))["pid"], signal.SIGKILL)
            eventually(lambda: not is_locked(watching))
        for path in self.jobs.glob("*/started.json"):
            start_record = decode_record(StartedProcess, path.read_bytes())
            if start_record.lives:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(start_record.pid, signal.SIGKILL)
        for lock in self.jobs.glob("*.lock"):
            eventually(lambda lock=lock: not is_locked(lock))

    # --- what is there afterwards ----------------------------------------------------------------

    @property
    def starts(self) -> list[str]:
        """`<instance> <start checkpoint>` of every job that really started."""
        return _text(self.data / "started").splitlines()

    @property
    def comments(self) -> list[str]:
        """The keys of the issue's entries, in order."""
        page = _text(self.state / "issue.md")
        return re.findall(r"^<!-- herorun key=(\S*) -->", page, re.MULTILINE)

    @property
    def lines(self) -> list[JournalLine]:
        return list(self.run.record.lines())

    def events(self, *kinds: str) -> list[Any]:
        return [line.event for line in self.lines if line.event.kind in kinds]

    @property
    def statement_in_tag(self) -> Any:
        return statement_of(git(self.work, "cat-file", "tag", TAG))

    @property
    def statement_facts(self) -> dict[str, Any]:
        """Herorun's own part of the statement in the tag."""
        return facts_of(self.statement_in_tag)

    @property
    def statement_in_record(self) -> Any:
        """The seal statement that the record keeps; one that was never tagged may lie next to
        it.
        """
        names = git(self.work, "ls-tree", "-r", "--name-only", "refs/herorun/record/tiny").split()
        (sealed_event,) = self.events("Sealed")
        (name,) = [
            name
            for name in names
            if name.endswith(f"/seal-{sealed_event.statement_digest[7:19]}.json")
        ]
        return json.loads(git(self.work, "show", f"refs/herorun/record/tiny:{name}"))

    @property
    def is_published(self) -> bool:
        """Whether the newest intent to launch, to tag or to delete is in the record on the
        remote.
        """
        intents = [line for line in self.lines if line.event.kind == "Launching" or _is_final(line)]
        return f'"id":"{intents[-1].id}"' in self.journal_there

    @property
    def journal_there(self) -> str:
        """The journal as the remote has it."""
        return git(
            self.origin,
            "grep",
            "-h",
            "-e",
            "",
            "refs/heads/herorun/tiny",
            "--",
            f"*{SLUG}.journal/*",
        )

    def tags(self, where: Path | None = None) -> list[str]:
        return git(
            where or self.work, "for-each-ref", "--format=%(refname) %(objectname)", "refs/tags"
        ).split("\n")[:-1]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Where the last command of a story proposes one, that is typed; not in a world that a test has
    bent by hand.
    """
    outcome: Any = yield
    run_story = getattr(item, "funcargs", {}).get("story")
    if outcome.excinfo or not isinstance(run_story, Story) or "monkeypatch" in item.fixturenames:
        return
    if is_tried(item.nodeid) and (why := type_one(run_story)):
        outcome.force_exception(AssertionError(why))


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder of the test's own."""
    with place(in_memory(), is_alone(request.node)) as folder:
        yield folder


@pytest.fixture
def story(home: Path) -> Iterator[Story]:
    """A scratch world whose contract is committed and pushed; nothing of it runs afterwards."""
    made_story = Story(home).begin()
    begin_world(home)
    yield made_story
    for folder, folders, _ in os.walk(home):  # passes over what a push in the background removes
        if folder.endswith("/work") and ".herorun" in folders:
            Story(Path(folder).parent).end()
    if made_story.work.is_symlink():  # else the next world there would be looked for behind it
        discover._repository_above.cache_clear()


def seal_by_hand(story: Story, **changes: Any) -> None:
    """A seal that states next to nothing: its tag, and the line of the record that the tag bears
    out.
    """
    run, seal_facts = story.run, {"of": "a test"}
    commit = git(story.work, "rev-parse", "HEAD").strip()
    annotated_tag(run.repository, TAG, commit, f"sealed\n\n{canonical(seal_facts)}\n")
    run.record.append(
        Sealed(at=now(), tag=TAG, commit=commit, statement_digest=digest(seal_facts), **changes)
    )


def forget() -> None:
    """What a process forgets when it ends."""
    terminal._PRINTED_POSTS.clear()
    channel._SENT_POSTS.clear()
    gather._reading.clear()
    identity_of.cache_clear()
    remote_refs._listings.clear()


def timeless(text: str) -> str:
    return _PASSING.sub("...", text)


def note(word: str, at: datetime = NOON) -> Noted:
    """What somebody wrote, as an event."""
    return Noted(at, "dri", word, {"Status": word, "Evidence": "", "Decision": "", "Next": ""})


def git(where: Path, *argv: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    process = subprocess.run(
        # the second spares a process, `git maintenance`, for each commit
        ["git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", *argv],
        cwd=where,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"git {' '.join(argv)}: {process.stderr}"
    return process.stdout


def _init(where: Path, *options: str) -> None:
    """As `git init` does, without a process for each story."""
    for name, content in _init_files(*options).items():
        path = where / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.write_bytes(content)


@cache
def _init_files(*options: str) -> dict[str, bytes | None]:
    """What `git init` leaves, by path, folders first: None is a folder."""
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "-q", "--template=", "-b", "main", *options, "it")
        top = Path(folder) / "it"
        paths = [top, *sorted(top.rglob("*"), key=lambda path: (path.is_file(), path))]
        return {
            str(path.relative_to(top)): path.read_bytes() if path.is_file() else None
            for path in paths
        }


def eventually(true: Callable[[], object], within: float = 120.0) -> None:
    until = time.monotonic() + within
    while not true():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.005)


def copy(source: Path, target: Path) -> None:
    """Put one world in the place of another."""
    shutil.rmtree(target, ignore_errors=True)
    copy_tree(str(source), str(target))


def _merge_tables(table: Any, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: each for name, each in {**table, **value}.items() if each is not None}


def _is_final(line: JournalLine) -> bool:
    return line.event.kind == "Intended" and line.event.key.startswith(("tag/", "prune/"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
