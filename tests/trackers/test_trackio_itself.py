"""What the real trackio writes is read as it was logged, and the tables of the other tests are its
own.
"""

import math
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from herorun.core.ports import Place
from herorun.trackers import trackio
from ports.tracker_suite import drain
from services.fixtures import skip_or_fail
from services.servers import PYTHON
from trackers.written import trackio_rows

TRAIN = """\
import trackio
trackio.init(project="pr.oj", name="tiny", config={"lr": 1})
trackio.log({"loss": 2.5})
trackio.log({"loss": float("nan"), "router": {"load": 0.25}}, step=7)
trackio.alert(title="loss spike", text="it rose", level=trackio.AlertLevel.ERROR)
trackio.finish()
trackio.init(project="pr.oj", name="other")
trackio.log({"loss": 9.0})
trackio.finish()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trackio's databases after two runs of one project."""
    if not list(PYTHON.parents[1].glob("lib/python*/site-packages/trackio")):
        skip_or_fail(f"trackio is not in {PYTHON.parents[1]}: `make services` installs it")
    home = tmp_path_factory.mktemp("trackio")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TRACKIO_DIR": str(home / "db"),
        "HF_HUB_OFFLINE": "1",
    }
    argv = [str(PYTHON), "-c", TRAIN]
    process = subprocess.run(argv, env=env, cwd=home, capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    return home / "db"


@pytest.fixture
def tracker(folder: Path) -> trackio.Trackio:
    options = trackio.Options(path=str(folder), project="pr.oj", name="tiny")
    return trackio.connect(options, Place("tiny", str(folder), str(folder), str(folder)))


@pytest.mark.thorough
def test_rows_come_under_their_steps_with_times_and_numbers_that_are_none(
    tracker: trackio.Trackio,
) -> None:
    rows, _, problems = drain(tracker)
    assert ([row.step for row in rows], problems) == ([0, 7], [])
    assert rows[0].values == {"loss": 2.5}
    assert math.isnan(rows[1].values["loss"])
    assert rows[1].values["router.load"] == 0.25
    assert all(row.at is not None and row.at.utcoffset() is not None for row in rows)
    assert len({row.attempt for row in rows}) == 1


def test_an_alert_comes_with_its_level_and_step(tracker: trackio.Trackio) -> None:
    (alert,) = tracker.alerts()
    assert (alert.title, alert.text, alert.level, alert.step) == (
        "loss spike",
        "it rose",
        "error",
        7,
    )
    assert alert.at is not None
    assert alert.attempt == drain(tracker)[0][0].attempt


def test_the_tables_of_the_other_tests_are_trackios(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "proj.db"
    trackio_rows(path, (0, "{}"))
    for table in ("metrics", "configs", "alerts"):
        assert columns(path, table) == columns(folder / "proj.db", table)


def columns(path: Path, table: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return [(row[1], row[2].lower()) for row in database.execute(f"pragma table_info({table})")]
