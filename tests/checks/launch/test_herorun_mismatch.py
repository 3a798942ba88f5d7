"""herorun-mismatch."""

import pytest

from builders import answer
from herorun.checks.launch.herorun_mismatch import herorun_mismatch
from herorun.core.evidence import OwnVersion
from wording import mentions


@pytest.mark.parametrize(
    ("pinned_version", "running", "outcome"),
    [
        ("", "0.1.0", "n/a"),
        ("~=0.4", "0.4.2", "pass"),
        ("~=0.4", "0.5rc1", "pass"),
        ("~=0.4.0", "0.5.0", "fail"),
        (">=0.4,<0.6", "0.3.9", "fail"),
        ("==0.4.*", "what is this", "fail"),
    ],
)
def test_only_what_the_contract_allows_may_launch(
    pinned_version: str, running: str, outcome: str
) -> None:
    assert answer(herorun_mismatch, OwnVersion(running, pinned_version)).outcome == outcome


def test_the_message_names_both() -> None:
    verdict = answer(herorun_mismatch, OwnVersion("0.5.0", "~=0.4.0"))
    assert mentions(verdict.message, "0.5.0", "allows", "~=0.4.0")
    assert verdict.subject == "0.5.0"
