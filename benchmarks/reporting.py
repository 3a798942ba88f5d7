"""The page of a run of a million rows: seconds and size, and of what people write in a notebook
with pandas and plotly.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.timing import BESIDE, LeftOut, Row, in_turns, process

ROUNDS = 1
PLOT_PROGRAM = """
import sys
import pandas
import plotly.express
rows = pandas.read_json(sys.argv[1], lines=True)
plotly.express.line(rows, x="step", y=[name for name in rows.columns if name != "step"]).write_html(sys.argv[2])
"""  # noqa: E501  # a text that is read as it stands


def measure_report(
    home: Path, work: Path, slug: str, log: Path, rows: int
) -> Iterator[Row | LeftOut]:
    """`herorun report` of a run that was looked at before, as a babysitter does."""
    page, plot_path = home / "report.html", home / "plotted.html"
    report = process(sys.executable, "-m", "herorun", "report", slug, "--out", str(page), cwd=work)
    if not BESIDE.exists():
        yield LeftOut("`herorun report` against plotly: pandas and plotly could not be installed")
        return
    plot: Callable[[], None] = process(
        str(BESIDE), "-c", PLOT_PROGRAM, str(log), str(plot_path), env={"PYTHONPATH": ""}
    )
    costs = in_turns({"report": report, "plot": plot}, ROUNDS)
    yield Row(
        f"`herorun report`, {rows:,} steps logged: a page of {page.stat().st_size / 1e6:.1f} MB",
        costs["report"],
        f"the same curve by pandas and plotly: a page of {plot_path.stat().st_size / 1e6:.1f} MB",
        costs["plot"],
    )
