"""What a tracker's rows amount to: read on from the cache, whatever became of it."""

import json
from collections.abc import Sequence

import pytest

from builders import NOON, a_contract, a_row
from curves import CALM, curve
from herorun.core.evidence import Nothing
from herorun.core.fold import Names
from herorun.core.ports import Place, Rows
from herorun.sources.metrics import CACHE, keep_metrics, names_of, read_metrics


class Feed:
    """A tracker that is a list; its cursor is how many rows were read."""

    def __init__(self, rows: Sequence = ()):
        self.rows = list(rows)
        self.asked: list[str] = []

    def read(self, cursor: str) -> Rows:
        self.asked.append(cursor)
        done = int(cursor or 0)
        return Rows(tuple(self.rows[done : done + 25]), str(min(done + 25, len(self.rows))), NOON)


@pytest.fixture
def place(tmp_path):
    return Place("tiny", str(tmp_path), "/data/tiny", str(tmp_path))


def test_no_rows_are_nothing(place):
    assert isinstance(read_metrics(Feed(), a_contract(), place), Nothing)


def test_a_second_look_reads_the_new_rows_only(place):
    feed = Feed(curve(*CALM))
    keep_metrics(place, read_metrics(feed, a_contract(), place))
    feed.rows += curve(*[3.2] * 12, first=60)
    feed.asked.clear()
    again = read_metrics(feed, a_contract(), place)

    assert feed.asked[0] == "60"
    assert [(e.first_step, e.rows) for e in again.spikes] == [(61, 12)]
    assert again.spikes == read_metrics(feed, a_contract(), Place("b", f"{place.state}/b", "", "")).spikes


def test_a_mere_look_moves_nothing(place):
    feed = Feed(curve(*CALM))
    first = read_metrics(feed, a_contract(), place)

    feed.asked.clear()

    assert read_metrics(feed, a_contract(), place) == first and feed.asked[0] == ""


@pytest.mark.parametrize("text", ["", "{}", '{"version": "x", "state": {}}', "[1]"])
def test_a_damaged_cache_is_no_loss(place, tmp_path, text):
    feed = Feed(curve(*CALM))
    whole = read_metrics(feed, a_contract(), place)
    (tmp_path / CACHE).write_text(text)

    assert read_metrics(feed, a_contract(), place) == whole


def test_another_contract_folds_anew(place, tmp_path):
    feed = Feed([a_row(i, 2.0, **{"router/load": 0.5}) for i in range(60)])
    keep_metrics(place, read_metrics(feed, a_contract(), place))
    before = json.loads((tmp_path / CACHE).read_text())["version"]
    banded = a_contract(babysit={"thresholds": {"metric-out-of-band": {"bands": ["router/load 0.6 0.9"]}}})
    told = read_metrics(feed, banded, place)
    keep_metrics(place, told)

    assert [e.rows for e in told.of("band")] == [60]
    assert json.loads((tmp_path / CACHE).read_text())["version"] != before


def test_the_contract_names_the_columns():
    told = a_contract(
        tracker={
            "metrics": {"loss": "ce", "grad_norm": "gn", "lr": "eta", "router": "moe/load", "step": "n"}
        },
        phase=[{"name": "cooldown", "step": 90}, {"name": "warm", "step": 10}],
    )
    names = names_of(told)

    assert names.loss == ("ce",) and names.norm[0] == "gn" and names.rate[0] == "eta"
    assert names.declared == ("gn", "eta", "moe/load") and set(names.declared) <= set(names.watched)
    assert names.phases == (10, 90)
    assert names_of(a_contract()) == Names()
