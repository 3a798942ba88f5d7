"""A server that is not installed is named, and no test of it passes quietly."""

import pytest

from services import fixtures


def test_where_it_is_not_installed_its_tests_are_left_out_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fixtures, "is_installed", lambda: False)
    monkeypatch.delenv(fixtures.REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"gcs_server.*`make services`"):
        next(fixtures._serve("gcs_server"))


def test_where_it_is_required_they_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixtures, "is_installed", lambda: False)
    monkeypatch.setenv(fixtures.REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match="s3_server needs"):
        next(fixtures._serve("s3_server"))


def test_a_box_that_cannot_be_made_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(fixtures.REQUIRE, raising=False)
    monkeypatch.setattr(fixtures.boxes, "missing", lambda: ["sshd", "tmux"])
    with pytest.raises(pytest.skip.Exception, match=r"sshd, tmux.*`\.ci/install`"):
        fixtures._boxes_or_skip()
    monkeypatch.setattr(fixtures.boxes, "missing", lambda: [])
    monkeypatch.setattr(fixtures.boxes, "may_own", lambda: False)
    monkeypatch.setenv(fixtures.REQUIRE, "1")
    fixtures._boxes_or_skip()
    with pytest.raises(pytest.fail.Exception, match=r"network.*processes"):
        fixtures._boxes_or_skip(own=True)
