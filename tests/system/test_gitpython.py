"""What herorun.system.git says about GitPython is so: if this fails, GitPython has changed, and the
docstring there needs a review.
"""

import os
import warnings
from pathlib import Path

import pytest
from git import Repo

from herorun.system.git import find_repository
from stories import git

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A committed repository with an untracked and a staged file whose name is not UTF-8."""
    git(tmp_path, "init", "-q", "--template=", "-b", "main", ".")
    git(
        tmp_path,
        "-c",
        "user.name=d",
        "-c",
        "user.email=d@e",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "one",
    )
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("1")
    return tmp_path


def test_a_name_that_is_not_utf_8_ends_gitpythons_list_of_untracked_files(work: Path) -> None:
    with Repo(work) as repo, pytest.raises(UnicodeDecodeError):
        _ = repo.untracked_files
    text = find_repository(work).git("status", "--porcelain", "-z").text
    assert text == "?? caf\udce9.py\0"


def test_and_makes_gitpythons_diff_an_empty_one(work: Path) -> None:
    git(work, "add", "-A")
    with Repo(work) as repo, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(repo.index.diff("HEAD")) == []
    assert find_repository(work).git("status", "--porcelain", "-z").text == "A  caf\udce9.py\0"
