"""The loss of the run that another one starts from, by the rows that are kept of it."""

from pathlib import Path

import pytest

from builders import NOON, a_contract, a_history, a_row
from herorun.core.detectors.names import Names
from herorun.core.evidence import Nothing, PriorLaunch, SourceLoss
from herorun.core.ports import Place
from herorun.sources.metrics import COLUMNS
from herorun.sources.source_loss import read_source_loss
from herorun.system.metrics_cache import Writer
from screens.notices import Notice

START = "/data/base/step-300"
PLAN = PriorLaunch("tiny-1", {"start": {"path": START, "step": 300, "kind": "weights-only"}})
FROM = {"start": {"from": START, "kind": "weights-only", "source_run": "base"}}


def keep(home: Path, losses: list[float]) -> None:
    rows = [a_row(step, loss) for step, loss in enumerate(losses)]
    Writer(home / "base" / COLUMNS, "sha256:0").append(rows, "c", Names(), NOON)


def read(home: Path, history=None, plan=PLAN, **contract) -> SourceLoss | Nothing:
    place = Place("tiny", str(home / "tiny"), "/data/tiny", "/repository")
    return read_source_loss(a_contract(**(contract or FROM)), place, history or a_history(), plan)


def test_its_first_rows_and_its_level_before_the_checkpoint(tmp_path: Path) -> None:
    keep(tmp_path, [10.0, 9.0, float("nan"), 8.0, 7.0, *[3.0] * 246, *[2.0] * 50, *[9.9] * 50])

    assert read(tmp_path) == SourceLoss("base", (10.0, 9.0, 8.0, 7.0), 2.0)


@pytest.mark.parametrize(
    "result",
    [
        {"history": a_history(2)},
        {"plan": PriorLaunch("tiny-1", {"start": None})},
        {"plan": Nothing()},
        {"start": {"from": START, "kind": "weights-only", "source_run": "../base"}},
    ],
)
def test_what_starts_from_no_other_run_reads_nothing(tmp_path: Path, result: dict) -> None:
    keep(tmp_path, [2.0] * 310)

    assert isinstance(read(tmp_path, **result), Nothing)


def test_a_run_that_this_machine_never_watched_is_nothing(tmp_path: Path, notice: Notice) -> None:
    absent = read(tmp_path)
    assert isinstance(absent, Nothing) and absent.why == notice
