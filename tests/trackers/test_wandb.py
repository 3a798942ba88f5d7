"""The W&B tracker: the real client against a server on loopback, in both directions."""

import json
import math
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from herorun.adapters import connect
from herorun.core.contract import contract_from
from herorun.core.errors import WrongUse
from herorun.core.evidence import TrackerState, TrackerTraits
from herorun.core.ports import Place, Row
from herorun.trackers._wandb.environment import CLIENT_VARIABLES
from herorun.trackers._wandb.identity import NAME_RULES
from herorun.trackers.wandb import Options, Wandb
from ports.tracker_suite import SECRET, LoggedRow, TrackerBench, TrackerSuite, drain
from services.wandb_service import Reader, WandbService
from wording import mentions

PATH, PARENT = "ent/proj/tiny", "ent/proj/parent"
PLACE = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
WRITER = """
import os, sys, wandb
run = wandb.init(entity="ent", project="proj", id="tiny", name="Tiny", resume="allow", config={"lr": 0.1})
for step in range(3):
    run.log({"train/loss": 3.0 - step, "bad": float("nan")}, step=step)
run.finish(exit_code=int(sys.argv[1]))
"""  # noqa: E501  # a text that is read as it stands

CLIENT = """
import json, wandb
told = {}
def begin(case, **words):
    try:
        run = wandb.init(entity="ent", project="proj", **words)
        run.log({"x": 1.0}, step=0)
        told[case] = [run.id, run.step]
        run.finish()
    except Exception as error:
        told[case] = type(error).__name__
begin("allow absent", id="new", resume="allow")
begin("must absent", id="none", resume="must")
begin("never absent", id="fresh", resume="never")
begin("allow present", id="a", resume="allow")
begin("must present", id="b", resume="must")
begin("never present", id="c", resume="never")
begin("fork and resume", id="child", resume="allow", fork_from="a?_step=1")
begin("from the environment")
print(json.dumps(told))
"""


def some_rows(count: int, first: int = 0, **values: Any) -> list[dict[str, Any]]:
    return [
        {"_step": first + n, "_timestamp": 1.8e9 + n, **(values or {"train/loss": 3.0})}
        for n in range(count)
    ]


def a_run(state: str = "finished", rows: int = 3, **changes: Any) -> dict[str, Any]:
    return {"displayName": "Tiny", "state": state, "history": some_rows(rows), **changes}


def tracker(
    wandb: WandbService, ask: Reader | None = None, timeout: float = 15, **changes: Any
) -> Wandb:
    """Each question in a process of its own, as in earnest; where there are many, all in one."""
    fields = {
        "entity": "ent",
        "project": "proj",
        "id": "tiny",
        "name": "Tiny",
        "base_url": wandb.url,
        **changes,
    }
    return Wandb(Options(timeout=timedelta(seconds=timeout), **fields), ask)


def write(wandb: WandbService, folder: Path, program: str, *words: str, **variables: str) -> str:
    """What W&B's own client writes, and what the program printed."""
    quiet = {"WANDB_BASE_URL": wandb.url, "WANDB_DIR": str(folder), "WANDB_SILENT": "true"}
    env = {
        **os.environ,
        **quiet,
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_CONSOLE": "off",
        **variables,
    }
    argv = [sys.executable, "-c", program, *words]
    process = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    return process.stdout


def left_behind(mark: str) -> list[str]:
    """The processes that still hold a mark in their environment."""
    command_lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                command_lines.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return command_lines


# --- identity ------------------------------------------------------------------------------------


def test_a_true_run_is_read_as_its_writer_left_it(
    wandb: WandbService, wandb_reader: Reader, tmp_path: Path
) -> None:
    write(wandb, tmp_path, WRITER, "1")

    identity = tracker(wandb, wandb_reader).identify()
    rows = tracker(wandb).read("").rows

    assert identity.why == ""
    assert (identity.state, identity.id, identity.display_name) == (
        TrackerState.FAILED,
        "tiny",
        "Tiny",
    )
    assert (identity.last_step, identity.config["lr"]) == (2, 0.1)
    assert datetime.fromisoformat(identity.heartbeat).utcoffset() == timedelta(0)
    assert [(row.step, row.values["train/loss"]) for row in rows] == [(0, 3.0), (1, 2.0), (2, 1.0)]
    assert math.isnan(rows[0].values["bad"])
    # W&B's own columns
    assert not [name for row in rows for name in row.values if name.startswith("_")]
    assert all(row.at and row.at.tzinfo is UTC for row in rows)


def test_its_own_address_and_what_its_panel_shows(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    summary = {
        "_step": 2, "_timestamp": 1.8e9, "train/loss": 2.5, "eval/loss": "NaN", "lr": 0.1, "loss": {"min": 1.0},  # noqa: E501  # one entry of a table, or one recorded value
    }  # fmt: skip
    wandb.put({PATH: a_run(summary=summary)})

    identity = tracker(wandb, wandb_reader).identify()

    assert identity.url == f"{wandb.url}/ent/proj/runs/tiny"
    assert identity.summary == {"_step": 2.0, "_timestamp": 1.8e9, "train/loss": 2.5}


def test_a_time_of_w_and_b_is_in_utc_also_where_it_has_no_zone(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PATH: a_run(heartbeatAt="2026-01-01T12:00:00")})

    assert tracker(wandb, wandb_reader).identify().heartbeat == "2026-01-01T12:00:00+00:00"


@pytest.mark.thorough
def test_the_truth_table_stands_on_what_the_client_does(
    wandb: WandbService, tmp_path: Path
) -> None:
    wandb.put({f"ent/proj/{name}": a_run(rows=2) for name in "abc"})

    document = json.loads(write(wandb, tmp_path, CLIENT, WANDB_RUN_ID="outer"))

    assert document == {
        "allow absent": ["new", 0],  # an empty run, without a word
        "must absent": "UsageError",
        "never absent": ["fresh", 0],
        "allow present": ["a", 2],
        "must present": ["b", 2],
        "never present": "UsageError",
        "fork and resume": "ValidationError",
        "from the environment": ["outer", 0],
    }
    record = [row["_step"] for row in wandb.runs()["ent/proj/a"]["history"]]
    assert record == [0, 1]  # what it logged at step 0 after the resume is dropped


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("running", TrackerState.RUNNING),
        ("crashed", TrackerState.CRASHED),
        ("killed", TrackerState.FAILED),
        ("pending", TrackerState.ABSENT),
        ("brand-new", TrackerState.UNREACHABLE),
    ],
)
def test_each_state_of_w_and_b_is_one_of_ours(
    wandb: WandbService, wandb_reader: Reader, word: str, state: TrackerState
) -> None:
    wandb.put({PATH: a_run(word)})

    assert tracker(wandb, wandb_reader).identify().state is state


def test_a_run_that_was_made_and_never_begun_is_absent(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PATH: a_run("running", rows=0)})

    assert tracker(wandb, wandb_reader).identify().state is TrackerState.ABSENT


def test_a_fresh_look_each_time_from_one_adapter(wandb: WandbService, wandb_reader: Reader) -> None:
    one = tracker(wandb, wandb_reader)
    wandb.put({PATH: a_run("running")})
    first = one.identify().state
    wandb.put({PATH: a_run("crashed")})

    assert (first, one.identify().state) == (TrackerState.RUNNING, TrackerState.CRASHED)


def test_namesakes_and_the_parent_are_read_with_it(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    others = {
        "ent/proj/b": a_run(),
        "ent/proj/a": a_run(),
        "ent/proj/c": a_run(displayName="Other"),
    }
    wandb.put({PARENT: a_run(rows=9, displayName="Parent"), **others})

    identity = tracker(wandb, wandb_reader, fork_from="parent?_step=5").identify()

    assert (identity.state, identity.namesakes) == (TrackerState.ABSENT, ("a", "b"))
    assert (identity.parent, identity.parent_last_step) == (TrackerState.FINISHED, 8)


def test_absence_needs_a_project_that_can_be_read(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PARENT: a_run()})
    assert tracker(wandb, wandb_reader).identify().state is TrackerState.ABSENT

    wandb.put({PARENT: a_run(), PATH: a_run()}, hidden_names=("ent/proj",))
    identity = tracker(wandb, wandb_reader).identify()

    assert identity.state is TrackerState.UNREACHABLE
    assert mentions(identity.why, "project", "ent/proj", "`[tracker]`")
    with pytest.raises(OSError, match="no project") as error:
        tracker(wandb, wandb_reader).read("")
    assert not isinstance(error.value, FileNotFoundError)


def test_a_deleted_run_cannot_be_distinguished_from_one_that_never_was(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PARENT: a_run(), PATH: a_run(deleted=True)})

    assert tracker(wandb, wandb_reader).identify().state is TrackerState.ABSENT


def test_where_the_server_says_deleted_it_is(wandb: WandbService, wandb_reader: Reader) -> None:
    wandb.fault(
        op="Run", status=409, message="run ent/proj/tiny was previously created and deleted"
    )

    assert tracker(wandb, wandb_reader).identify().state is TrackerState.DELETED


# --- faults --------------------------------------------------------------------------------------

FAULTS = [
    ({"status": 401}, "refused the API key"),
    ({"op": "Run", "status": 403}, "forbids this key"),
    ({"op": "Run", "status": 404}, "knows no project ent/proj"),
    ({"op": "Runs", "status": 429}, "asked too often"),
    ({"op": "Run", "status": 500}, "HTTP 500"),
    ({"op": "Run", "body": "<html>busy</html>"}, "could not be read"),
    ({"op": "Run", "body": '{"data": []}'}, "could not be read"),
    ({"op": "Viewer", "body": "{}"}, "could not be read"),
]


@pytest.mark.parametrize(("fault", "why"), FAULTS)
def test_a_fault_is_no_answer_and_has_a_reason(
    wandb: WandbService, wandb_reader: Reader, fault: dict[str, Any], why: str
) -> None:
    wandb.put({PATH: a_run()})
    wandb.fault(**fault)

    identity = tracker(wandb, wandb_reader, timeout=4).identify()

    assert identity.state is TrackerState.UNREACHABLE
    assert why in identity.why


def test_a_server_that_is_down_is_no_answer(wandb: WandbService, wandb_reader: Reader) -> None:
    """The client calls this a failure to authenticate, too."""
    identity = tracker(wandb, wandb_reader, base_url="http://127.0.0.1:1").identify()

    assert identity.state is TrackerState.UNREACHABLE
    assert "connection refused" in identity.why


@pytest.mark.thorough
def test_a_time_out_is_not_a_refused_key_and_leaves_no_process(
    wandb: WandbService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The client calls both a failure to authenticate."""
    monkeypatch.setenv("MARK", str(tmp_path))
    wandb.fault(sleep=5)

    identity = tracker(wandb, timeout=1).identify()

    assert identity.state is TrackerState.UNREACHABLE and mentions(
        identity.why, "W&B", "no answer", "1s"
    )
    until = monotonic() + 5
    while left_behind(str(tmp_path)) and monotonic() < until:
        sleep(0.05)
    assert left_behind(str(tmp_path)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_no_look_leaves_a_file(
    seconds: float, wandb: WandbService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The client makes folders as it is imported, and counts on an orderly end; a tick that is due
    each minute adds up.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    wandb.fault(sleep=seconds)

    tracker(wandb, timeout=1 if seconds else 10).identify()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_without_a_key_nobody_is_asked_and_nothing_waits(
    wandb: WandbService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("WANDB_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    identity = tracker(wandb).identify()

    assert identity.state is TrackerState.UNREACHABLE
    assert "set WANDB_API_KEY" in identity.why
    assert wandb.queries() == []


@pytest.mark.thorough
def test_what_the_environment_says_of_a_run_does_not_mislead_the_look(
    wandb: WandbService, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wandb.put({PATH: a_run()})
    for name, value in {
        "MODE": "disabled",
        "PROJECT": "other",
        "RUN_ID": "x",
        "SERVICE": "gone",
    }.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    before = dict(os.environ)

    identity = tracker(wandb).identify()

    assert identity.state is TrackerState.FINISHED
    assert dict(os.environ) == before  # the jobs that are started from here inherit it
    assert capfd.readouterr() == ("", "")


def test_a_slash_names_no_other_run(wandb: WandbService) -> None:
    wandb.put({PATH: a_run()})

    identity = tracker(wandb, project="proj/tiny", id="x").identify()

    assert identity.state is TrackerState.UNREACHABLE
    assert wandb.queries() == []


# --- the contract --------------------------------------------------------------------------------


def run_state(**changes: Any) -> dict[str, Any]:
    data = {
        "slug": "tiny",
        "command": {"argv": ["true"]},
        "output": {"root": "/data/tiny"},
        "tracker": {"kind": "wandb", "entity": "ent", "project": "proj", **changes},
    }
    return {"id": "tiny", "name": "tiny"} | contract_from(
        data, "runs/tiny.toml"
    ).tracker.model_dump(exclude_none=True)


def test_the_identity_is_the_contracts_own() -> None:
    adapter = connect("trackers", "wandb", {"base_url": "http://localhost"}, PLACE, run_state())

    assert adapter._path == "ent/proj/tiny"


def test_the_identity_is_never_left_to_a_default() -> None:
    statement = run_state()
    del statement["entity"]

    with pytest.raises(WrongUse, match="missing key `entity`"):
        connect("trackers", "wandb", {}, PLACE, statement)


# --- rows ----------------------------------------------------------------------------------------


class Bench:
    """W&B keeps a row for each step, in their order: what the trainer logs lower or twice never
    gets there.
    """

    def __init__(self, wandb: WandbService, reader: Reader) -> None:
        self._wandb = wandb
        self._reader = reader
        self._age = 0
        wandb.put({PARENT: a_run()})

    def connect(self) -> Wandb:
        return tracker(self._wandb, self._reader)

    def log(self, *rows: LoggedRow) -> None:
        runs = self._wandb.runs()
        run = runs.setdefault(PATH, a_run("running", rows=0, createdAt=f"2026-01-0{self._age + 1}"))
        run["history"] += [{"_step": step, **_as_text(values)} for step, values in rows]
        self._wandb.put(runs)

    def replace(self, *rows: LoggedRow) -> None:
        runs = self._wandb.runs()
        del runs[PATH]
        self._wandb.put(runs)
        self._age += 1
        self.log(*rows)

    def spoil(self, text: str) -> None:
        runs = self._wandb.runs()
        runs[PATH]["history"].append({"_step": 1, "note": text})
        self._wandb.put(runs)

    def cut_off(self) -> None:
        self._wandb.fault(op="Run", status=500)


def _as_text(values: Any) -> dict[str, Any]:
    """As W&B's writer puts what JSON has no number for."""
    words = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return {name: "NaN" if math.isnan(v) else words.get(v, v) for name, v in values.items()}


class TestWandb(TrackerSuite):
    declares = TrackerTraits(
        resumes_by_id=True,
        drops_past_steps=True,
        name_rules=NAME_RULES,
        id_variable="WANDB_RUN_ID",
        label="W&B",
    )
    client_variables = CLIENT_VARIABLES

    @pytest.fixture
    def bench(self, wandb: WandbService, wandb_reader: Reader) -> TrackerBench:
        return Bench(wandb, wandb_reader)

    def test_a_step_that_goes_back_and_a_row_that_comes_twice_are_passed_on(
        self, bench: TrackerBench
    ) -> None:
        """W&B's own model has no such rows: its client drops what is lower and merges what comes
        twice.
        """
        bench.log((5, {"loss": 1.0}), (6, {"loss": 2.0}))
        assert drain(bench.connect())[0] == [Row(5, {"loss": 1.0}), Row(6, {"loss": 2.0})]

    def test_what_is_no_row_is_named_and_never_quoted(self, bench: TrackerBench) -> None:
        """A row always has its step in W&B; what is no number in it is no value."""
        bench.log((0, {"loss": 1.0}))
        bench.spoil(f"token={SECRET}")
        assert drain(bench.connect())[0] == [Row(0, {"loss": 1.0}), Row(1, {})]


def test_a_gap_in_the_steps_does_not_end_the_reading(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PATH: a_run(history=[*some_rows(2), *some_rows(2, first=2500)])})

    assert [row.step for row in tracker(wandb, wandb_reader).read("").rows] == [0, 1, 2500, 2501]


@pytest.mark.parametrize("served_count", [0, 3])
def test_rows_that_are_counted_before_they_are_served_are_read_when_they_come(
    wandb: WandbService, wandb_reader: Reader, served_count: int
) -> None:
    wandb.put({PATH: a_run(history=some_rows(5), served=served_count)})
    one = tracker(wandb, wandb_reader)
    first = one.read("")
    again = one.read(first.cursor)
    wandb.put({PATH: a_run(history=some_rows(5))})
    last = one.read(again.cursor)

    steps = [[row.step for row in batch.rows] for batch in (first, again, last)]
    assert steps == [list(range(served_count)), [], list(range(served_count, 5))]
    assert not (again.restarted or last.restarted)


def test_rows_whose_steps_are_no_integers_are_read_once(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PATH: a_run(history=[row | {"_step": float(row["_step"])} for row in some_rows(5)])})
    one = tracker(wandb, wandb_reader)
    first = one.read("")
    assert [row.step for row in first.rows] == list(range(5))
    assert not one.read(first.cursor).rows


def test_a_run_that_lost_steps_is_read_from_its_start(
    wandb: WandbService, wandb_reader: Reader
) -> None:
    wandb.put({PATH: a_run(rows=9)})
    cursor = tracker(wandb, wandb_reader).read("").cursor
    wandb.put({PATH: a_run(rows=4)})

    batch = tracker(wandb, wandb_reader).read(cursor)

    assert (batch.restarted, len(batch.rows)) == (True, 4)


def test_very_wide_rows_are_read_in_pages_of_few_steps(
    wandb: WandbService, wandb_reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much is held at once does not grow with the number of metrics, from the first page on."""
    monkeypatch.setattr("herorun.trackers.wandb.MAX_VALUES", 8_000)
    wide = {f"layer/{number}": 1.0 for number in range(2_000)}
    wandb.put({PATH: a_run(history=some_rows(30, **wide), summary=wide)})
    one, cursor, steps, sizes = tracker(wandb, wandb_reader), "", [], []
    while (batch := one.read(cursor)).rows:
        steps += [row.step for row in batch.rows]
        sizes.append(sum(len(row.values) for row in batch.rows))
        cursor = batch.cursor

    assert steps == list(range(30)) and max(sizes) < 2 * 8_000
