"""What a contract names for git is a name: no option, no program, no other place."""

import subprocess

import pytest
from hypothesis import given, strategies as st

from builders import a_contract
from herorun.core.errors import WrongUse
from herorun.core.git_ref_names import branch_name

NO_BRANCH = (
    "", "-x", "--upload-pack=x", "a/-x", "../main", "a/../b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b",  # noqa: E501  # one entry of a table, or one recorded value
    "a.", "a b", "a\nb", "a\0b", "a\x7f", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a@{0}", "@", "HEAD", "refs/heads/main",  # noqa: E501  # one entry of a table, or one recorded value
)  # fmt: skip
NO_REMOTE = ("", "-x", "--upload-pack=touch x", "ext::sh -c x", "fd::3", "a\nb", "a\0b")


@pytest.mark.parametrize("name", NO_BRANCH)
def test_no_branch_is_named_that_git_would_read_otherwise(name: str) -> None:
    with pytest.raises(WrongUse, match="branch"):
        a_contract(logbook={"branch": name})


@pytest.mark.parametrize("name", NO_REMOTE)
@pytest.mark.parametrize("table", ["code", "logbook"])
def test_no_remote_is_named_that_git_would_run(name: str, table: str) -> None:
    with pytest.raises(WrongUse, match="remote"):
        a_contract(**{table: {"remote": name}})


@pytest.mark.parametrize(
    "name", ["origin", "git@host:a/b.git", "https://host/a.git", "../a.git", "/srv/a b.git"]
)
def test_what_git_calls_a_remote_may_be_named(name: str) -> None:
    assert a_contract(logbook={"remote": name, "branch": "records/grug-1.2"}).record_remote == name


@pytest.mark.thorough
@given(
    st.lists(
        st.text(alphabet="aB1-_./@{}~^: \\[\n", min_size=1, max_size=8), min_size=1, max_size=15
    )
)
def test_git_agrees_with_every_branch_that_is_let_through(names: list[str]) -> None:
    """Asked only of what passes: git allows some names that are not allowed here."""
    for name in names:
        try:
            branch_name(name)
        except ValueError:
            continue
        argv = ["git", "check-ref-format", f"refs/heads/{name}"]
        assert subprocess.run(argv, check=False).returncode == 0, name
