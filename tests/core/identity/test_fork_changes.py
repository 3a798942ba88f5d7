"""What a fork changes of the launch that wrote its start checkpoint; its own names do not count."""

from datetime import timedelta
from typing import Any

import pytest

from builders import MINUTE, NOON, PARENT, a_contract, a_plan
from herorun.core.evidence import RecordedLaunch, SourceLaunches
from herorun.core.identity.fork_changes import InheritedChanges, compute_inheritance, writer_of
from herorun.core.plan import StartPoint

CONFIG = {
    "lr": 0.001,
    "mesh": {"size": 8},
    "log_interval": 10,
    "run_name": "parent",
    "title": "parental",
    "out": f"{PARENT}/logs",
    "scratch": f"{PARENT}-temporary/x",
}
CLASSES = {"classes": {"mesh.size": "resume-breaking"}}
RENAMED_CONFIG = {
    **CONFIG,
    "run_name": "tiny",
    "out": "/data/tiny/logs",
    "scratch": "/data/tiny-temporary/x",
}


def launch(number: int = 1, minutes: float = 0.0) -> RecordedLaunch:
    contract = a_contract(
        slug="parent",
        output={"root": PARENT, "temporary_root": f"{PARENT}-temporary"},
        tracker={"id": "parent", "name": "parent"},
    )
    plan = a_plan(contract, config=CONFIG).values
    at = NOON + minutes * MINUTE
    return RecordedLaunch("parent", f"parent-{number}", (PARENT,), at, plan)


def fork(
    config: dict[str, Any], kind: str = "full-state", start: str = "/none"
) -> InheritedChanges:
    contract = a_contract(config=CLASSES)
    plan = a_plan(contract, config=config).values
    return compute_inheritance(launch(), plan, StartPoint(start, 100, kind), contract.config)


def keys(changes: tuple[Any, ...]) -> set[str]:
    return {change.key for change in changes}


def test_the_newest_launch_before_the_writing_wrote_it() -> None:
    launches = SourceLaunches((launch(1), launch(2, 60), launch(3, 120)))
    assert writer_of(launches, NOON + 90 * MINUTE).instance == "parent-2"


def test_where_the_store_tells_no_time_it_was_the_newest() -> None:
    assert writer_of(SourceLaunches((launch(1), launch(2, 60))), None).instance == "parent-2"


def test_clocks_may_differ_a_little_and_a_time_before_all_is_of_the_newest() -> None:
    launches = SourceLaunches((launch(1), launch(2, 60)))
    assert writer_of(launches, NOON + timedelta(minutes=59)).instance == "parent-2"
    assert writer_of(launches, NOON - timedelta(days=9)).instance == "parent-2"


def test_its_own_names_are_no_change() -> None:
    """The slug and both roots, as whole words and as the beginning of a path."""
    changes = fork(RENAMED_CONFIG)
    assert {"run_name", "out", "scratch"} <= keys(changes.own)
    assert changes.unsigned == ()


@pytest.mark.parametrize(
    ("changes", "key", "old", "new"),
    [
        ({"tracker": {"id": "p-7"}}, "id", "p-7", "t-8"),
        ({"tracker": {"name": "parent's own"}}, "title", "parent's own", "the fork's"),
        ({"output_root": "/data/a"}, "out", "/data/a/logs", "/data/b/logs"),
        ({"temporary_root": "/scratch/a"}, "out", "/scratch/a/x", "/scratch/b/x"),
        ({"tracker": {"id": "p-7"}}, "run", "parent", "t-8"),  # by the parent's slug
    ],
)
def test_each_name_of_the_parent_is_exchanged_for_the_forks(changes, key, old, new) -> None:
    before = {"tracker": {"id": "", "name": ""}, **changes, "config": {key: old, "other": old}}
    after = {
        "tracker": {"id": "t-8", "name": "the fork's"},
        "output_root": "/data/b",
        "temporary_root": "/scratch/b",
        "config": {key: new, "other": "c"},
    }
    record = RecordedLaunch("parent", "parent-1", (PARENT,), NOON, before)
    changes = compute_inheritance(record, after, StartPoint("/none", 100), a_contract().config)
    assert key in keys(changes.own)
    assert "other" in keys((*changes.unsigned, *changes.other))


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ({"temporary_root": "/a"}, {}, "/a/x", "/x"),
        ({}, {"temporary_root": "/a"}, "- -", "-/a -"),
    ],
)
def test_a_name_that_only_one_of_the_two_has_explains_nothing(before, after, old, new) -> None:
    record = RecordedLaunch("", "parent-1", (PARENT,), NOON, {**before, "config": {"out": old}})
    plan = {**after, "config": {"out": new}}
    changes = compute_inheritance(record, plan, StartPoint("/none", 100), a_contract().config)
    assert changes.own == () and keys((*changes.unsigned, *changes.other)) == {"out"}


@pytest.mark.parametrize(
    ("key", "value"), [("title", "tinyal"), ("run_name", "other"), ("lr", 0.016)]
)
def test_what_no_renaming_explains_steers(key: str, value: Any) -> None:
    """A name within another word is none."""
    assert keys(fork({**RENAMED_CONFIG, key: value}).unsigned) == {key}


def test_the_start_checkpoint_itself_is_its_own() -> None:
    start = f"{PARENT}/step-100"
    changes = fork({**RENAMED_CONFIG, "load": start}, start=start)
    assert "load" in keys(changes.own) and changes.unsigned == ()


@pytest.mark.parametrize(("kind", "signs"), [("full-state", True), ("weights-only", False)])
def test_what_breaks_a_state_counts_where_the_state_is_taken_over(kind: str, signs: bool) -> None:
    changes = fork({**RENAMED_CONFIG, "mesh": {"size": 16}}, kind)
    assert ("mesh.size" in keys(changes.unsigned)) is signs
    assert ("mesh.size" in keys(changes.other)) is not signs


def test_what_does_not_steer_is_listed_apart() -> None:
    changes = fork({**RENAMED_CONFIG, "log_interval": 50})
    assert "log_interval" in keys(changes.other) and changes.unsigned == ()
