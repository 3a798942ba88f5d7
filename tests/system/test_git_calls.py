"""Which files a user's settings of git are in, and that a change of any is noticed."""

from pathlib import Path

import pytest

from herorun.system.git import calls
from herorun.system.git.calls import known_settings


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "monotonic", lambda: 0.0)


def is_noticed(common: Path, changed_path: Path) -> bool:
    before = known_settings(common)
    assert known_settings(common) == before
    changed_path.parent.mkdir(parents=True, exist_ok=True)
    changed_path.write_text("[user]\n")
    return known_settings(common) != before


@pytest.mark.parametrize("changed_file", ["", "config"])
@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("home/.gitconfig", ("", "config")),
        ("home/.config/git/config", ("",)),  # unless XDG_CONFIG_HOME says another place
        ("config/git/config", ("config",)),
        ("home/.config/git/config.bak", ()),
        ("repository/config", ("", "config")),
        ("repository/config.worktree", ("", "config")),
    ],
)
def test_a_change_of_a_file_that_git_reads_is_noticed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    where: tuple[str, ...],
    changed_file: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / changed_file) if changed_file else "")
    assert is_noticed(tmp_path / "repository", tmp_path / path) is (changed_file in where)


def test_a_setting_of_the_environment_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = known_settings(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    assert known_settings(tmp_path) != before


def test_what_files_include_is_read_again_in_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = known_settings(tmp_path)
    monkeypatch.setattr(calls, "monotonic", lambda: calls.FRESH - 1)
    assert known_settings(tmp_path) == before
    monkeypatch.setattr(calls, "monotonic", lambda: calls.FRESH)
    assert known_settings(tmp_path) != before
