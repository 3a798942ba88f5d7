"""What every tracker must do. A test file subclasses `TrackerSuite` and gives it a `bench`: a real
source to log to.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol

import pytest

from herorun.core.evidence import TrackerTraits
from herorun.core.ports import ClientEnvironment, Row, Tracker, missing_members, tracker_traits
from ports.abilities import misshapen_members

SECRET = "ghp_" + "s3cr3t" * 6
LoggedRow = tuple[int, Mapping[str, float]]


class TrackerBench(Protocol):
    """One source, which does not exist until something is logged to it."""

    def connect(self) -> Tracker: ...

    def log(self, *rows: LoggedRow) -> None:
        """Append rows as the trainer does."""

    def replace(self, *rows: LoggedRow) -> None:
        """Let the source begin again with other rows."""

    def spoil(self, text: str) -> None:
        """Get something that is no row, and holds the text, into the source."""

    def cut_off(self) -> None:
        """Leave the source where it is, out of reach."""


def drain(tracker: Tracker, cursor: str = "") -> tuple[list[Row], str, list[str]]:
    """Read until there are no more rows, as the metrics source does."""
    rows: list[Row] = []
    problems: list[str] = []
    while True:
        batch = tracker.read(cursor)
        rows += batch.rows
        problems += batch.problems
        cursor = batch.cursor
        if not batch.rows:
            return rows, cursor, problems


class TrackerSuite:
    declares = TrackerTraits()  # what the adapter declares of itself
    client_variables: tuple[str, ...] = ()  # that its client takes from the job's environment

    @pytest.fixture
    def bench(self) -> TrackerBench:
        raise NotImplementedError

    def test_it_has_every_member_of_its_port(self, bench: TrackerBench) -> None:
        assert missing_members(Tracker, bench.connect()) == ()

    def test_its_members_take_what_is_declared(self, bench: TrackerBench) -> None:
        assert misshapen_members("trackers", bench.connect()) == []

    def test_it_declares_what_checks_ask_of_its_kind(self, bench: TrackerBench) -> None:
        traits = tracker_traits(bench.connect())
        assert traits == self.declares
        assert set(traits.name_rules) <= {"id", "project", "entity"}
        for rule in traits.name_rules.values():
            re.compile(rule)
        assert traits.id_variable in ("", *self.client_variables)

    def test_it_judges_the_variables_that_its_client_takes(self, bench: TrackerBench) -> None:
        tracker = bench.connect()
        assert getattr(tracker, "client_variables", ()) == self.client_variables
        if self.client_variables:
            assert missing_members(ClientEnvironment, tracker) == ()

    def test_rows_come_in_order_with_their_values(self, bench: TrackerBench) -> None:
        bench.log((0, {"train/loss": 3.5, "grad": 1.0}), (1, {"train/loss": 3.25}))
        rows, _, problems = drain(bench.connect())
        assert [(row.step, dict(row.values)) for row in rows] == [
            (0, {"train/loss": 3.5, "grad": 1.0}),
            (1, {"train/loss": 3.25}),
        ]
        assert problems == []

    def test_the_cursor_continues_where_it_stopped_also_for_another_connection(
        self, bench: TrackerBench
    ) -> None:
        bench.log((0, {"loss": 1.0}))
        _, cursor, _ = drain(bench.connect())
        bench.log((1, {"loss": 2.0}))
        batch = bench.connect().read(cursor)
        assert [row.step for row in batch.rows] == [1]
        assert not batch.restarted

    def test_nothing_new_gives_nothing_and_the_same_cursor(self, bench: TrackerBench) -> None:
        bench.log((0, {"loss": 1.0}))
        _, cursor, _ = drain(bench.connect())
        again = bench.connect().read(cursor)
        assert (again.rows, again.cursor, again.restarted) == ((), cursor, False)

    def test_a_missing_source_is_distinguished_from_an_unreadable_one(
        self, bench: TrackerBench
    ) -> None:
        with pytest.raises(FileNotFoundError):
            bench.connect().read("")
        bench.log((0, {"loss": 1.0}))
        bench.cut_off()
        with pytest.raises(OSError, match=r".") as error:
            bench.connect().read("")
        assert not isinstance(error.value, FileNotFoundError)

    def test_non_finite_values_are_kept_apart(self, bench: TrackerBench) -> None:
        bench.log((0, {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 1.0}))
        (row,), _, _ = drain(bench.connect())
        assert math.isnan(row.values["a"])
        assert (row.values["b"], row.values["c"], row.values["d"]) == (math.inf, -math.inf, 1.0)

    def test_a_replaced_source_is_read_from_its_start(self, bench: TrackerBench) -> None:
        bench.log(*((step, {"loss": 3.0}) for step in range(5)))
        _, cursor, _ = drain(bench.connect())
        bench.replace(*((step, {"loss": 2.0}) for step in range(9)))
        batch = bench.connect().read(cursor)
        assert batch.restarted
        assert [row.step for row in batch.rows] == list(range(9))

    def test_a_cursor_from_elsewhere_is_no_place_to_continue_from(
        self, bench: TrackerBench
    ) -> None:
        bench.log((0, {"loss": 1.0}))
        batch = bench.connect().read("gibberish")
        assert batch.restarted
        assert [row.step for row in batch.rows] == [0]

    def test_a_step_that_goes_back_and_a_row_that_comes_twice_are_passed_on(
        self, bench: TrackerBench
    ) -> None:
        bench.log((5, {"loss": 1.0}), (6, {"loss": 1.0}), (6, {"loss": 1.0}), (3, {"loss": 1.0}))
        rows, _, _ = drain(bench.connect())
        assert [row.step for row in rows] == [5, 6, 6, 3]

    def test_a_large_source_arrives_whole(self, bench: TrackerBench) -> None:
        bench.log(*((step, {"loss": 1.0}) for step in range(20_000)))
        rows, _, _ = drain(bench.connect())
        assert [row.step for row in rows] == list(range(20_000))

    def test_times_are_in_utc_or_missing(self, bench: TrackerBench) -> None:
        bench.log((0, {"loss": 1.0}))
        tracker = bench.connect()
        batch = tracker.read("")
        times = [row.at for row in batch.rows] + [batch.changed_at]
        if hasattr(tracker, "identify") and (heartbeat := tracker.identify().heartbeat):
            times.append(datetime.fromisoformat(heartbeat))
        assert all(at is None or at.utcoffset() == timedelta(0) for at in times)

    def test_what_is_no_row_is_named_and_never_quoted(self, bench: TrackerBench) -> None:
        bench.log((0, {"loss": 1.0}))
        bench.spoil(f"token={SECRET}")
        bench.log((1, {"loss": 2.0}))
        rows, _, problems = drain(bench.connect())
        assert [row.step for row in rows] == [0, 1]
        assert len(problems) == 1
        assert SECRET not in problems[0]
