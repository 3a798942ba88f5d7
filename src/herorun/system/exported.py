"""The exported copy of a commit, in a run's private folder: what the job runs from."""

from pathlib import Path

from herorun.system.git import Repository
from herorun.system.plumbing import export


def exported(repository: Repository, commit: str, state: str) -> Path:
    """The folder with the commit's files; made where it is not there yet."""
    target = Path(state) / "code" / commit
    export(repository, commit, target)
    return target
