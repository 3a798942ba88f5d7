"""The journal: hash-chained lines, and the memory that is folded from them."""

import json
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from builders import EVERY, NOON, ROOT, a_checkpoint, a_plan
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.canonical_json import canonical, digest
from herorun.core.event import (
    KINDS,
    Adopted,
    Amended,
    CheckedIn,
    Decided,
    Done,
    Failed,
    HandedOff,
    Initialised,
    Intended,
    Launched,
    Launching,
    Leased,
    Newer,
    Noted,
    Observed,
    Ordered,
    Replayed,
    Sealed,
    Word,
)
from herorun.core.evidence import Checkpoints, End, GivenUp, JobState, Placement
from herorun.core.health.training_proof import AwaitedEvidence
from herorun.core.journal import (
    START,
    BrokenJournal,
    Memory,
    as_json,
    chain,
    event_id,
    fold,
    read_line,
    read_lines,
)
from herorun.core.journal.launch_intents import start_step
from herorun.core.recovery.classify import Cause, Ending, has_new_checkpoint
from wording import mentions

PLAN = a_plan()
ALERT = Alert(
    check="loss-spike",
    subject="loss from step 412",
    since=NOON,
    seen=NOON + EVERY,
    state=AlertState.FIRING,
    message="up",
    held=timedelta(seconds=0.5),
    ticks=2,
    first_step=400,
    instance="tiny-1",
)
END = End(
    forgotten=True,
    instance="tiny-1",
    state=JobState.FAILED,
    at=NOON,
    exit_code=1,
    signal="SIGKILL",
    step=7,
    checkpoint=4,
    fingerprint="f1",
    failed_on=("node-1",),
)
ENDING = Ending(
    instance="tiny-1",
    cause=Cause.INFRA,
    fingerprint="f1",
    why="exit code 1",
    ended=NOON,
    advanced=True,
    place="train.py:7",
    needs_person=True,
    worker="10.0.0.7",
    seen="node-failure",
)
INIT = Initialised(NOON, "tiny", {"DRI": "@dri"}, "issue.md", "notes/tiny.md")
LAUNCHING = Launching(
    at=NOON,
    instance="tiny-1",
    number=1,
    plan=as_json(PLAN),
    plan_digest=PLAN.digest,
    why="first launch",
    contract_file="runs/tiny.toml",
    by="dri@here",
    where="dri@here:/state",
    foreign=(f"{ROOT}/step-9",),
    policy="warn; 1 finding was open: dirty-tree",
    overlooked=("dirty-tree: notes",),
    given_up=GivenUp(2, NOON, ((f"{ROOT}/step-9", "then"),), "a spike"),
    facts={"Discards": "7 steps"},
    adopts=Adopted("job-1", NOON - EVERY),
    secrets={"HF_TOKEN": "5a17:d19e57"},
)
LAUNCHED_EVENT = Launched(
    at=NOON + EVERY,
    instance="tiny-1",
    number=1,
    job="job-1",
    plan_digest=PLAN.digest,
    output_root=ROOT,
    commit=PLAN.commit.value,
    entry={"Command": "`x`"},
    babysitter="b",
)
EVENTS = [
    INIT,
    LAUNCHING,
    LAUNCHED_EVENT,
    CheckedIn(
        at=NOON,
        instance="tiny-1",
        attempt=1,
        outcome="pass",
        items=(("argv", "pass", "as admitted"),),
        loaded=f"{ROOT}/step-1",
        written=NOON,
    ),
    Observed(
        at=NOON,
        version="0.1.0",
        rules="sha256:00",
        evidence={"Job": "sha256:01"},
        gaps=("Metrics: 503",),
        after="0123456789abcdef",
        lines=3,
        rows=72,
    ),
    Decided(
        at=NOON,
        run="degraded",
        monitor="fresh",
        progress="~1/2",
        alerts=(ALERT,),
        actions=("tell/x",),
        summary="all quiet",
        ended=END,
        saved=3,
        failure=ENDING,
        job_started=NOON,
        awaited=(AwaitedEvidence("row", "the first row", NOON),),
        temporary=150,
        placement=Placement(("node-1",), ("x@sha256:1",)),
        rows=4,
        by_order=True,
    ),
    Intended(
        at=NOON,
        key="tell/x",
        attempt=1,
        what="x is firing",
        body="body",
        lines={"Status": "x"},
        edits="tell/y",
        page="must",
    ),
    Failed(NOON, "tell/x", 1, "503 \u2028 café 🤖", True),
    Done(NOON, "tell/x", 2, "title", {"Status": "s"}, "issue.md#1"),
    Ordered(NOON, "ada@here", Word.PAUSE, ("tiny",), "maintenance", NOON + EVERY),
    Noted(NOON, "ada@here", "title", {"Status": "x"}, "caveat"),
    Leased(NOON, "ada@here", "tiny", 7, 3, "/home/ada/work"),
    HandedOff(NOON, "bob@there", {"lease": "7"}),
    Amended(NOON, "tiny-2", {"Goal": "a -> b"}, {"Goal": "b"}),
    Replayed(
        at=NOON,
        version="0.2.0",
        before="0.1.0",
        pin="~=0.2",
        since=NOON - EVERY,
        ticks=9,
        differ=1,
        unknown=2,
        changed=("alerts: 1 -> 2",),
        why="why",
        key="escalate/judge/0.2.0/1",
    ),
    Sealed(
        at=NOON,
        tag="herorun/tiny/seal-1",
        commit="c0ffee",
        statement_digest="sha256:02",
        lines={"Tag": "x"},
        ending="superseded",
        name="tiny-2",
        checkpoint="/data/step-2",
    ),
]
LINES = chain(EVENTS, START)
TEXTS = [(f"j:{number}", line.text) for number, line in enumerate(LINES, start=1)]


# --- lines ----------------------------------------------------------------------------------------


def test_every_kind_of_event_is_tried_here():
    assert {event.kind for event in EVENTS} == set(KINDS)
    for event in EVENTS:
        unset = [
            f.name for f in fields(event) if not getattr(event, f.name) and f.name != "relaunch_of"
        ]
        assert unset == [], (
            f"{event.kind} leaves {unset} empty, so their way through the journal is not tried"
        )


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_survives_the_journal(event):
    (line,) = chain([event], START)
    again = read_line(line.text, "j:1")

    assert again == line
    assert again.event == event
    assert "\n" not in line.text and line.text.isascii()


def test_the_chain_is_read_back_whole():
    assert [line.event for line in read_lines(TEXTS)] == EVENTS


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00"]
)
def test_a_forged_time_that_no_sum_can_hold_breaks_its_line(at):
    """Its hashes are right: whoever may push the record writes them."""
    fields = {"at": at, "run": "down", "monitor": "fresh", "progress": ""}
    body = {"v": 1, "kind": "Decided", "prev": "", "event": fields}
    body["id"] = digest({"kind": "Decided", **fields})[7:23]
    text = canonical({**body, "hash": digest(body)})
    with pytest.raises(BrokenJournal):
        read_line(text, "here")
    right = fields | {"at": "2026-01-01T00:00:00Z"}
    body |= {"event": right, "id": digest({"kind": "Decided", **right})[7:23]}
    assert read_line(canonical({**body, "hash": digest(body)}), "here").event.run == "down"


def test_a_line_is_canonical_and_names_the_one_before():
    body = json.loads(LINES[1].text)

    assert canonical(body) == LINES[1].text
    assert (body["v"], body["kind"], body["prev"]) == (1, "Launching", LINES[0].hash)


def test_an_event_keeps_its_id_wherever_it_stands():
    (elsewhere,) = chain([INIT], "sha256:other")

    assert elsewhere.id == LINES[0].id == event_id(INIT)
    assert elsewhere.hash != LINES[0].hash


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(LINES)))
def test_no_character_can_be_changed(number):
    place, text = TEXTS[number]
    for index, letter in enumerate(text):
        for other in {"0", "x", letter.swapcase(), " "} - {letter}:
            with pytest.raises(BrokenJournal):
                read_line(text[:index] + other + text[index + 1 :], place)


@pytest.mark.parametrize("number", range(len(LINES)))
def test_no_line_can_be_removed_doubled_or_moved(number):
    without = TEXTS[:number] + TEXTS[number + 1 :]
    doubled_texts = TEXTS[: number + 1] + TEXTS[number:]
    if number < len(LINES) - 1:
        with pytest.raises(BrokenJournal, match="follow"):
            read_lines(without)
    with pytest.raises(BrokenJournal, match="follow"):
        read_lines(doubled_texts)


def test_a_rewritten_line_breaks_the_chain_after_it():
    (forged_event,) = chain([Noted(NOON, "mallory", "t", {})], LINES[0].hash)

    with pytest.raises(BrokenJournal, match=r"j:3.*follow"):
        read_lines([TEXTS[0], ("j:2", forged_event.text), *TEXTS[2:]])


def test_a_second_value_for_a_key_is_seen():
    doubled_key = LINES[0].text.replace('"kind":', '"kind":"Sealed","kind":')

    with pytest.raises(BrokenJournal, match="was changed"):
        read_line(doubled_key, "j:1")


def forge_line(**changes):
    """A line whose hash fits its changed body."""
    body = {**json.loads(LINES[0].text), **changes}
    body.pop("hash")
    return canonical({**body, "hash": digest(body)})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "journal line"),
        ("{", "journal line"),
        ("[]", "journal line"),
        ("null", "journal line"),
        ('"v"', "journal line"),
        (LINES[0].text[:-1], "journal line"),  # a truncated last line
        ('{"v":1}', "hash"),
        (forge_line(kind="Nothing"), "Nothing"),
        (forge_line(kind=["Noted"]), "list"),
        (forge_line(event={}), "validation errors"),
        (forge_line(id="0" * 16), "the id .*not fit"),
        (LINES[0].text.replace("{", '{"a":NaN,', 1), "was changed"),
        (LINES[0].text.replace("{", '{"a":1e999,', 1), "was changed"),
    ],
)
def test_what_is_no_line_names_its_place(text, words):
    with pytest.raises(BrokenJournal, match=words) as error:
        read_line(text, "20260101.jsonl:7")
    assert str(error.value).startswith("20260101.jsonl:7: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("version", ["2", None, [2], 1.5])
def test_a_version_that_is_no_number_is_none(version):
    with pytest.raises(BrokenJournal, match="version"):
        read_line(forge_line(v=version), "j:1")


NEWER = {
    "of the same form": forge_line(v=2),
    "with other fields": forge_line(
        v=3, kind="Rewound", event={"at": "2026-01-01T12:00:00Z", "to": 7}, more=[1]
    ),
    "of another form": canonical(
        {"v": 2, "what": {"x": None}, "event": [1], "prev": 7, "hash": None}
    ),
    "with a naive time": canonical({"v": 2, "event": {"at": "2026-01-01"}}),
}


@pytest.mark.parametrize("name", NEWER)
def test_a_newer_line_is_kept_and_not_understood(name):
    line = read_line(NEWER[name], "j:1")

    assert isinstance(line.event, Newer) and line.event.at.tzinfo
    assert line.text == NEWER[name]
    assert fold([INIT, line.event]).newer and fold([INIT, line.event]).initialised == INIT


def test_a_newer_line_counts_for_the_chain():
    newer = canonical({"v": 2, "prev": LINES[0].hash, "hash": "blake:7"})
    (after,) = chain([EVENTS[1]], "blake:7")

    assert len(read_lines([TEXTS[0], ("j:2", newer), ("j:3", after.text)])) == 3
    for texts in ([("j:2", newer)], [TEXTS[0], ("j:2", newer), TEXTS[1]]):
        with pytest.raises(BrokenJournal, match="follow"):
            read_lines(texts)


def test_a_newer_line_without_a_place_in_the_chain_breaks_none():
    assert len(read_lines([TEXTS[0], ("j:2", '{"v":2}'), TEXTS[1]])) == 3


# --- memory ---------------------------------------------------------------------------------------


def test_an_empty_journal_is_an_empty_memory():
    assert fold([]) == Memory()
    assert not fold([]).history.initialised and fold([]).next_number == 1


def test_memory_does_not_depend_on_how_the_journal_is_cut():
    for cut in range(len(EVENTS) + 1):
        assert fold(EVENTS[cut:], fold(EVENTS[:cut])) == fold(EVENTS)


def test_a_launch_is_unsettled_until_its_outcome():
    intended_memory = fold([INIT, LAUNCHING])

    assert intended_memory.unsettled == LAUNCHING and intended_memory.current is None
    assert intended_memory.unfinished_actions.actions == ("submit/tiny-1: first launch",)
    assert intended_memory.unfinished_actions.since == NOON

    launched_memory = fold([LAUNCHED_EVENT], intended_memory)
    assert launched_memory.unsettled is None and launched_memory.current.name == "tiny-1"
    assert launched_memory.unfinished_actions.actions == ()


def test_a_check_in_of_a_later_attempt_is_a_restart_until_the_next_launch():
    first = CheckedIn(
        at=NOON, instance=LAUNCHED_EVENT.instance, attempt=1, outcome="pass", written=NOON
    )
    again = CheckedIn(
        at=NOON + EVERY,
        instance=LAUNCHED_EVENT.instance,
        attempt=2,
        outcome="pass",
        written=NOON + EVERY / 2,
    )
    untold_check_in = CheckedIn(
        at=NOON + EVERY, instance=LAUNCHED_EVENT.instance, attempt=3, outcome="pass"
    )  # as older versions wrote it

    memory = fold([INIT, LAUNCHING, LAUNCHED_EVENT, first, again, untold_check_in])
    assert memory.history.restarts == ((NOON + EVERY / 2, 2),)
    assert (
        fold([replace(LAUNCHED_EVENT, instance="tiny-9", number=9)], memory).history.restarts == ()
    )


def test_an_instance_knows_its_roots_and_when_it_was_intended():
    (instance,) = fold([INIT, replace(LAUNCHING, adopts=None), LAUNCHED_EVENT]).instances

    assert (instance.intended, instance.started) == (NOON, NOON + EVERY)
    assert instance.roots == (ROOT, f"{ROOT}-temporary")


def test_an_adopted_instance_has_no_intent():
    (instance,) = fold([INIT, LAUNCHED_EVENT]).instances

    assert instance.intended is None and instance.roots == (ROOT,)


def test_a_launch_that_failed_keeps_its_number():
    memory = fold([INIT, LAUNCHING, Failed(NOON, "submit/tiny-1", 1, "no answer")])

    assert memory.unsettled is None and memory.instances == ()
    assert memory.next_number == 2
    assert memory.attempt("submit/tiny-1") == 2


def test_a_new_instance_closes_the_old_ones_alerts():
    alerts = Decided(at=NOON, run="down", monitor="fresh", progress="~1/2", alerts=(ALERT,))

    assert fold([INIT, LAUNCHING, LAUNCHED_EVENT, alerts]).alerts == {ALERT.id: ALERT}
    assert fold([INIT, alerts, LAUNCHING, LAUNCHED_EVENT]).alerts == {}


def test_a_resolved_alert_is_forgotten():
    over = Alert(
        check="a", subject="", since=NOON, seen=NOON, state=AlertState.RESOLVED, message="m"
    )

    assert fold(
        [Decided(at=NOON, run="healthy", monitor="fresh", progress="~", alerts=(over, ALERT))]
    ).alerts == {ALERT.id: ALERT}


def test_a_pending_alert_is_remembered_and_not_open():
    pending = Alert(
        check="a", subject="", since=NOON, seen=NOON, state=AlertState.PENDING, message="m"
    )
    memory = fold(
        [Decided(at=NOON, run="healthy", monitor="fresh", progress="~", alerts=(pending,))]
    )

    assert memory.alerts == {pending.id: pending} and not pending.firing


INTENT, POST = (
    Intended(at=NOON, key="relaunch/tiny-1", attempt=1, what="why"),
    Intended(at=NOON, key="tell/x", attempt=1, what="why", body="body"),
)


def test_an_intent_is_in_doubt_until_done_or_failed():
    memory = fold([INTENT])

    assert memory.ledger.unfinished == {"relaunch/tiny-1"}
    assert memory.unfinished_actions.actions == ("relaunch/tiny-1: why",)
    memory_after = fold([Done(NOON, INTENT.key, 1, result="tiny-2")], memory)
    assert (
        memory_after.ledger.done == {"relaunch/tiny-1"}
        and memory_after.ledger.unfinished == frozenset()
    )
    failed_memory = fold([Failed(NOON, INTENT.key, 1, "no answer")], memory)
    assert (
        failed_memory.ledger.unfinished == frozenset()
        and failed_memory.ledger.failed[INTENT.key].count == 1
    )


STOP_ORDER = Ordered(NOON, "ada", Word.STOP, ("tiny-1",))
STOPPING = Intended(at=NOON, key="stop/tiny-1", attempt=1, what="stop tiny-1: a sick node")


@pytest.mark.parametrize(
    ("events", "stop_result"),
    [
        ([STOP_ORDER], {}),  # it had ended already
        ([STOP_ORDER, STOPPING], {"tiny-1": "ada"}),
        ([STOP_ORDER, STOPPING, Done(NOON, "stop/tiny-1", 1)], {"tiny-1": "ada"}),
        ([STOP_ORDER, STOPPING, Failed(NOON, "stop/tiny-1", 1, "cut off")], {"tiny-1": "ada"}),
        ([STOPPING, Failed(NOON, "stop/tiny-1", 1, "refused")], {}),  # and nobody ordered it
    ],
)
def test_a_stop_that_was_tried_explains_the_end(events, stop_result):
    memory = fold(events)
    assert memory.ordered_stops == stop_result
    assert ("tiny-1" in memory.stopped_instances) is bool(stop_result or STOP_ORDER in events)


def test_failures_are_counted():
    twice = [
        INTENT,
        Failed(NOON, INTENT.key, 1, "a"),
        INTENT,
        Failed(NOON + EVERY, INTENT.key, 2, "b"),
    ]
    tries = fold(twice).ledger.failed[INTENT.key]

    assert (tries.count, tries.last, tries.why) == (2, NOON + EVERY, "b")
    assert fold(twice).attempt(INTENT.key) == 3


def test_a_post_that_failed_waits_with_its_words():
    waiting = fold([POST, Failed(NOON, POST.key, 1, "503")])

    assert waiting.queued == {POST.key: POST}
    assert waiting.ledger.unfinished == {POST.key}
    assert waiting.unfinished_actions.actions == ()
    assert fold([Done(NOON, POST.key, 1)], waiting).queued == {}


def test_only_relaunches_count_against_the_budget():
    again = Launched(
        at=NOON,
        instance="tiny-2",
        number=2,
        job="j",
        plan_digest="p",
        output_root=ROOT,
        commit="c",
        entry={},
        relaunch_of="tiny-1",
    )

    assert fold([LAUNCHED_EVENT, again]).ledger.relaunched == (NOON,)
    assert fold([LAUNCHED_EVENT, again]).ledger.instance == "tiny-2"


def test_caveats_seals_and_receipts_are_history():
    history = fold(EVENTS).history

    assert history.caveats[1:] == ("caveat",)  # the first is of the adopted instance
    assert history.sealed == "herorun/tiny/seal-1"
    assert history.checked_in == {"tiny-1"}


HOUR = timedelta(hours=1)


def launched_between(before, after, launch):
    """A look a second, by a clock that is so many hours off, and a launch between two of them."""
    ticks = [
        Decided(at=NOON + timedelta(seconds=n) + off * HOUR, run="x", monitor="fresh", progress="~")
        for n, off in enumerate([*before, *after])
    ]
    launches = [replace(LAUNCHING, at=launch, adopts=None), replace(LAUNCHED_EVENT, at=launch)]
    return fold([*ticks[: len(before)], *launches, *ticks[len(before) :]]).history.current


@pytest.mark.parametrize("before", [[0], [0, 1], [0, -1, 0, 1]])
def test_a_launch_by_a_clock_that_was_ahead_lies_between_the_looks_of_a_right_one(before):
    launch_time = launched_between(before, [0, 0], NOON + HOUR)

    assert launch_time.misdated == launch_time.started == NOON + timedelta(seconds=len(before))
    last_right = len(before) - before[::-1].index(0) - 1
    assert launch_time.intended == NOON + timedelta(seconds=last_right)


def test_a_rollback_by_a_clock_that_was_ahead_rules_out_nothing_that_is_saved_later():
    ahead = NOON + HOUR
    looks = [
        Decided(at=NOON + timedelta(seconds=n), run="x", monitor="fresh", progress="~")
        for n in (0, 2)
    ]
    given_up = replace(LAUNCHING.given_up, at=ahead)
    back = [replace(LAUNCHING, at=ahead, given_up=given_up), replace(LAUNCHED_EVENT, at=ahead)]
    memory = fold([looks[0], *back, looks[1]])

    assert [each.at for each in memory.history.given_up] == [looks[1].at]
    assert (memory.health.launched, fold([looks[0], *back]).health.launched) == (NOON, ahead)


@pytest.mark.parametrize(
    ("before", "after"), [([0], [-1, 0]), ([0, -1, 0], [-1, 0]), ([0, 1, 0], [-1]), ([1], [0, 0])]
)
def test_a_look_by_a_clock_that_is_behind_dates_no_launch_again(before, after):
    launch_time = launched_between(before, after, NOON)

    assert (launch_time.misdated, launch_time.intended) == (None, NOON)


def test_the_last_summary_is_remembered_through_quiet_ticks():
    quiet = Decided(at=NOON + EVERY, run="healthy", monitor="fresh", progress="~")

    assert fold([*EVENTS, quiet]).last_summary == NOON
    assert fold([*EVENTS, quiet]).last_decided == quiet


def test_a_rollback_rules_out_nothing_until_its_instance_was_launched():
    assert fold([INIT, LAUNCHING]).history.given_up == ()
    assert fold([INIT, LAUNCHING, LAUNCHED_EVENT]).history.given_up == (LAUNCHING.given_up,)


BACK = Ordered(NOON, "ada", Word.ROLLBACK, ("tiny-1", "rollback/tiny-1/2"))
KEY = "rollback/tiny-1/2"


@pytest.mark.parametrize(
    ("after", "stands"),
    [
        ([], True),
        ([Failed(NOON, KEY, 1, "interrupted", interrupted=True)], True),
        ([Failed(NOON, KEY, 1, "the launch gate is blocked")], False),
        ([Done(NOON, KEY, 1)], False),
        ([Ordered(NOON, "ada", Word.RELAUNCH, ("tiny-1",))], False),
        ([Failed(NOON, KEY, 1, "blocked"), replace(BACK, at=NOON + EVERY)], True),
    ],
)
def test_an_order_to_go_back_stands_until_it_is_carried_out_refused_or_replaced(after, stands):
    memory = fold([INIT, LAUNCHING, LAUNCHED_EVENT, BACK, *after])

    assert bool(memory.rollback_ordered) is stands


# --- seals and deletions --------------------------------------------------------------------------


def test_a_milestone_does_not_end_the_run_and_the_seal_after_it_does():
    half = Sealed(
        at=NOON,
        tag="herorun/tiny/seal-1",
        commit="c0ffee",
        statement_digest="sha256:02",
        lines={},
        ending="milestone",
        name="half",
    )
    memory = fold([half])
    assert (memory.sealed, memory.milestones) == (None, (half,))
    end = Sealed(at=NOON, tag="herorun/tiny/seal-2", commit="c0ffee", statement_digest="sha256:03")
    assert fold([end], memory).sealed == end


def test_a_deletion_is_under_way_until_it_is_known_to_be_done():
    key = "prune/0555e136d332//data/tiny/step-1"
    memory = fold([Intended(at=NOON, key=key, attempt=1, what="delete it")])
    assert memory.history.deleting == {"/data/tiny/step-1"}
    memory_after = fold([Failed(NOON, key, 1, "403")], memory)
    assert memory_after.history.deleting == {"/data/tiny/step-1"}
    assert fold([Done(NOON, key, 1)], memory_after).history.deleting == frozenset()


def test_an_adopted_instance_began_with_its_job_and_stays_a_caveat() -> None:
    memory = fold([LAUNCHING, LAUNCHED_EVENT])
    assert memory.adopted_jobs == {"tiny-1": "job-1"} and memory.newest == "tiny-1"
    assert memory.instances[0].intended == NOON - EVERY
    (caveat,) = memory.caveats
    assert mentions(caveat, "tiny-1", "job-1", "adopted", "not compared")
    submitted_memory = fold([replace(LAUNCHING, adopts=None), LAUNCHED_EVENT])
    assert (
        submitted_memory.adopted_jobs,
        submitted_memory.caveats,
        submitted_memory.instances[0].intended,
    ) == (
        {},
        (),
        NOON,
    )


def starting_from(start):
    plan = {**as_json(PLAN), "start": {"value": start, "source": "x", "inferred": False}}
    return fold([INIT, replace(LAUNCHING, plan=plan, adopts=None), LAUNCHED_EVENT])


@pytest.mark.parametrize(
    ("start", "gone_on_from", "completed_step"),
    [
        (None, -1, 0),  # from scratch
        ({"path": "x", "step": 0, "kind": "full-state"}, 0, 0),
        ({"path": "x", "step": 41_000, "kind": "full-state"}, 41_000, 41_000),
        ({"path": "x", "step": 41_000, "kind": "weights-only"}, -1, 0),  # counted from 0 again
        ({"path": "x", "step": None, "kind": "full-state"}, -1, None),  # nobody knows
    ],
)
def test_the_step_that_a_launch_starts_from(start, gone_on_from, completed_step):
    memory = starting_from(start)
    assert memory.ledger.start_step == gone_on_from
    assert start_step(memory.launchings["tiny-1"]) == completed_step
    assert memory.instances[-1].start == completed_step


@pytest.mark.parametrize(("kind", "advanced_step"), [("full-state", False), ("weights-only", True)])
def test_where_weights_alone_are_taken_over_a_checkpoint_at_a_lower_step_is_progress(
    kind, advanced_step
):
    memory = starting_from({"path": "x", "step": 41_000, "kind": kind})
    saved_checkpoints = Checkpoints((replace(a_checkpoint(100), modified=NOON + EVERY),))
    start = memory.ledger.start_step
    assert (
        has_new_checkpoint(
            saved_checkpoints, memory.instances[-1], start, NOON + timedelta(hours=2)
        )
        is advanced_step
    )


def test_before_a_launch_nothing_was_gone_on_from():
    assert Memory().ledger.start_step == -1
