"""Which paths a contract may give to its logbook: none that the record's own files take."""

import pytest

from builders import a_contract
from herorun.core.contract.notify import is_logbook_path
from herorun.core.errors import WrongUse


@pytest.mark.parametrize(
    ("path", "possible"),
    [
        (".agents/logbooks/tiny.md", True),
        ("tiny.md", True),
        ("tiny.journal.md", True),  # a page may be called so, a folder may not
        ("docs/tiny_02.md", True),
        ("docs/tiny.journal/x.md", False),
        ("tiny.files/deep/x.md", False),
        ("docs/tiny_002.md", False),  # a further page
        ("docs/tiny.txt", False),
        ("docs/../x.md", False),
        (".GIT/x.md", False),
        ("/x.md", False),
        ("a b/x.md", False),
    ],
)
def test_a_logbook_keeps_away_from_the_records_own_files(path: str, possible: bool) -> None:
    assert is_logbook_path(path) is possible
    if possible:
        assert a_contract(logbook={"path": path}).logbook.path == path
    else:
        with pytest.raises(WrongUse, match="logbook"):
            a_contract(logbook={"path": path})
