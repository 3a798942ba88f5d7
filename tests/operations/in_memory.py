"""A run whose journal is a list, and which notes what would reach the outside: no git, no process,
no clock.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_contract
from core.story import launch_events
from herorun.core.event import Initialised, Intended
from herorun.core.journal import Memory, fold

START = NOON - timedelta(hours=1)
OWNER = "ada@laptop"


class Journal:
    """`tiny-1` was launched an hour before noon; `new` is what came after."""

    anchor = tip = None
    branch = "herorun/tiny"

    def __init__(self) -> None:
        self.events: list[Any] = [Initialised(START, "tiny", {}), *launch_events(1, START)]
        self.began = len(self.events)

    def append(self, *events: Any) -> None:
        self.events += events

    def memory(self) -> Memory:
        return fold(self.events)

    @property
    def new(self) -> list[Any]:
        return self.events[self.began :]


class ToldRun(SimpleNamespace):
    """`acted` gets each stop of a job, and each post on the terminal."""

    def __init__(self, actions: list[Any]) -> None:
        def stop(instance: str, owner: str) -> None:
            actions.append(("stop", instance, owner))

        super().__init__(
            slug="tiny",
            dri="@dri",
            record=Journal(),
            contract=a_contract(),
            launcher=SimpleNamespace(owner=OWNER, user="ada"),
            scheduler=SimpleNamespace(stop=stop, cluster_wide=False),
            terminal=SimpleNamespace(post=lambda post: actions.append(("shown", post.key))),
            channels=SimpleNamespace(all=[]),
            answers=lambda ways, about: "ANSWERS",
        )


def fails(error: Exception) -> Any:
    def act(*arguments: Any, **options: Any) -> None:
        raise error

    return act


def an_intent(key: str, attempt: int = 1, body: str = "", at: Any = NOON) -> Intended:
    return Intended(at=at, key=key, attempt=attempt, what="what", body=body)
