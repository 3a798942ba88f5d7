"""What a tracker's rows amount to: read on from the cache, whatever became of it."""

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from builders import NOON, a_contract, a_history, a_row
from curves import CALM, curve
from herorun.core.detectors.names import Names
from herorun.core.evidence import History, Nothing, Now
from herorun.core.metric_names import names_of
from herorun.core.ports import Place, Rows
from herorun.sources import _detector_state, metrics
from herorun.sources.metrics import CACHE, COLUMNS, keep_metrics
from herorun.system.metrics_cache import generations, read_fetched
from wording import mentions


class Feed:
    """A tracker that is a list; its cursor is how many rows were read."""

    def __init__(self, rows: Sequence = ()):
        self.rows = list(rows)
        self.requests: list[str] = []

    def read(self, cursor: str) -> Rows:
        self.requests.append(cursor)
        offset = int(cursor or 0)
        is_restarted = offset > len(self.rows)
        offset = 0 if is_restarted else offset
        return Rows(
            rows=tuple(self.rows[offset : offset + 25]),
            cursor=str(min(offset + 25, len(self.rows))),
            changed_at=NOON,
            restarted=is_restarted,
        )


class Gone:
    """A tracker whose history was deleted."""

    def read(self, cursor: str) -> Rows:
        raise FileNotFoundError("no such run")


def read_metrics(tracker, contract, place, at=NOON, values=0):
    return metrics.read_metrics(tracker, contract, place, Now(at), History(rows=values))


def tick(tracker, place, contract=None, at=NOON):
    evidence = read_metrics(tracker, contract or a_contract(), place, at)
    assert keep_metrics(place, evidence) == ""
    return evidence


def steps(place):
    contents = read_fetched(Path(place.state) / COLUMNS)
    return [point.step for point in contents.points("train/loss")] if contents else []


@pytest.fixture
def place(tmp_path):
    return Place("tiny", str(tmp_path), "/data/tiny", str(tmp_path))


def test_no_rows_are_nothing(place):
    feed = Feed()
    assert isinstance(read_metrics(feed, a_contract(), place), Nothing)
    assert feed.requests == [""]


def test_the_first_rows_are_read_once(place):
    feed = Feed(curve(*[3.2] * 12))
    assert read_metrics(feed, a_contract(), place).rows == 12
    assert feed.requests == ["", "12"]


def test_a_job_that_logs_faster_than_its_rows_are_read_is_read_to_an_end(place):
    class Fast(Feed):
        """One more row during each read."""

        def read(self, cursor: str) -> Rows:
            batch = replace(super().read(cursor), at_end=True)
            self.rows += curve(3.2, first=len(self.rows))
            assert len(self.requests) < 10
            return batch

    assert read_metrics(Fast(curve(*CALM[:20])), a_contract(), place).rows == 20


def test_what_was_read_before_the_rows_went_is_not_the_last_look(place):
    read_metrics(Feed(curve(*CALM)), a_contract(), place)
    assert isinstance(read_metrics(Feed(), a_contract(), place), Nothing)
    assert metrics.read_rows(place, a_contract()) == ((), "")


def test_a_second_look_reads_the_new_rows_only(place):
    feed = Feed(curve(*CALM))
    keep_metrics(place, read_metrics(feed, a_contract(), place))
    feed.rows += curve(*[3.2] * 12, first=60)
    feed.requests.clear()
    again = read_metrics(feed, a_contract(), place)

    assert feed.requests[0] == "60"
    assert [(e.first_step, e.rows) for e in again.spikes] == [(61, 12)]
    assert (
        again.spikes
        == read_metrics(feed, a_contract(), Place("b", f"{place.state}/b", "", "")).spikes
    )


def test_what_the_ticks_of_another_machine_told_of_is_not_told_again(place):
    feed = Feed(curve(*CALM, *[3.2] * 12, *CALM))
    (spike,) = read_metrics(feed, a_contract(), place).spikes
    assert not spike.open
    assert read_metrics(feed, a_contract(), place, values=len(feed.rows)).spikes == ()

    feed.rows += curve(*[3.2] * 12, *CALM, first=len(feed.rows))
    (news,) = read_metrics(feed, a_contract(), place, values=len(feed.rows) - 72).spikes
    assert news.first_step > spike.first_step


def test_an_excursion_that_continues_is_reported_by_whoever_looks(place):
    feed = Feed(curve(*CALM, *[3.2] * 12))
    (spike,) = read_metrics(feed, a_contract(), place, values=len(feed.rows)).spikes
    assert spike.open


def test_fewer_rows_than_were_told_of_are_others(place):
    feed = Feed(curve(*CALM, *[3.2] * 12, *CALM))
    assert len(read_metrics(feed, a_contract(), place, values=1000).spikes) == 1


def test_a_mere_look_moves_nothing(place):
    feed = Feed(curve(*CALM))
    first = read_metrics(feed, a_contract(), place)

    feed.requests.clear()

    assert read_metrics(feed, a_contract(), place) == first and feed.requests[0] == ""
    assert (
        keep_metrics(place, first) == "" and list(Path(place.state).iterdir()) == []
    )  # not what was read last


def test_every_row_that_a_tick_saw_is_kept_once(place):
    feed = Feed(curve(*CALM))
    tick(feed, place)
    feed.rows += curve(*[3.2] * 12, first=60)
    feed.requests.clear()
    tick(feed, place)

    # the columns ask for nothing
    assert steps(place) == list(range(72)) and feed.requests == ["60", "72"]


def test_what_a_look_could_not_hold_comes_with_the_next_ticks(place, monkeypatch):
    monkeypatch.setattr(_detector_state, "MAX_ROWS", 30)
    feed = Feed([a_row(step, 2.0) for step in range(90)])
    tick(feed, place)
    assert steps(place) == list(range(25))

    feed.rows.append(a_row(90, 2.0))
    for _ in range(4):
        tick(feed, place)
    assert steps(place) == list(range(91))


def test_folding_again_fetches_no_row_again(place, tmp_path):
    feed = Feed(curve(*CALM))
    tick(feed, place)
    (tmp_path / CACHE).unlink()
    tick(feed, place)

    assert steps(place) == list(range(60)) and len(generations(tmp_path / COLUMNS)) == 1


def test_columns_that_were_deleted_are_fetched_again(place, tmp_path):
    feed = Feed(curve(*CALM))
    tick(feed, place)
    shutil.rmtree(tmp_path / COLUMNS)
    for _ in range(3):
        tick(feed, place)

    assert steps(place) == list(range(60))


def test_a_source_that_began_again_is_fetched_again_and_the_older_rows_stay(place, tmp_path):
    feed = Feed(curve(*CALM))
    tick(feed, place)
    feed.rows = curve(*CALM[:7])
    tick(feed, place)

    cache_generations = generations(tmp_path / COLUMNS)
    assert [(each.older, each.rows) for each in cache_generations] == [(False, 7), (True, 60)]


def test_rows_that_a_cut_takes_away_were_seen_anyway(place):
    """A look right after the cut: the newest row that is left is old, and the run stalled for none
    of that time.
    """
    rows = [a_row(step, 3.0, at=NOON - timedelta(minutes=40 - step)) for step in range(40)]
    feed = Feed(rows)
    tick(feed, place)
    feed.rows = rows[:10]
    again = tick(feed, place, at=NOON + timedelta(seconds=1))
    assert (again.step, again.advanced_at) == (10, NOON - timedelta(minutes=1))


def test_another_tracker_is_fetched_again(place, tmp_path):
    tick(Feed(curve(*CALM)), place)
    tick(Feed(curve(*CALM[:9])), place, a_contract(tracker={"path": "other.jsonl"}))

    assert [(each.older, each.rows) for each in generations(tmp_path / COLUMNS)] == [
        (False, 9),
        (True, 60),
    ]


def test_a_history_that_is_gone_stays_readable_and_is_said_to_be_older(place):
    tick(Feed(curve(*CALM)), place)
    evidence = read_metrics(Gone(), a_contract(), place)

    assert isinstance(evidence, Nothing) and mentions(evidence.why, "kept")
    assert steps(place) == list(range(60))


def test_a_cache_that_cannot_be_written_stops_nothing(place, tmp_path):
    feed = Feed(curve(*CALM))
    evidence = read_metrics(feed, a_contract(), place)
    (tmp_path / COLUMNS).write_text("in the way")

    assert "stored" in keep_metrics(place, evidence)


@pytest.mark.parametrize("text", ["", "{}", '{"version": "x", "state": {}}', "[1]"])
def test_a_damaged_cache_is_no_loss(place, tmp_path, text):
    feed = Feed(curve(*CALM))
    whole = read_metrics(feed, a_contract(), place)
    (tmp_path / CACHE).write_text(text)

    assert read_metrics(feed, a_contract(), place) == whole


def test_another_contract_folds_again(place, tmp_path):
    feed = Feed([a_row(i, 2.0, **{"router/load": 0.5}) for i in range(60)])
    keep_metrics(place, read_metrics(feed, a_contract(), place))
    before = json.loads((tmp_path / CACHE).read_text())["version"]
    banded_contract = a_contract(
        babysit={"thresholds": {"metric-out-of-band": {"bands": ["router/load 0.6 0.9"]}}}
    )
    evidence = read_metrics(feed, banded_contract, place)
    keep_metrics(place, evidence)

    assert [e.rows for e in evidence.of("band")] == [60]
    assert json.loads((tmp_path / CACHE).read_text())["version"] != before


def test_the_contract_names_the_columns():
    contract = a_contract(
        tracker={
            "metrics": {
                "loss": "ce",
                "grad_norm": "gn",
                "lr": "eta",
                "router": "moe/load",
                "step": "n",
            }
        },
        phase=[{"name": "cooldown", "step": 90}, {"name": "warm", "step": 10}],
    )
    names = names_of(contract)

    assert names.loss == ("ce",) and names.norm[0] == "gn" and names.rate[0] == "eta"
    assert names.declared == ("gn", "eta", "moe/load") and set(names.declared) <= set(names.watched)
    assert names.phases == (10, 90)
    assert names_of(a_contract()) == Names()


def test_a_look_before_the_clock_was_set_back_dates_no_row(place):
    """Once that moment really comes, its rows are none of somebody who writes after the end."""
    feed = Feed([a_row(0, 2.0, NOON - timedelta(minutes=2))])
    tick(feed, place, at=NOON + timedelta(hours=1))
    feed.rows.append(a_row(1, 2.0, NOON - timedelta(minutes=1)))
    back = tick(feed, place, at=NOON)
    assert (back.behind, back.advanced_at) == (0.0, NOON - timedelta(minutes=1))


@pytest.mark.parametrize("value", [4.5, math.nan])
def test_what_comes_and_ends_while_the_clock_is_an_hour_back_is_judged_then(place, value):
    """An excursion that is over is told by the look that reads it, and by no later one."""
    history = a_history()
    later = NOON - timedelta(minutes=30)  # of a launch an hour before noon
    feed = Feed([a_row(step, loss, later) for step, loss in enumerate(CALM)])
    keep_metrics(place, metrics.read_metrics(feed, a_contract(), place, Now(later), history))
    back = later - timedelta(hours=1)
    rows = [value] * 12 + [2.0] * 8
    feed.rows += [a_row(len(CALM) + n, loss, back) for n, loss in enumerate(rows)]
    observations = metrics.read_metrics(feed, a_contract(), place, Now(back), history)

    assert not any(each.open for each in (*observations.spikes, *observations.non_finite))
    assert (observations.spikes or observations.non_finite)[0].rows == 12
    assert history.wrote(observations)


def test_a_state_that_is_read_again_knows_its_rows_by_step(place):
    """The oldest are forgotten, and the newest compared: in JSON `1000` stands before `999`."""
    feed = Feed([a_row(step, 2.0, NOON) for step in range(985, 1015)])
    tick(feed, place)
    read_metrics(feed, a_contract(), place)
    losses = metrics._reads[place.state].state.lineage.losses
    assert list(losses) == sorted(losses) and {999, 1000} <= losses.keys()


@pytest.mark.parametrize(("hours", "behind"), [(5, True), (0.4, False)])
def test_rows_whose_clock_is_hours_behind_are_as_new_as_they_come(place, hours, behind):
    """The first look cannot know; the next one sees rows that the look before did not."""
    feed = Feed([a_row(0, 2.0, NOON - timedelta(hours=hours))])
    first = tick(feed, place)
    feed.rows.append(a_row(1, 2.0, NOON - timedelta(hours=hours) + timedelta(minutes=10)))
    second = tick(feed, place, at=NOON + timedelta(minutes=15))

    assert (first.behind, bool(second.behind)) == (0.0, behind)
    assert (second.advanced_at >= NOON) is behind
    assert (
        tick(feed, place, at=NOON + timedelta(hours=3)).advanced_at == second.advanced_at
    )  # without a new row it is as old as it was
