"""The decision table of a patrol: each test states one difference from a healthy run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from herorun.core.health.run_health import RunHealth
from herorun.core.patrol.advice import PatrolAdvice, PatrolCommands, PatrolState
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    Count,
    DiskRoom,
    FolderCopy,
    Gpu,
    HostObservation,
    Liveness,
    LogEnd,
    MachineUnread,
    MemoryUse,
    PreviousTick,
)
from herorun.core.patrol.summary_line import movement_of, patrol_line
from herorun.core.patrol.table import decide
from wording import mentions

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEGAN = NOW - timedelta(hours=2)
WAYS = PatrolCommands(
    resume="RESUME",
    chain="CHAIN",
    transfer=(("/data/set", "RSYNC"),),
    remove="REMOVE",
    chain_waits=True,
)
GIB = 1 << 30


def a_look(**changes: Any) -> HostObservation:
    healthy = HostObservation(
        at=NOW,
        name="tiny-1",
        where="box1",
        alive=Liveness.YES,
        log=LogEnd(line="step 120 loss 2.1", step=120, size=4000, age=3.0),
        disks={"/data": DiskRoom(500 * GIB, 1000 * GIB, 900, 1000)},
        output_age=30.0,
        gpus=(Gpu("0", 91.0), Gpu("1", 89.0)),
        memory=MemoryUse(40 * GIB, 100 * GIB, 0.4, 0),
        load=8.0,
        cpus=16,
        launched_at=BEGAN,
    )
    return replace(healthy, **changes)


def rows(look: HostObservation, before: PreviousTick | None = None) -> list[str]:
    return [each.row for each in decide(look, WAYS, before).advice]


def advice(look: HostObservation, row: str, before: PreviousTick | None = None) -> Any:
    (row_advice,) = [each for each in decide(look, WAYS, before).advice if each.row == row]
    return row_advice


def test_a_healthy_run_needs_nothing() -> None:
    assert decide(a_look(), WAYS) == PatrolAdvice(PatrolState.RUNNING, ())
    assert decide(a_look(), WAYS).code == 0


def test_a_box_out_of_reach_is_unknown_and_not_down() -> None:
    decision = decide(
        a_look(alive=Liveness.UNKNOWN, unreachable="box1 does not answer: the link is cut."), WAYS
    )
    assert (decision.state, decision.code) == (PatrolState.UNKNOWN, 3)
    (only,) = decision.advice
    assert mentions(only.message, "provider", "console") and not only.command


def test_gone_without_its_marker_it_is_down_with_the_exact_resume_command() -> None:
    look = a_look(
        alive=Liveness.NO, why="tiny-1 ended as failed: exit code 1", markers={"/data/DONE": None}
    )
    decision = decide(look, WAYS)
    assert (decision.state, decision.code) == (PatrolState.DOWN, 1)
    row = advice(look, "gone")
    assert row.command == "RESUME" and "without /data/DONE" in row.message
    assert advice(look, "chain").command == "CHAIN"


def test_gone_with_its_marker_everything_is_done_and_the_patrol_is_to_be_removed() -> None:
    look = a_look(alive=Liveness.NO, markers={"/data/DONE": NOW})
    assert (decide(look, WAYS).state, decide(look, WAYS).code) == (PatrolState.DONE, 0)
    assert advice(look, "done").command == "REMOVE"


def test_the_marker_decides_and_not_a_session_that_was_left_open() -> None:
    assert decide(a_look(markers={"/data/DONE": NOW}), WAYS).state is PatrolState.DONE


def test_a_marker_from_before_the_launch_is_of_another_run() -> None:
    look = a_look(alive=Liveness.NO, markers={"/data/DONE": BEGAN - timedelta(hours=1)})
    assert decide(look, WAYS).state is PatrolState.DOWN


def test_a_marker_that_nobody_could_look_for_is_neither_there_nor_missing() -> None:
    look = a_look(alive=Liveness.NO, markers={"/data/DONE": MachineUnread("it hangs")})
    assert decide(look, WAYS).state is PatrolState.UNKNOWN


@pytest.mark.parametrize(
    ("facts", "state", "row", "code"),
    [
        ({"succeeded": True}, PatrolState.UNKNOWN, "unconfirmed", 3),  # its final step is known
        ({"succeeded": True, "health": RunHealth.STARTING}, PatrolState.UNKNOWN, "unconfirmed", 3),
        ({"succeeded": True, "health": RunHealth.DOWN}, PatrolState.DOWN, "gone", 1),
        ({"succeeded": True, "health": RunHealth.DEGRADED}, PatrolState.DOWN, "unsaved", 1),
        ({"succeeded": True, "health": RunHealth.FINISHED}, PatrolState.DONE, "done", 0),
        ({"succeeded": True, "launched_at": None}, PatrolState.DONE, "done", 0),
        ({"succeeded": False}, PatrolState.DOWN, "gone", 1),
    ],
)
def test_where_no_sign_was_declared_the_scheduler_and_the_evidence_decide(
    facts: dict[str, Any], state: PatrolState, row: str, code: int
) -> None:
    look = a_look(alive=Liveness.NO, **facts)
    decision = decide(look, WAYS)
    assert (decision.state, decision.code, rows(look)[0]) == (state, code, row)


def test_a_job_without_a_contract_has_no_patrol_that_could_be_removed() -> None:
    look = a_look(alive=Liveness.NO, succeeded=True, launched_at=None)
    (row,) = decide(look, PatrolCommands()).advice
    assert row.row == "done" and not row.command and not row.message.endswith(":")
    assert "contract" not in row.message and "contract" in advice(look, "done").message


@pytest.mark.parametrize("may_seal", [True, False])
def test_a_run_that_is_done_waits_for_the_dri_to_seal_it(may_seal: bool) -> None:
    ways = replace(WAYS, may_seal=may_seal, dri="@dri", status="STATUS")
    look = a_look(alive=Liveness.NO, markers={"/data/DONE": NOW})
    (row,) = decide(look, ways).advice
    assert (row.row, row.command) == ("done", "REMOVE")
    assert mentions(row.message, "@dri", "`STATUS`") is may_seal


def test_exit_code_0_without_the_declared_marker_is_not_done() -> None:
    look = a_look(alive=Liveness.NO, succeeded=True, markers={"/data/DONE": None})
    assert decide(look, WAYS).state is PatrolState.DOWN
    assert advice(look, "chain").command == "CHAIN" and "gone" not in rows(look)


def test_while_its_chain_works_an_ended_job_is_not_down() -> None:
    look = a_look(
        alive=Liveness.NO, succeeded=True, markers={"/c/eval.DONE": None}, chain=ChainState(True)
    )
    assert decide(look, WAYS).state is PatrolState.RUNNING


def test_a_job_that_nobody_could_see_is_unknown() -> None:
    decision = decide(a_look(alive=Liveness.UNKNOWN, why="squeue gave no answer"), WAYS)
    assert (decision.state, decision.code) == (PatrolState.UNKNOWN, 3)


def test_a_scheduler_that_gives_no_answer_has_a_next_step() -> None:
    """As where the dashboard of Ray is away: no machine is asked, so none is out of reach."""
    look = a_look(alive=Liveness.UNKNOWN, why="the dashboard refuses the connection")
    (scheduler_advice,) = [
        each for each in decide(look, replace(WAYS, doctor="DOCTOR")).advice if each.row == "unread"
    ]
    assert (scheduler_advice.command, scheduler_advice.critical) == ("DOCTOR", True)
    # of a job that herorun did not start, the line itself says what to check
    assert "unread" not in rows(look) and "unread" not in rows(a_look())


def test_a_result_is_told_word_for_word() -> None:
    look = a_look(results={"/data/r.csv": CommandOutput("acc,0.8125\nf1,0.79\n")})
    result_advice = advice(look, "result")
    assert (
        result_advice.message == "/data/r.csv:\nacc,0.8125\nf1,0.79" and not result_advice.critical
    )


@pytest.mark.parametrize("there", [Count(99, 900), Count(100, 899), Count(0, 0), None])
def test_fewer_files_or_bytes_than_the_source_resume_the_transfer(there: Count | None) -> None:
    look = a_look(copies=(FolderCopy("/data/set", "/home/set", there, Count(100, 900)),))
    assert advice(look, "copy").command == "RSYNC"
    assert decide(look, WAYS).code == 1


def test_a_whole_copy_needs_nothing() -> None:
    assert (
        rows(a_look(copies=(FolderCopy("/data/set", "/s", Count(100, 900), Count(100, 900)),)))
        == []
    )


@pytest.mark.parametrize(
    ("there", "here"), [(MachineUnread("it hangs"), Count(1, 1)), (Count(1, 1), None)]
)
def test_a_copy_that_nobody_could_count_is_not_incomplete(there: Any, here: Any) -> None:
    copy_advice = advice(a_look(copies=(FolderCopy("/data/set", "/s", there, here),)), "copy")
    assert not copy_advice.critical and not copy_advice.command


def test_gpus_at_0_while_steps_advance_wait_for_data() -> None:
    assert rows(a_look(gpus=(Gpu("0", 0.0),))) == ["data-bound"]


def test_gpus_at_0_with_steps_since_the_last_tick_wait_for_data_too() -> None:
    before = PreviousTick(NOW - timedelta(minutes=30), step=100)
    slow = a_look(gpus=(Gpu("0", 0.0),), log=LogEnd(line="step 120", step=120, age=600.0))
    assert rows(slow, before) == ["data-bound"]
    assert rows(slow, replace(before, step=120)) == ["idle"]


def test_memory_over_nine_tenths_is_a_risk() -> None:
    assert rows(a_look(memory=MemoryUse(90, 100, 0.9, 0))) == []
    assert rows(a_look(memory=MemoryUse(91, 100, 0.91, 0))) == ["memory"]
    assert decide(a_look(memory=MemoryUse(91, 100, 0.91, 0)), WAYS).code == 1


def test_a_question_to_the_dri_comes_before_the_relaunch() -> None:
    look = a_look(alive=Liveness.NO, why="tiny-1 ended as failed: exit code 1")
    ways = replace(WAYS, has_question=True, status="STATUS")
    (row,) = [each for each in decide(look, ways).advice if each.row == "gone"]
    assert mentions(row.message, "DRI", "STATUS") and row.command == "RESUME"


@pytest.mark.parametrize("relaunches_itself", [False, True])
def test_what_the_rules_leave_to_the_dri_is_no_order(relaunches_itself: bool) -> None:
    look = a_look(alive=Liveness.NO, why="tiny-1 ended as failed: exit code 1")
    ways = replace(WAYS, relaunches_itself=relaunches_itself, dri_decides=True, dri="@eve")
    (row,) = [each for each in decide(look, ways).advice if each.row == "gone"]
    assert mentions(row.message, "DRI", "@eve", "If yes") and row.command == "RESUME"


def test_what_is_done_needs_no_memory_and_no_room() -> None:
    look = a_look(
        alive=Liveness.NO,
        succeeded=True,
        health=RunHealth.FINISHED,
        memory=MemoryUse(99, 100, 0.99, 0),
        disks={"/data": DiskRoom(GIB, 1000 * GIB, 900, 1000)},
    )
    assert (rows(look), decide(look, WAYS).code) == (["done"], 0)


def test_kills_for_memory_count_from_the_last_tick_on() -> None:
    look = a_look(memory=MemoryUse(1, 100, 0.01, 7))
    assert rows(look) == []
    assert rows(look, PreviousTick(BEGAN, oom_kill=7)) == []
    assert rows(look, PreviousTick(BEGAN, oom_kill=5)) == ["oom-kill"]


def test_a_busy_machine_with_room_in_the_own_cgroup_is_a_noisy_neighbour() -> None:
    assert rows(a_look(load=64.0)) == ["neighbour"]
    assert rows(a_look(load=64.0, cores_used=1.0, cores_allowed=16.0)) == ["neighbour"]


def test_processors_that_our_own_threads_use_up_are_no_neighbours_and_starve_the_gpus() -> None:
    low = (Gpu("0", 59.0),)
    assert (
        rows(a_look(load=64.0, cores_used=15.0, cores_allowed=16.0)) == []
    )  # the GPUs are busy all the same
    assert rows(a_look(load=64.0, cores_used=15.0, cores_allowed=16.0, gpus=low)) == ["threads"]
    # a slice of a large machine
    assert rows(a_look(cores_used=4.0, cores_allowed=4.0, gpus=low)) == ["threads"]
    assert rows(a_look(cores_used=14.0, cores_allowed=16.0, gpus=low)) == []
    assert (
        "OMP_NUM_THREADS"
        in advice(a_look(cores_used=4.0, cores_allowed=4.0, gpus=low), "threads").message
    )


@pytest.mark.parametrize(
    ("room", "row"),
    [
        (DiskRoom(GIB, 1000 * GIB, 900, 1000), "disk"),
        (DiskRoom(500 * GIB, 1000 * GIB, 9, 1000), "inodes"),
    ],
)
def test_bytes_and_inodes_run_out_apart(room: DiskRoom, row: str) -> None:
    assert rows(a_look(disks={"/data": room})) == [row]


def test_a_frozen_log_with_moving_output_is_buffered_and_not_a_hang() -> None:
    frozen_log = LogEnd(line="step 120", step=120, age=4000.0)
    assert rows(a_look(log=frozen_log)) == ["buffered"]
    hangs, unread_look = (
        a_look(log=frozen_log, output_age=4000.0),
        a_look(log=frozen_log, output_age=None),
    )
    assert rows(hangs) == rows(unread_look) == ["silent"]
    ways = replace(WAYS, stop="STOP", restart="RESTART", logs="LOGS", dri="@ada")
    messages = [decide(each, ways).advice[0].message for each in (hangs, unread_look)]
    assert ["RESTART" in message for message in messages] == [True, False]
    assert mentions(messages[0], "1h6m", "DRI", "@ada")
    assert mentions(messages[1], "could not", "read")


def test_a_failure_in_its_own_log_is_reported_while_it_lives() -> None:
    log = LogEnd(
        line="step 120",
        step=120,
        age=3.0,
        failure="disk-full",
        excerpt="unexpected pos 1 vs 2",
        advice="Make room.",
    )
    assert rows(a_look(log=log)) == ["log"]


@pytest.mark.parametrize(
    ("failure", "relaunches_itself"),
    [("code-bug-complex", False), ("numeric", False), ("disk-full", False), ("preemption", True)],
)
def test_a_failure_that_comes_again_is_fixed_before_a_relaunch(
    failure: str, relaunches_itself: bool
) -> None:
    ways = replace(WAYS, relaunches_itself=True)
    log = LogEnd(line="step 120", step=120, age=3.0, failure=failure, excerpt="x", advice="y.")
    (row,) = [
        each
        for each in decide(a_look(alive=Liveness.NO, log=log), ways).advice
        if each.row == "gone"
    ]
    assert mentions(row.message, "babysitter") is relaunches_itself
    assert mentions(row.message, "fixed") is not relaunches_itself
    assert row.command == ways.resume


def test_a_failed_chain_is_reported_with_how_it_continues() -> None:
    assert (
        advice(a_look(chain=ChainState(False, "eval ended with 3")), "chain-failed").command
        == "CHAIN"
    )
    assert rows(a_look(chain=ChainState(True, "eval ended with 3"))) == []


FAILED_CHAIN = ChainState(False, "eval ended with 3", "eval", waits=False)


@pytest.mark.parametrize(
    ("look", "command"),
    [
        (a_look(chain=FAILED_CHAIN), ""),
        (a_look(chain=FAILED_CHAIN, alive=Liveness.NO), ""),
        (a_look(chain=FAILED_CHAIN, alive=Liveness.UNKNOWN), ""),
        (
            a_look(chain=FAILED_CHAIN, alive=Liveness.NO, succeeded=True, markers={"/m": None}),
            "CHAIN",
        ),
        (a_look(chain=FAILED_CHAIN, log=LogEnd(line="done", step=120, done=True)), "CHAIN"),
        (a_look(chain=FAILED_CHAIN, log=LogEnd(line="step 120", step=120, done=False)), ""),
        (a_look(chain=replace(FAILED_CHAIN, waits=True, stage="wait"), alive=Liveness.NO), ""),
        (a_look(chain=replace(FAILED_CHAIN, waits=True, stage="wait")), "CHAIN"),
    ],
)
def test_a_failed_chain_is_started_again_only_when_it_cannot_meet_the_job(
    look: HostObservation, command: str
) -> None:
    assert advice(look, "chain-failed").command == command


@pytest.mark.parametrize("runs", [True, False])
def test_a_stage_of_a_chain_that_waits_for_nothing_does_not_show_that_the_training_is_done(
    runs: bool,
) -> None:
    chain = replace(FAILED_CHAIN, runs=runs)
    assert decide(a_look(chain=chain), WAYS).state is PatrolState.RUNNING
    look = a_look(chain=chain, alive=Liveness.NO)
    assert decide(look, WAYS).code == 3
    assert mentions(advice(look, "undecided").message, "training", "log")
    waits = replace(look, chain=replace(chain, waits=True))
    state = PatrolState.RUNNING if runs else PatrolState.DOWN
    assert decide(waits, WAYS).state is state and "undecided" not in rows(waits)


def test_the_line_is_reported_even_when_nothing_changed() -> None:
    look = a_look()
    decision = decide(look, WAYS)
    from herorun.core.patrol.summary_line import facts_of

    before = PreviousTick(NOW - timedelta(minutes=30), facts_of(look, decision), 120)
    now, *parts = patrol_line(look, decision, before).split("; ")
    *machine, change = parts[1:]
    assert now == "2026-03-01T12:00:00Z tiny-1: running"
    assert parts[0] == "step 120 loss 2.1 [+0 steps in 30m] (3s ago)"
    assert machine == [
        "2 GPUs 90% busy",
        "host memory 40% used",
        "disk 500 GiB free",
        "inodes 90% free",
    ]
    assert mentions(change, "nothing", "11:30Z")


def test_a_blind_line_names_no_number() -> None:
    look = a_look(alive=Liveness.UNKNOWN, why="", unreachable="box1 does not answer.")
    assert mentions(
        patrol_line(look, decide(look, WAYS)), "2026-03-01T12:00:00Z", "tiny-1", "box1", "answer"
    )


def test_what_stays_constant_does_not_move() -> None:
    still = a_look(output_age=4000.0)
    assert movement_of(still) == movement_of(replace(still, at=NOW + timedelta(minutes=5)))
    assert movement_of(still) != movement_of(replace(still, log=LogEnd(line="step 121", step=121)))


def test_a_machine_that_nobody_could_ask_is_reported_and_not_left_out() -> None:
    gpus, memory = MachineUnread("nvidia-smi hangs"), MachineUnread("it hangs")
    look = a_look(gpus=gpus, memory=memory)
    line = patrol_line(look, decide(look, WAYS))
    assert mentions(line, "gpu unknown", gpus.why, "memory unknown", memory.why)


def test_a_dead_job_and_its_waiting_chain_are_two_facts() -> None:
    look = a_look(
        alive=Liveness.NO, why="there is no such tmux session", chain=ChainState(True, "", "wait")
    )
    assert decide(look, WAYS).code == 1
    line = patrol_line(look, decide(look, WAYS))
    assert mentions(line, "tmux", "waiting")
    assert rows(look) == ["gone"]  # the chain waits already


def test_after_the_training_only_what_is_left_of_the_chain_is_proposed() -> None:
    log_end = LogEnd(line="Training completed", step=120, done=True)
    look = a_look(
        alive=Liveness.NO,
        log=log_end,
        markers={"/c/eval.DONE": None},
        chain=ChainState(False, "eval ended with 1", "eval"),
    )
    assert (decide(look, WAYS).state, rows(look)) == (PatrolState.DOWN, ["chain-failed"])
    assert advice(look, "chain-failed").command == "CHAIN"
    without_chain = replace(look, chain=ChainState(False))
    assert [(each.row, each.command) for each in decide(without_chain, WAYS).advice] == [
        ("chain", "CHAIN")
    ]


def test_a_chain_that_waits_for_nothing_is_not_started_next_to_the_job() -> None:
    look = a_look(alive=Liveness.NO, chain=ChainState(False))
    for waits in (True, False):
        advice_rows = [each.row for each in decide(look, replace(WAYS, chain_waits=waits)).advice]
        assert advice_rows == (["gone", "chain"] if waits else ["gone"])


def test_where_nobody_knows_how_a_job_was_started_no_command_is_made_up() -> None:
    (row,) = decide(a_look(alive=Liveness.NO), PatrolCommands()).advice
    assert (row.row, row.command) == ("gone", "")
    assert mentions(row.message, "Submit", "yourself")


def test_a_blind_look_gives_its_reason_once_and_claims_no_change() -> None:
    why = "box1 does not answer"
    look = a_look(alive=Liveness.UNKNOWN, why=why, unreachable=f"{why}.")
    line = patrol_line(look, decide(look, WAYS), PreviousTick(NOW, facts="other"))
    assert line.count(why) == 1 and "changed" not in line


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (CommandOutput("acc,0.8"), PatrolState.DONE),
        (None, PatrolState.DOWN),
        (MachineUnread("it hangs"), PatrolState.UNKNOWN),
    ],
)
def test_a_declared_result_is_a_sign_of_the_end(result: Any, state: PatrolState) -> None:
    assert decide(a_look(alive=Liveness.NO, results={"/data/r.csv": result}), WAYS).state is state


@pytest.mark.parametrize(
    ("log", "is_declared", "remedy"),
    [
        (MachineUnread("it hangs"), True, None),  # its success pattern may stand in it
        (MachineUnread("it hangs"), False, "RESUME"),
        (None, True, "RESUME"),
        (LogEnd(line="step 1", step=1, done=False), True, "RESUME"),
    ],
)
def test_only_a_log_that_could_not_be_read_hides_the_success_pattern(
    log: Any, is_declared: bool, remedy: str | None
) -> None:
    look = a_look(alive=Liveness.NO, log=log, has_success_pattern=is_declared)
    look = replace(look, markers={"/data/DONE": None})
    assert next((a.command for a in decide(look, WAYS).advice), None) == remedy


def test_a_transfer_says_how_much_of_which_count_is_there() -> None:
    copy = FolderCopy("/data/set", "/home/set", Count(1, 9), Count(100, 900))
    message = advice(a_look(copies=(copy,)), "copy").message
    assert mentions(message, "/data/set", "1 file (9 bytes)", "100 files (900 bytes)", "/home/set")
    nothing = advice(a_look(copies=(replace(copy, remote=None),)), "copy").message
    assert mentions(nothing, "none", "100 files")
