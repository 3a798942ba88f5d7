"""What a patrol under a timer sends: a change, once a day, and what nobody took once more."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from herorun.core.contract.notify import Notify
from herorun.core.errors import CouldNotLook
from herorun.core.patrol.advice import PatrolCommands
from herorun.core.patrol.observation import HostObservation, Liveness, LogEnd
from herorun.core.patrol.table import decide
from herorun.core.ports import Post
from herorun.operations.remote import patrol_news
from herorun.operations.remote.patrol import PatrolTick
from wording import mentions

AT = datetime(2026, 3, 1, tzinfo=UTC)
LOOK = HostObservation(
    at=AT, name="tiny-1", where="box1", alive=Liveness.YES, log=LogEnd(line="step 9", step=9)
)


class Posts:
    name = "SLACK"

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.fails = False

    def post(self, post: Post) -> str:
        if self.fails:
            raise CouldNotLook("no network")
        self.titles.append(post.title)
        return ""


def tick(look: HostObservation) -> PatrolTick:
    return PatrolTick(look, decide(look, PatrolCommands()), "the line", None)


def test_a_change_is_sent_once_and_again_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, clock = Posts(), [AT]
    monkeypatch.setattr(patrol_news, "now", lambda: clock[0])
    run: Any = SimpleNamespace(
        slug="tiny",
        state=tmp_path,
        prepare=lambda: None,
        contract=SimpleNamespace(notify=Notify(targets=("SLACK",))),
        channels=SimpleNamespace(all=[channel]),
    )

    def sends(look: HostObservation) -> list[str]:
        return patrol_news.send_patrol(run, tick(look))

    sends(LOOK)
    sends(replace(LOOK, log=LogEnd(line="step 10", step=10)))  # a step is no change
    (title,) = channel.titles
    assert mentions(title, "tiny", "running")
    end = replace(LOOK, alive=Liveness.NO)
    channel.fails = True
    assert sends(end) == ["SLACK: no network"]
    channel.fails = False
    sends(end)
    sends(end)
    assert len(channel.titles) == 2 and mentions(channel.titles[1], "tiny", "down")
    clock[0] += timedelta(days=1)
    sends(end)
    assert len(channel.titles) == 3
