"""W&B's log on disk: the contract suite on logs framed here, then what is special about them, and
W&B's own client.
"""

import fcntl
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.core.evidence import TrackerState, TrackerTraits
from herorun.core.ports import Place, Row
from herorun.trackers import _tail_reader, wandb_offline
from herorun.trackers._wandb.environment import CLIENT_VARIABLES
from herorun.trackers._wandb.identity import NAME_RULES
from herorun.trackers.wandb_offline import WandbOffline
from ports.tracker_suite import LoggedRow, TrackerBench, TrackerSuite, drain
from trackers.written import (
    BEGIN,
    BLOCK,
    append,
    delimited_field,
    framed_content,
    history,
    wandb_record,
)
from wording import mentions

FIRST, SECOND = "offline-run-20261121_100000-tiny", "offline-run-20261121_110000-tiny"


class Bench:
    def __init__(self, folder: Path) -> None:
        self.place = Place("tiny", str(folder / "state"), str(folder), str(folder))
        self.top = folder / "wandb"
        self.log_file = self.top / FIRST / "run-tiny.wandb"

    def connect(self, path: str = "wandb", identity: str | None = "tiny") -> WandbOffline:
        return wandb_offline.connect(
            wandb_offline.Options(path=path, id=identity, name="Tiny"), self.place
        )

    def log(self, *rows: LoggedRow) -> None:
        append(self.log_file, *(history(*row) for row in rows))

    def replace(self, *rows: LoggedRow) -> None:
        shutil.rmtree(self.log_file.parent)
        self.log_file = self.top / SECOND / "run-tiny.wandb"
        self.log(*rows)

    def spoil(self, text: str) -> None:
        spoilt = bytearray(framed_content([text.encode()], 7))
        spoilt[0] ^= 0xFF
        with self.log_file.open("ab") as file:
            file.write(spoilt)

    def cut_off(self) -> None:
        self.log_file.unlink()
        self.log_file.symlink_to(self.log_file.name)  # a loop: there, and not to be opened


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def steps(bench: Bench, cursor: str = "") -> list[int]:
    return [row.step for row in drain(bench.connect(), cursor)[0]]


class TestWandbOffline(TrackerSuite):
    declares = TrackerTraits(
        resumes_by_id=True,
        drops_past_steps=True,
        name_rules=NAME_RULES,
        id_variable="WANDB_RUN_ID",
        label="W&B",
    )
    client_variables = CLIENT_VARIABLES

    @pytest.fixture
    def bench(self, tmp_path: Path) -> TrackerBench:
        return Bench(tmp_path / "with space" / "ünï\nline")


# --- what W&B's client writes --------------------------------------------------------------------

WRITER = """
import math, os, sys
import wandb
how = wandb.Settings(x_disable_stats=True, x_disable_meta=True, console="off", disable_git=True)
run = wandb.init(dir=sys.argv[1], id=sys.argv[2], name=sys.argv[3], project="p", config={"lr": 0.1, "m": {"d": 2}}, settings=how)
"""  # noqa: E501  # a text that is read as it stands
TWICE = """
import time
def logs(exit_code):
    for step in range(5):
        run.log({"loss": 1 / (step + 1), "a": {"b/c": {"d": step}}, "nan": math.nan, "up": math.inf, "down": -math.inf,
                 "text": "words", "flag": True, "list": [1, 2], "big": 10**400 if step == 4 else 1e300})
    run.finish(exit_code=exit_code)
logs(0)
begun = int(time.time())
while int(time.time()) == begun:  # folders are named by the second
    time.sleep(0.05)
run = wandb.init(dir=sys.argv[1], id=sys.argv[2], name=sys.argv[3], project="p", config={"lr": 0.1, "m": {"d": 2}}, settings=how)
logs(3)
"""  # noqa: E501  # a text that is read as it stands
GROWS = """
for step in range(600):
    run.log({"loss": 1.0 * step, "note": "x" * 100})
print("half", flush=True)
sys.stdin.readline()
for step in range(600, 1000):
    run.log({"loss": 1.0 * step})
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


def wandb_process(folder: Path, script: str, *words: str) -> "subprocess.Popen[str]":
    env = {name: items for name, items in os.environ.items() if not name.startswith("WANDB_")}
    env |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
    argv = [sys.executable, "-c", WRITER + script, str(folder), *words]
    return subprocess.Popen(
        argv, env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two attempts of one run, the second of which failed: written once for all processes of the
    session, by one process, as each takes three seconds of CPU to begin.
    """
    base = tmp_path_factory.getbasetemp()
    shared_parent = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared_parent / "wandb-real"
    with (shared_parent / "wandb-real.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()  # one that fails is not written again
            with wandb_process(folder, TWICE, "tiny", "Tiny") as writer:
                writer.communicate(timeout=120)
            assert writer.returncode == 0
    return folder


@pytest.fixture
def real_bench(real: Path, tmp_path: Path) -> Bench:
    shutil.copytree(real / "wandb", tmp_path / "wandb", symlinks=True)
    return Bench(tmp_path)


@pytest.mark.thorough
def test_both_logs_of_a_resumed_run_are_read_and_each_is_an_attempt(real_bench: Bench) -> None:
    rows, _, problems = drain(real_bench.connect())
    assert [row.step for row in rows] == [*range(5), *range(5)]
    assert len({row.attempt for row in rows[:5]}) == len({row.attempt for row in rows[5:]}) == 1
    assert rows[0].attempt < rows[5].attempt
    assert problems == []


def test_values_of_the_real_client_are_numbers_under_dotted_names(real_bench: Bench) -> None:
    row = drain(real_bench.connect())[0][3]
    assert row.values.keys() - {"_runtime"} == {"loss", "a.b/c.d", "nan", "up", "down", "big"}
    assert (row.values["loss"], row.values["a.b/c.d"], row.values["big"]) == (0.25, 3.0, 1e300)
    assert math.isnan(row.values["nan"])
    assert (row.values["up"], row.values["down"]) == (math.inf, -math.inf)
    assert row.at is not None
    assert abs(row.at.timestamp() - time.time()) < 3600


def test_the_newest_log_of_the_real_client_says_who_the_run_is_and_how_it_ended(
    real_bench: Bench,
) -> None:
    identity = real_bench.connect().identify()
    assert (identity.state, identity.id, identity.display_name, identity.last_step) == (
        TrackerState.FAILED,
        "tiny",
        "Tiny",
        4,
    )
    assert identity.config == {"lr": 0.1, "m": {"d": 2}}


@pytest.mark.parametrize("path", ["wandb/latest-run", "", "wandb"])
def test_the_link_to_the_latest_run_stands_for_the_whole_run(real_bench: Bench, path: str) -> None:
    link = real_bench.top / "latest-run"
    link.unlink()
    link.symlink_to(max(name for name in os.listdir(real_bench.top) if name.startswith("offline-")))
    assert len(drain(real_bench.connect(path or ".", None))[0]) == 10


def test_a_folder_or_a_file_of_a_run_stands_for_itself(real_bench: Bench) -> None:
    log = min(real_bench.top.glob("offline-run-*/*.wandb"))
    for path in (log, log.parent):
        assert len(drain(real_bench.connect(str(path), None))[0]) == 5


@pytest.fixture
def growing(bench: Bench) -> Iterator["subprocess.Popen[str]"]:
    with wandb_process(Path(bench.place.output_root), GROWS, "tiny", "Tiny") as writer:
        yield writer
        writer.kill()


@pytest.mark.thorough
def test_a_growing_log_is_read_once_and_a_killed_writer_leaves_it_open(
    bench: Bench, growing: "subprocess.Popen[str]"
) -> None:
    assert growing.stdout is not None
    assert growing.stdin is not None
    assert growing.stdout.readline() == "half\n"
    early, cursor = until(bench, 400, "")
    growing.stdin.write("on\n")
    growing.stdin.flush()
    late, cursor = until(bench, 601 - len(early), cursor)
    growing.stdin.close()
    assert growing.wait(30) == -signal.SIGKILL
    identity = bench.connect().identify()
    rest, _ = until(bench, 0, cursor)
    steps = [row.step for row in early + late + rest]
    # what had not reached W&B's own process is lost with the writer
    assert steps == list(range(len(steps)))
    assert identity.state is TrackerState.RUNNING
    assert identity.last_step in steps[600:]


def until(bench: Bench, count: int, cursor: str) -> tuple[list[Row], str]:
    """Read on until so many rows have come: W&B writes them from a process of its own."""
    rows: list[Row] = []
    ends = time.monotonic() + 30
    while True:
        more, cursor, problems = drain(bench.connect(), cursor)
        assert problems == []
        rows += more
        if len(rows) >= count or time.monotonic() > ends:
            return rows, cursor
        time.sleep(0.02)


# --- the framing ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_torn_tail_waits_for_its_end_and_no_row_is_lost_or_read_twice(bench: Bench) -> None:
    whole = framed_content([history(0, {"loss": 1.0}), history(1, {"loss": 2.0})], 0)
    bench.log_file.parent.mkdir(parents=True)
    for cut in range(len(whole)):
        bench.log_file.write_bytes(whole[:cut])
        rows, cursor, problems = drain(bench.connect())
        bench.log_file.write_bytes(whole)
        assert [row.step for row in rows] + steps(bench, cursor) == [0, 1], f"cut before byte {cut}"
        assert problems == []


def test_records_over_several_blocks_are_put_together_and_reading_continues_after_each(
    bench: Bench,
) -> None:
    names = [f"m{number}" for number in range(9000)]
    long = dict.fromkeys(names, 1.0)
    bench.log((0, {"loss": 1.0}), (1, long))
    first, cursor, _ = drain(bench.connect())
    assert bench.log_file.stat().st_size > 4 * BLOCK
    assert first[1].values == long
    bench.log((2, long), (3, {"loss": 1.0}))
    assert steps(bench, cursor) == [2, 3]


@pytest.mark.thorough
def test_a_header_that_ends_with_its_block_is_followed_in_the_next(bench: Bench) -> None:
    for filler in range(20):  # so that a block ends before, in and after a header
        bench.log_file.unlink(missing_ok=True)
        empty = history(0, {"loss": 1.0})
        extra = BLOCK - 7 - 2 * 7 - 2 * len(empty) - 7 - filler
        bench.log_file.parent.mkdir(parents=True, exist_ok=True)
        append(
            bench.log_file,
            empty,
            empty,
            wandb_record(uuid="x" * extra).SerializeToString(),
            empty,
            empty,
        )
        assert len(drain(bench.connect())[0]) == 4, filler


def test_a_damaged_record_costs_itself_and_is_named_once(bench: Bench) -> None:
    bench.log(*((step, {"loss": 1.0}) for step in range(3)))
    size = bench.log_file.stat().st_size
    data = bytearray(bench.log_file.read_bytes())
    data[7 + (size - 7) // 2] ^= 0x40  # in the middle one
    bench.log_file.write_bytes(data)
    rows, cursor, problems = drain(bench.connect())
    assert [row.step for row in rows] == [0, 2]
    assert len(problems) == 1
    assert drain(bench.connect(), cursor)[2] == []


def test_a_damaged_size_costs_the_rest_of_its_block(bench: Bench) -> None:
    bench.log(*((step, {"loss": 1.0}) for step in range(2000)))
    data = bytearray(bench.log_file.read_bytes())
    data[7 + 4 : 7 + 6] = b"\xff\xff"
    bench.log_file.write_bytes(data)
    rows, _, problems = drain(bench.connect())
    assert len(problems) == 1
    assert [row.step for row in rows] == list(range(rows[0].step, 2000))
    assert 200 < rows[0].step < 1000


def test_zeros_that_a_crashed_host_left_are_no_records(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    with bench.log_file.open("ab") as file:
        file.write(bytes(500))
    rows, _, problems = drain(bench.connect())
    assert ([row.step for row in rows], problems) == ([0], [])


def test_a_newest_record_that_is_there_in_parts_waits_for_the_rest(bench: Bench) -> None:
    whole = framed_content([history(0, {"loss": 1.0}), history(1, {"loss": 2.0})], 0)
    bench.log_file.parent.mkdir(parents=True)
    bench.log_file.write_bytes(whole[:-9] + bytes(9))  # as over a network file system
    rows, cursor, problems = drain(bench.connect())
    assert ([row.step for row in rows], problems) == ([0], [])
    bench.log_file.write_bytes(whole)
    assert steps(bench, cursor) == [1]


def test_what_is_no_log_is_unreadable_and_not_empty(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    bench.log_file.write_text("Not Found")
    with pytest.raises(OSError, match=r"no \.wandb log"):
        bench.connect().read("")


def test_a_log_that_has_only_begun_has_no_rows_yet(bench: Bench) -> None:
    bench.log_file.parent.mkdir(parents=True)
    for data in (b"", BEGIN[:3], BEGIN):
        bench.log_file.write_bytes(data)
        batch = bench.connect().read("")
        assert (batch.rows, batch.problems) == ((), ())
        assert bench.connect().identify().state is TrackerState.RUNNING


# --- the records ---------------------------------------------------------------------------------


def history_of(*items: tuple[str, object]) -> bytes:
    """A row of typed items, as W&B's messages have them next to JSON."""
    record = wandb_record()
    for name, value in items:
        item = record.history.item.add()
        item.key = name
        field = {bool: "boolean", int: "integer", float: "number", str: "text"}.get(
            type(value), "json"
        )
        setattr(item, field, value if field != "json" else json.dumps(value))
    record.history.step.num = 7
    return record.SerializeToString()


def test_typed_values_are_read_as_those_in_json(bench: Bench) -> None:
    texts = (
        ("i", -3),
        ("n", 0.5),
        ("t", "words"),
        ("inf", "-Infinity"),
        ("b", True),
        ("j", {"in": {"side": 2}, "off": "NaN"}),
    )
    append(bench.log_file, history_of(*texts))
    (row,), _, problems = drain(bench.connect())
    assert row.step == 7
    assert math.isnan(row.values["j.off"])
    assert {name: texts for name, texts in row.values.items() if name != "j.off"} == {
        "i": -3.0,
        "n": 0.5,
        "inf": -math.inf,
        "j.in.side": 2.0,
    }
    assert problems == []


def test_unknown_records_and_fields_are_passed_over(bench: Bench) -> None:
    loss, step, _ = (
        item.SerializeToString()
        for item in wandb_record().FromString(history(3, {"loss": 1.0})).history.item
    )
    loss += b"\xf2\x07\x03new\xe8\x0f\x05\xe5\x0f1234"  # a text, a number and four bytes
    row = delimited_field(0x0A, loss) + b"\xfa\x3e\x01x" + delimited_field(0x0A, step)
    strange = b"\xca\x3e\x02hi" + delimited_field(0x12, row) + b"\xd0\x3e\x01"
    append(bench.log_file, b"\xca\x3e\x02hi", wandb_record(uuid="u").SerializeToString(), strange)
    rows, _, problems = drain(bench.connect())
    assert problems == []
    assert [(row.step, row.values) for row in rows] == [(3, {"loss": 1.0})]


def test_a_row_without_a_step_is_a_problem_and_a_malformed_record_too(bench: Bench) -> None:
    append(bench.log_file, history(None, {"loss": 1.0}), b"\x12\x7f", history(1, {"loss": 1.0}))
    rows, _, problems = drain(bench.connect())
    assert [row.step for row in rows] == [1]
    stepless, malformed_problem = (problem.rpartition(": ")[2] for problem in problems)
    assert mentions(stepless, "without", "step") and mentions(malformed_problem, "beyond", "end")


# --- the run -------------------------------------------------------------------------------------


def run_record(identity: str, name: str) -> bytes:
    return wandb_record(run={"run_id": identity, "display_name": name}).SerializeToString()


def test_no_log_of_the_id_is_absent_and_one_out_of_reach_is_no_answer(bench: Bench) -> None:
    append(
        bench.top / "offline-run-20261121_100000-tiny-2" / "run-tiny-2.wandb",
        history(0, {"loss": 1.0}),
    )
    assert bench.connect().identify().state is TrackerState.ABSENT
    with pytest.raises(FileNotFoundError):
        bench.connect().read("")
    bench.log((0, {"loss": 1.0}))
    bench.cut_off()
    identity = bench.connect().identify()
    assert identity.state is TrackerState.UNREACHABLE
    assert identity.why


def test_other_runs_of_the_name_are_namesakes(bench: Bench) -> None:
    for identity, name in (("tiny", "Tiny"), ("other", "Tiny"), ("third", "Else")):
        append(
            bench.top / f"run-20261121_100000-{identity}" / f"run-{identity}.wandb",
            run_record(identity, name),
        )
    assert bench.connect().identify().namesakes == ("other",)


def test_the_last_step_is_found_far_from_the_end_and_in_an_older_log(bench: Bench) -> None:
    append(bench.log_file, run_record("tiny", "Tiny"))
    bench.log((41, {"loss": 1.0}))
    append(
        bench.log_file, *(wandb_record(uuid="x" * 20_000).SerializeToString() for _ in range(40))
    )
    append(bench.top / SECOND / "run-tiny.wandb", run_record("tiny", "Tiny"))
    assert bench.connect().identify().last_step == 41


def test_a_process_that_ended_well_is_finished(bench: Bench) -> None:
    append(
        bench.log_file,
        run_record("tiny", "Tiny"),
        wandb_record(exit={"exit_code": 0}).SerializeToString(),
    )
    assert bench.connect().identify().state is TrackerState.FINISHED


def test_the_last_step_is_that_of_the_newest_log_that_has_one(bench: Bench) -> None:
    bench.log((41, {"loss": 1.0}))
    append(bench.top / SECOND / "run-tiny.wandb", history(12, {"loss": 1.0}))
    assert bench.connect().identify().last_step == 12


# --- several logs --------------------------------------------------------------------------------


def test_a_second_log_continues_and_late_rows_of_the_first_are_not_lost(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    append(bench.top / SECOND / "run-tiny.wandb", history(1, {"loss": 1.0}))
    batch = bench.connect().read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([1], False)
    bench.log((2, {"loss": 1.0}))
    batch = bench.connect().read(batch.cursor)
    assert [(row.step, row.attempt) for row in batch.rows] == [(2, FIRST)]


def test_logs_are_read_in_the_order_of_their_times_whatever_their_kind(bench: Bench) -> None:
    kinds = ("run", "offline-run", "run", "offline-run", "run")
    for hour, kind in reversed(list(enumerate(kinds))):
        log = bench.top / f"{kind}-20261121_1{hour}0000-tiny" / "run-tiny.wandb"
        append(log, history(hour, {"loss": 1.0}))
    assert steps(bench) == [0, 1, 2, 3, 4]


def test_what_was_read_of_a_log_that_is_gone_stays_read(bench: Bench) -> None:
    bench.log((0, {"loss": 1.0}))
    append(bench.top / SECOND / "run-tiny.wandb", history(1, {"loss": 1.0}))
    _, cursor, _ = drain(bench.connect())
    shutil.rmtree(bench.log_file.parent)
    append(bench.top / SECOND / "run-tiny.wandb", history(2, {"loss": 1.0}))
    batch = bench.connect().read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([2], False)


def test_a_shortened_log_is_read_from_its_start(bench: Bench) -> None:
    bench.log(*((step, {"loss": 1.0}) for step in range(9)))
    _, cursor, _ = drain(bench.connect())
    bench.log_file.write_bytes(framed_content([history(0, {"loss": 1.0})], 0))
    batch = bench.connect().read(cursor)
    assert ([row.step for row in batch.rows], batch.restarted) == ([0], True)


@pytest.mark.parametrize(("limit", "most"), [("MAX_ROWS", 7), ("MAX_BYTES", 1000)])
def test_one_read_is_bounded_and_continues(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(_tail_reader, limit, most)
    bench.log(*((step, {"loss": 1.0}) for step in range(30)))
    append(
        bench.top / SECOND / "run-tiny.wandb", *(history(step, {"loss": 1.0}) for step in range(30))
    )
    assert len(bench.connect().read("").rows) < 30
    assert steps(bench) == [*range(30), *range(30)]


def test_a_pipe_is_not_waited_for(bench: Bench) -> None:
    bench.log_file.parent.mkdir(parents=True)
    os.mkfifo(bench.log_file)
    with pytest.raises(OSError, match=r"regular.*file"):
        bench.connect().read("")


def test_a_remote_path_is_refused_with_what_to_do(bench: Bench) -> None:
    with pytest.raises(WrongUse, match="absolute `path`"):
        bench.connect("gs://bucket/wandb")
