"""The screens of orders: the real operations write the text, and a run in memory takes them."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_checkpoint, a_contract, a_job, an_instance
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Intended, Ordered, Word
from herorun.core.evidence import JobState, LeaseSeen
from herorun.core.journal import Memory
from herorun.core.recovery.policy import ActionPause
from herorun.record.model import Pushed
from screens.rendering import Screen
from screens.states import RUN, RUN_ANSWERS

ORDERS = "herorun.operations.orders."
QUESTION = "escalate/relaunch/tiny-1/repeated"
AGO = NOON - timedelta(minutes=20)
SLOW = Alert(
    check="throughput-leak",
    subject="",
    since=AGO,
    seen=NOON,
    state=AlertState.FIRING,
    message="a step takes 2.6 s instead of 2.4 s since step 40900",
)
MEMORY = Memory(instances=(an_instance(1),), alerts={SLOW.id: SLOW})
CRASH = replace(SLOW, check="crashed", message="tiny-1 ended as failed: exit code 1")
CRASHED_MEMORY = replace(
    MEMORY,
    alerts={CRASH.id: CRASH},
    done={QUESTION: "posted"},
    last_decided=Decided(at=NOON, run="down", monitor="fresh", progress="41200/100000"),
)
ACKED_MEMORY = replace(
    CRASHED_MEMORY,
    acked={CRASH.key: Ordered(at=NOON, word=Word.ACK, by="ada", about=(CRASH.key,))},
)
ASKED_MEMORY = replace(MEMORY, done={QUESTION: "posted"})
PAUSED_MEMORY = replace(MEMORY, pause=ActionPause(NOON + timedelta(hours=1), "ada", NOON, "why"))
STOPPED_MEMORY = replace(
    MEMORY, orders=(Ordered(at=NOON, word=Word.STOP, by="ada", about=("tiny-1",)),)
)
RELAUNCHED_MEMORY = replace(MEMORY, done={"relaunch/tiny-1": "tiny-2"})
TAKING = Intended(at=NOON, key="handoff/take/3", attempt=1, what="eve@node7: its lease is stale")
NO_CHANGES: Mapping[str, Any] = {}
LOCK_ANSWERS = {
    f"{ORDERS}{room}.hold_lock": lambda *_, **__: nullcontext()
    for room in ("stop", "relaunch", "rollback", "handoff")
}


def run_with(memory: Memory, **changes: Any) -> Any:
    """The run of the other screens, which takes orders, but for these attributes."""
    record = {
        **vars(RUN.record),
        "memory": lambda: memory,
        "push": Pushed,
        "append": lambda *_: None,
        "fetch": lambda **_: None,
        "remote": "origin",
    }
    live = {
        **vars(RUN),
        "contract": a_contract(babysit={"recovery": "relaunch"}),
        "record": SimpleNamespace(**record),
        "launcher": SimpleNamespace(owner="ada@box", user="ada", clone="/work"),
        "person": "ada",
        "status_command": "herorun status tiny",
        "ends_with_job": False,
        "other_babysit_owner": "",
        "prepare": lambda: None,
        "must_take_orders": lambda: None,
        "lock": lambda name: name,
        "repository": SimpleNamespace(top=Path("/work"), main=Path("/work")),
    }
    return SimpleNamespace(**live | changes)


def order_screen(
    argv: str, memory: Memory = MEMORY, changes: Mapping[str, Any] = NO_CHANGES, **answers: Any
) -> Screen:
    """`changes`: attributes of the run. `answers`: what an operation of `orders` reads or starts;
    two underscores stand for a dot.
    """
    run = run_with(memory, **changes)
    replacements = {
        **RUN_ANSWERS,
        **LOCK_ANSWERS,
        "herorun.runs.open_run": run,
        "herorun.runs.watched_run": lambda *_, **__: (run, ""),
        f"{ORDERS}order.ring": None,
        f"{ORDERS}order.is_locked": False,
        f"{ORDERS}order.last_tick_elsewhere": None,
        f"{ORDERS}pause.now": NOON,
    }
    others = {f"{ORDERS}{name.replace('__', '.')}": value for name, value in answers.items()}
    return Screen(argv.split()[0], argv, {**replacements, **others})


def answers() -> Iterator[Screen]:
    yield order_screen("ack tiny")
    down = order_screen("ack tiny", ACKED_MEMORY, acknowledge__memory_for_orders=CRASHED_MEMORY)
    yield replace(down, name="ack-down")
    yield order_screen("approve tiny", ASKED_MEMORY)
    yield order_screen("deny tiny --reason why", ASKED_MEMORY)
    yield order_screen("pause tiny --until 2h --reason why")
    yield order_screen("resume tiny", PAUSED_MEMORY)


START_ANSWERS = {
    "relaunch__settle_instance": "tiny-1",
    "relaunch__find_job": a_job(JobState.FAILED, exit_code=1),
    "relaunch__record_before_replacing": None,
    "relaunch__intended_once": TAKING,
    "relaunch__relaunch_once": None,
    "relaunch__start_watch": (
        lambda *_, **__: ("process 4711, log /work/.herorun/tiny/babysit.log", "")
    ),
}
BACK: Mapping[str, Any] = {
    "Back to": "/data/tiny/step-41000 (step 41000); the new instance replaces tiny-1",
    "Discards": "200 steps, 102.4 accelerator-hours",
    "Checkpoints no longer used": "none (none is above step 41000)",
    "Reason": "why",
}
PREVIEW = SimpleNamespace(target=a_checkpoint(41_000), facts=BACK)


def starts() -> Iterator[Screen]:
    ended_job = a_job(JobState.CANCELLED, reason="CANCELLED by 1000")
    stopping = {
        "stop__find_job": a_job(),
        "stop__settle_instance": "tiny-1",
        "stop__intended_once": TAKING,
        "stop__stop_once": None,
        "stop___until_ended": ended_job,
    }
    yield order_screen("stop tiny --reason why", STOPPED_MEMORY, **stopping)
    forgotten_answers = {"stop__find_job": None, "stop__settle_instance": "tiny-1"}
    for name in ("must_have_ended", "must_be_silent", "record_forgotten_end"):
        forgotten_answers[f"stop__{name}"] = None
    yield replace(
        order_screen("stop tiny --reason why", STOPPED_MEMORY, **forgotten_answers),
        name="stop-forgotten",
    )
    launching = SimpleNamespace(relaunch_of="", plan={"start": {"value": None}})
    again = SimpleNamespace(plan={"start": {"value": {"path": "/data/tiny/step-41000"}}})
    relaunched_memory = replace(
        RELAUNCHED_MEMORY, launchings={"tiny-1": launching, "tiny-2": again}
    )
    yield order_screen("relaunch tiny", relaunched_memory, **START_ANSWERS)
    rolling = {
        "rollback__settle_instance": "tiny-1",
        "rollback__must_be_resumable": None,
        "rollback___choose_rollback": PREVIEW,
        "rollback__find_job": a_job(JobState.FAILED, exit_code=1),
        "rollback__record_before_replacing": None,
        "rollback__intended_once": TAKING,
        "rollback___start_once": "tiny-2",
        "rollback___done_already": "",
    }
    yield order_screen("rollback tiny --to 41000 --reason why", **START_ANSWERS, **rolling)
    forking = {"fork___source": a_checkpoint(41_000), "fork__create_atomic": None}
    yield order_screen("fork tiny tiny-b --from 41000 --reason why", **forking)


def handoffs() -> Iterator[Screen]:
    lease = LeaseSeen(
        owner="eve@node7", slug="tiny", mine=False, fence=3, beat=7, unchanged_since=AGO
    )
    taking = {
        "handoff___stale": lease,
        "handoff__must_be_launched": None,
        "handoff___intend": TAKING,
        "handoff__seize_lease": None,
        "handoff__facts_for_owner": None,
        "handoff___post_handoff": (),
    }
    yield order_screen("handoff tiny --take", **taking)
    giving = {
        "handoff__must_be_launched": None,
        "handoff__other_holder": None,
        "handoff__take_lease": None,
        "handoff___has_lease": True,
        "handoff__facts_for_owner": None,
        "handoff___post_handoff": (),
    }
    yield replace(order_screen("handoff tiny --to eve@node7", **giving), name="handoff-to")


def order_screens() -> Iterator[Screen]:
    yield from answers()
    yield from starts()
    yield from handoffs()
