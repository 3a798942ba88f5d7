"""A seal that was interrupted: it is finished as it was stated, or a person must look."""

from types import SimpleNamespace
from typing import Any

import pytest

from builders import NOON
from core.story import launch_events
from core.test_sealing_reading import COMMIT, statement_with
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.canonical_json import canonical
from herorun.core.errors import Blocked, HerorunError
from herorun.core.event import Failed, Initialised, Intended, Noted
from herorun.core.evidence import Sealing
from herorun.core.journal import Memory, fold
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.render import tag_message
from herorun.operations.seal import resume
from herorun.operations.seal.statement import build_record_part
from wording import mentions

TAG = "herorun/tiny/seal-1"
KEY = write_key(Verb.TAG, TAG)
NAME = "seal-1.json"
SEAL_INTENT = Intended(at=NOON, key=KEY, attempt=2, what=NAME)
NOTE = Noted(at=NOON, by="@dri", title="A note", lines={"Status": "s"}, caveat="mixed")
OTHER = Sealing(SealKind.MILESTONE, "half")


def the_memory(*events: Any, instances: int = 1) -> Memory:
    launches = [event for n in range(instances) for event in launch_events(n + 1, NOON)]
    return fold([Initialised(NOON, "tiny", {}), *launches, *events])


def of_record(memory: Memory, **changes: Any) -> dict[str, Any]:
    """A statement that states the run as this memory has it."""
    return statement_with(**{**build_record_part(memory), **changes})


def in_tag(statement: dict[str, Any]) -> str:
    return f"object {COMMIT}\ntag {TAG}\n\n{tag_message(statement, TAG)}"


class Interrupted:
    """A run whose record, clone and remote hold what is left of the seal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.appended_events: list[Any] = []
        self.read: list[tuple[str, list[str]]] = []
        self.stored_content: bytes | None = None
        self.tag, self.local, self.remote = "", "", ""
        self.tip: str | None = "7e11"
        monkeypatch.setattr(resume, "tag_text", lambda repository, tag: self.tag or None)
        monkeypatch.setattr(resume, "local_tag", lambda run, tag: self.local or None)
        monkeypatch.setattr(resume, "remote_tag", lambda run, tag: self.remote or None)

    def _read_stored(self, tip: str, paths: list[str], most: int) -> dict[str, bytes | None]:
        self.read.append((tip, paths))
        return {paths[0]: self.stored_content}

    def read_unfinished(
        self, memory: Memory, sealing: Sealing | None = None
    ) -> dict[str, Any] | None:
        record = SimpleNamespace(
            tip=self.tip,
            files_path="runs/tiny/files",
            append=self.appended_events.append,
            push=lambda: self.appended_events.append("pushed"),
        )
        run: Any = SimpleNamespace(
            slug="tiny",
            record=record,
            repository=SimpleNamespace(read=self._read_stored),
            contract=SimpleNamespace(code=SimpleNamespace(remote="origin")),
        )
        return resume.unfinished_seal(run, memory, TAG, sealing or Sealing())


@pytest.fixture
def seal(monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    return Interrupted(monkeypatch)


def test_what_was_never_begun_is_not_resumed(seal: Interrupted) -> None:
    assert seal.read_unfinished(the_memory()) is None
    seal.tip = None
    assert seal.read_unfinished(the_memory(SEAL_INTENT)) is None
    assert (seal.read, seal.appended_events) == ([], [])


def test_an_intended_statement_is_read_from_the_record(seal: Interrupted) -> None:
    memory = the_memory(SEAL_INTENT)
    statement = of_record(memory)
    seal.stored_content = canonical(statement).encode()
    assert seal.read_unfinished(memory) == statement
    assert seal.read == [("7e11", [f"runs/tiny/files/{NAME}"])]
    assert seal.appended_events == []


@pytest.mark.parametrize(
    ("changes", "sealing"),
    [
        ({"instances": [{"name": "tiny-2"}]}, Sealing()),
        ({}, OTHER),
        ({"kind": "milestone", "name": "whole"}, OTHER),
    ],
)
def test_an_intended_statement_that_is_out_of_date_is_given_up(
    seal: Interrupted, changes: dict[str, Any], sealing: Sealing
) -> None:
    memory = the_memory(SEAL_INTENT)
    seal.stored_content = canonical(of_record(memory, **changes)).encode()
    assert seal.read_unfinished(memory, sealing) is None
    event, push = seal.appended_events
    assert isinstance(event, Failed) and push == "pushed"
    assert (event.key, event.attempt) == (KEY, 2)


def test_a_caveat_after_the_intent_makes_a_new_statement(seal: Interrupted) -> None:
    seal.stored_content = canonical(of_record(the_memory(SEAL_INTENT))).encode()
    assert seal.read_unfinished(the_memory(SEAL_INTENT, NOTE)) is None


def test_a_statement_may_have_caveats_of_its_own(seal: Interrupted) -> None:
    memory = the_memory(SEAL_INTENT, NOTE)
    statement = of_record(memory, caveats=["mixed", "by size alone"])
    seal.stored_content = canonical(statement).encode()
    assert seal.read_unfinished(memory) == statement


@pytest.mark.parametrize("stored_content", [None, b"{", b"[]"])
def test_a_statement_that_is_lost_or_damaged_is_reported(
    seal: Interrupted, stored_content: bytes | None
) -> None:
    seal.stored_content = stored_content
    with pytest.raises(HerorunError, match=NAME):
        seal.read_unfinished(the_memory(SEAL_INTENT))
    assert seal.appended_events == []


def test_a_tag_that_is_only_on_the_remote_is_fetched_first(seal: Interrupted) -> None:
    seal.remote = "0a9"
    with pytest.raises(Blocked) as error:
        seal.read_unfinished(the_memory(SEAL_INTENT))
    assert mentions(str(error.value), "fetch", "origin", TAG)
    assert seal.read == []


def test_a_tag_of_this_clone_that_states_the_run_is_finished(seal: Interrupted) -> None:
    memory = the_memory()
    seal.tag = in_tag(of_record(memory))
    assert seal.read_unfinished(memory) == of_record(memory)


@pytest.mark.parametrize("text", ["object c0ffee\n\nby hand", in_tag(statement_with())])
def test_a_tag_that_was_never_pushed_and_states_something_else_is_removed_by_hand(
    seal: Interrupted, text: str
) -> None:
    seal.tag = seal.local = text
    with pytest.raises(Blocked) as error:
        seal.read_unfinished(the_memory(instances=2))
    assert mentions(str(error.value), "-d", TAG)


def test_a_note_after_the_push_is_too_late_for_the_tag(seal: Interrupted) -> None:
    statement = of_record(the_memory())
    seal.tag, seal.local, seal.remote = in_tag(statement), "0a9", "0a9"
    assert seal.read_unfinished(the_memory(NOTE)) == statement


@pytest.mark.parametrize(
    ("local", "instances", "sealing", "names_the_other"),
    [
        ("0a9", 1, OTHER, True),
        ("0b8", 1, Sealing(), False),
        ("0a9", 2, Sealing(), False),
    ],
)
def test_another_tag_on_the_remote_is_never_taken_for_this_seal(
    seal: Interrupted, local: str, instances: int, sealing: Sealing, names_the_other: bool
) -> None:
    seal.tag, seal.local, seal.remote = in_tag(of_record(the_memory())), local, "0a9"
    with pytest.raises(Blocked, match=TAG) as error:
        seal.read_unfinished(the_memory(NOTE, instances=instances), sealing)
    assert ("(final)" in str(error.value)) is names_the_other
