"""Short names of clusters."""

import pytest

from herorun.core.adhoc_jobs.clusters import read_table, resolve
from herorun.core.errors import WrongUse
from herorun.schedulers.external.iris import CLUSTERS

OURS = CLUSTERS.ours


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("marin", "marin.yaml"),
        ("marin-prod", "marin.yaml"),
        ("marin_dev", "marin-dev.yaml"),
        ("Marin-Dev", "marin-dev.yaml"),
        ("coreweave", "coreweave.yaml"),
    ],
)
def test_the_seeds_names_resolve_to_their_files(name: str, path: str) -> None:
    assert resolve(name, OURS, "t", "iris", "a path") == f"lib/iris/examples/{path}"


def test_the_user_adds_names_and_replaces_ours() -> None:
    table = read_table('[iris]\nmarin = "/mine.yaml"\nour-own = "/own.yaml"', "t", "iris", OURS)
    assert resolve("marin", table, "t", "iris", "") == "/mine.yaml"
    assert resolve("our_own", table, "t", "iris", "") == "/own.yaml"


def test_a_path_stays_and_an_unknown_name_says_where_to_add_it() -> None:
    assert resolve("a/b.yaml", {}, "t", "iris", "") == "a/b.yaml"
    with pytest.raises(WrongUse, match=r"nowhere.*--config PATH.*\[iris\].*t\.toml"):
        resolve("nowhere", read_table("", "t", "iris", OURS), "t.toml", "iris", CLUSTERS.instead)


@pytest.mark.parametrize("text", ["[iris", "iris = 3", "[iris]\nx = 3", "iris = []"])
def test_a_damaged_table_is_reported_with_its_place(text: str) -> None:
    with pytest.raises(WrongUse, match=r"t\.toml"):
        read_table(text, "t.toml", "iris", OURS)
