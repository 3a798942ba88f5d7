from pathlib import Path

import pytest

from herorun.core.ports import IssueTracker, Place, Post
from herorun.notifiers import folder
from ports.notifier_suite import IssueBench, IssueTrackerSuite


class Bench:
    """A run's issue, opened already."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self.connect().open(Post("init:tiny", "Hero run: tiny", "goal"), ("experiment",))

    def connect(self, slug: str = "tiny") -> IssueTracker:
        return folder.connect(folder.Options(), Place(slug, str(self._top / slug), "/data", "."))

    def connect_elsewhere(self) -> IssueTracker:
        return self.connect("other")

    def read_messages(self) -> str:
        pages = (self._top / "tiny" / "issue").iterdir()
        return "\n".join(
            page.read_text() for page in sorted(pages, key=lambda page: page.stat().st_mtime_ns)
        )

    def cut_off(self) -> None:
        place = self._top / "tiny" / "issue"
        place.rename(self._top / "away")
        place.write_text("a file where the folder should be")


class TestFolder(IssueTrackerSuite):
    """What every issue tracker must do."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> IssueBench:
        return Bench(tmp_path)
