"""Whatever parses other people's bytes: no crash but the errors that it promises, and a time that
is bounded.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note as note_example, settings, strategies as st

from herorun.core.adhoc_jobs.log_parser import progress_in
from herorun.core.canonical_json import canonical
from herorun.core.contract import parse_contract
from herorun.core.errors import HerorunError, WrongUse
from herorun.core.journal import BrokenJournal, chain, read_line
from herorun.core.journal.snapshot import from_bytes
from herorun.core.ports import Place
from herorun.core.record.anchors import named_in_comment, named_in_receipt, receipts_in
from herorun.core.seal.parse import parse_statement, statement_in
from herorun.core.triage.tracker_lines import tracker_runs
from herorun.operations.checkpoints.list import read_plan
from herorun.operations.launch.plan_file import read_plan_file
from herorun.schedulers._iris.argv import generation_of
from herorun.schedulers._iris.parse import listing
from herorun.schedulers._nel.parse import entries, errors_in, invocation_in, statuses
from herorun.schedulers._nel.results import scores
from herorun.schedulers._ray.parse import record_of, records_of
from herorun.schedulers._slurm.parse import sacct_rows, squeue_rows
from herorun.trackers import jsonl, levanter_log, tensorboard, wandb_offline
from herorun.trackers._json_rows import UnusableLine, parse_row
from stories import note

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
LINE = chain([note("seen")], "")[0].text
HARD = (
    "9" * 5000,
    "[" * 100_000,
    '{"step": ' + "9" * 400 + "}",
    '{"a":' * 3000 + "1" + "}" * 3000,
    "\x00" * 4096,
    "step 9" + "9" * 400 + "/1",
    "|" * 50_000,
    "\ud800",
    '{"step": 1e999, "loss": -1e999}',
    "2026-13-45T99:99:99Z " * 50,
)
# more by hand: `HERORUN_FUZZ_EXAMPLES=5000`
MANY = int(os.environ.get("HERORUN_FUZZ_EXAMPLES", "60"))
fuzz = settings(
    max_examples=MANY, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

Parser = Callable[[str], Any]
TEXTS: dict[str, tuple[Parser, tuple[type[Exception], ...]]] = {
    "journal line": (lambda t: read_line(t, "here"), (BrokenJournal,)),
    "tracker row": (lambda t: parse_row(raw(t)), (UnusableLine,)),
    "contract": (lambda t: parse_contract(t, "runs/x.toml"), (WrongUse,)),
    "seal in a tag": (statement_in, (ValueError,)),
    "statement": (parse_statement, (ValueError,)),
    "comment": (lambda t: named_in_comment("tiny", t), ()),
    "receipts in a log": (receipts_in, ()),
    "progress in a log": (progress_in, ()),
    "tracker runs in a log": (tracker_runs, ()),
    "squeue": (lambda t: squeue_rows(t, "\x1f"), (HerorunError,)),
    "sacct": (lambda t: sacct_rows(t, "\x1f"), (HerorunError,)),
    "iris": (lambda t: listing(generation_of(t), t, t), (HerorunError,)),
    "nel jobs": (entries, (HerorunError,)),
    "nel statuses": (statuses, (HerorunError,)),
    "nel errors": (errors_in, (HerorunError,)),
    "nel invocation": (invocation_in, (HerorunError,)),
    "nel scores": (scores, (HerorunError,)),
    "memory on this machine": (lambda t: from_bytes(raw(t), "0"), ()),
}


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def must_answer(name: str, text: str) -> None:
    parse, allowed_errors = TEXTS[name]
    with contextlib.suppress(*allowed_errors):
        parse(text)


@fuzz
@given(st.text(max_size=300) | JSON.map(json.dumps) | st.lists(JSON, max_size=3).map(json.dumps))
@example("")
def test_any_text_is_answered(text: str) -> None:
    """To draw a text takes longer than to read it: all parsers read each of them."""
    for name in TEXTS:
        note_example(f"parser: {name}")  # the last one is that of the failure
        must_answer(name, text)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_text_that_is_made_to_bring_it_down(name: str, text: str) -> None:
    before = time.process_time()
    must_answer(name, text)
    assert time.process_time() - before < 5.0


@fuzz
@given(st.integers(0, len(LINE) - 1), st.characters())
def test_a_journal_line_with_one_character_changed_is_never_believed(
    at: int, character: str
) -> None:
    changed_line = LINE[:at] + character + LINE[at + 1 :]
    if changed_line != LINE:
        with contextlib.suppress(BrokenJournal):
            assert (
                read_line(changed_line, "here").event.kind == "Newer"
            )  # a version that this herorun cannot judge


@fuzz
@given(JSON)
def test_any_answer_of_a_dashboard_or_a_job_is_answered(value: Any) -> None:
    for parse in (record_of, records_of, lambda result: named_in_receipt("tiny", result)):
        with contextlib.suppress(HerorunError, ValueError):
            parse(value)


@pytest.mark.parametrize("name", ["jsonl", "levanter_log", "tensorboard", "wandb_offline"])
@fuzz
@given(data=st.binary(max_size=400))
@example(data=b"\0" * 70_000)
@example(data=b"\xff" * 70_000)
def test_any_file_of_a_tracker_is_read_to_its_end(name: str, data: bytes, tmp_path: Path) -> None:
    module = {
        "jsonl": jsonl,
        "levanter_log": levanter_log,
        "tensorboard": tensorboard,
        "wandb_offline": wandb_offline,
    }[name]
    path = tmp_path / ("run-x.wandb" if name == "wandb_offline" else "events.out.tfevents.1")
    path.write_bytes(data)
    place = Place("tiny", str(tmp_path), str(tmp_path), str(tmp_path))
    with contextlib.suppress(HerorunError, OSError):
        module.connect(module.Options(path=str(path)), place).read("")


@pytest.mark.parametrize(
    "read", [read_plan, lambda path: read_plan_file(path, "tiny")], ids=["prune", "launch"]
)
@fuzz
@given(data=st.binary(max_size=200) | JSON.map(lambda value: canonical_or_json(value).encode()))
@example(data=b"[" * 100_000)
@example(data=b'{"schema": 1, "digest": "x", "victims": [], "remaining": []}')
def test_any_plan_file_is_wrong_use(
    read: Callable[[Path], Any], data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(data)
    with pytest.raises(WrongUse):
        read(path)


def canonical_or_json(value: Any) -> str:
    return json.dumps({"schema": 1, "plan_digest": canonical("x"), "plan": value})
