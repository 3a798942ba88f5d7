"""Writes the worlds of the replays: `python tests/replays/write.py`. The same each time; a test
holds the files to it.

Times, steps and counts are those of each incident's description, as its header says; what lies
between them (losses, the hour of a start, the pace of steps where it is not told) is made here,
plain and the same each time.
"""

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BOTH, FAULT, SOUND = "", "fault", "sound"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@dataclass
class World:
    """What is said of one incident, collected."""

    begin: datetime
    root: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def say(self, at: datetime, part: str = BOTH, **facts: Any) -> None:
        self.lines.append({"at": at.isoformat(), **({"in": part} if part else {}), **facts})

    def launch(self, at: datetime, instance: str, part: str = BOTH, **facts: Any) -> None:
        self.say(at, part, launched={"instance": instance, "root": self.root, **facts})

    def job(self, at: datetime, instance: str, state: str, part: str = BOTH, **facts: Any) -> None:
        self.say(at, part, job={"instance": instance, "state": state, **facts})

    def runs(self, at: datetime, instance: str, part: str = BOTH, **facts: Any) -> None:
        """It is running, has said so in its log, and has checked in."""
        self.job(at, instance, "running", part, started=at.isoformat(), **facts)
        self.say(at, part, log=f"{instance}: starting", instance=instance)
        receipt = {"instance": instance, "attempt": 1, "rank": 0, "outcome": "pass", "items": []}
        path = f"{self.root}/_herorun/receipts/{instance}.1.json"
        self.say(at + MINUTE, part, file=path, holds=receipt)

    def save(self, at: datetime, step: int, part: str = BOTH, root: str = "", **facts: Any) -> None:
        self.say(at, part, saved=f"{root or self.root}/step-{step}", **facts)

    def train(
        self,
        first: datetime,
        steps: range,
        seconds: float,
        loss: Callable[[int], float],
        part: str = BOTH,
        log: str = "",
        every: int = 1,
        lr: float | None = None,
    ) -> datetime:
        """Rows of these completed updates, logged as one less; the time of the last. `log` names
        whose log moves on.
        """
        at = first
        for n, update in enumerate(steps):
            at = first + timedelta(seconds=n * seconds)
            if n % every == 0 or update == steps[-1]:
                after = (at - self.begin).total_seconds()
                row = {
                    "after": round(after, 1),
                    "step": update - 1,
                    "loss": loss(update),
                    "in": part,
                }
                self.rows.append(row | ({} if lr is None else {"lr": lr}))
            if log and (n % 10 == 0 or update == steps[-1]):
                self.say(at, part, log=f"step {update} of training done", instance=log)
        return at

    def files(self) -> dict[str, str]:
        lines = sorted(self.lines, key=lambda line: datetime.fromisoformat(line["at"]))
        files = {"world.jsonl": "".join(json.dumps(line) + "\n" for line in lines)}
        if self.rows:
            rows = sorted(self.rows, key=lambda row: row["after"])
            rates = any("lr" in row for row in rows)
            tables = [
                f"{r['after']:g},{r['step']},{r['loss']},{r['in']}"
                + (f",{r['lr']}" if rates else "")
                for r in rows
            ]
            files["rows.csv"] = "\n".join(["after,step,train/loss,in" + ",lr" * rates, *tables, ""])
        return files


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def curve(
    level: float, noise: float, seed: int, slope: float = 0.0, since: int = 0
) -> Callable[[int], float]:
    """A calm loss: the same value for the same step, whichever attempt trains it."""

    def loss(update: int) -> float:
        wobble = random.Random(seed * 1_000_003 + update).gauss(0.0, noise)
        return round(level - slope * (update - since) + wobble, 5)

    return loss


def early(update: int) -> float:
    """The steep beginning of a run."""
    return round(3.0 + 8.0 * math.exp(-update / 60) + random.Random(update).gauss(0.0, 0.02), 5)


# --- 1: a resume that made a new namespace --------------------------------------------------------


def resume_in_a_new_namespace() -> World:
    world = World(at("2026-05-02 16:00"), "gs://hero/delphi/delphi-1e21-lr0.67-ecbd27/checkpoints")
    world.launch(world.begin - 9 * HOUR, "delphi-1", final_step=4413)
    world.train(world.begin - 55 * MINUTE, range(2452, 2652), 10, loss := curve(1.96, 0.004, 1))
    world.save(world.begin - 21 * MINUTE, 2651)
    start = {"path": f"{world.root}/step-2651", "step": 2651, "kind": "full-state"}
    world.launch(world.begin, "delphi-2", final_step=4413, start=start, relaunch_of="delphi-1")
    world.runs(world.begin, "delphi-2")
    entity = "https://wandb.example.org/hero/delphi/runs"
    elsewhere = world.root.replace("ecbd27", "99752407")
    for part, name in (
        (FAULT, "delphi-1e21-lr0.67-99752407"),
        (SOUND, "delphi-1e21-lr0.67-ecbd27"),
    ):
        line = f"wandb: 🚀 View run {name} at: {entity}/{name}"
        world.say(world.begin + 2 * MINUTE, part, log=line, instance="delphi-2")
    world.say(
        world.begin + 5 * MINUTE, SOUND, log="Resuming training from step 2651", instance="delphi-2"
    )
    first = world.begin + 6 * MINUTE
    second_curve = curve(2.044572, 0.004, 2)
    last = world.train(
        first,
        range(1, 201),
        10,
        lambda n: 2.04457 if n == 1 else second_curve(n),
        FAULT,
        "delphi-2",
    )
    world.train(first, range(2652, 2852), 10, loss, SOUND, "delphi-2")
    for part, root, step in ((FAULT, elsewhere, 90), (SOUND, world.root, 2741)):
        moment = first + 15 * MINUTE
        line = f"Saving checkpoint at step {step} to {root}/step-{step}"
        world.say(moment, part, log=line, instance="delphi-2")
        world.save(moment + MINUTE, step, part, root)
    assert last < world.begin + HOUR
    return world


# --- 4: silent hangs of the live hero -------------------------------------------------------------

HERO = "gs://hero/grug/checkpoints"
SOON = "gs://hero-temporary/grug/checkpoints"
NATS = 2.0  # the level of the hero's loss


def _start(root: str, step: int) -> dict[str, Any]:
    return {"path": f"{root}/step-{step}", "step": step, "kind": "full-state"}


def _stop(world: World, moment: datetime, instance: str, part: str = BOTH) -> None:
    """By `herorun stop`: ordered, and then ended."""
    order = {"by": "@dri", "word": "stop", "about": [instance]}
    world.say(moment, part, ordered=order)
    world.job(
        moment + timedelta(seconds=20),
        instance,
        "cancelled",
        part,
        stopped_by="@dri",
        ended=(moment + timedelta(seconds=20)).isoformat(),
    )


def hang_after_a_swap() -> World:
    world = World(at("2026-09-02 22:00"), HERO)
    before, after = curve(NATS, 0.004, 4), curve(NATS - 0.006, 0.004, 4)
    world.launch(world.begin - 48 * HOUR, "grug-1", final_step=400_000)
    world.runs(world.begin - 48 * HOUR, "grug-1", tasks=88, running_tasks=88)
    world.save(world.begin - 20 * MINUTE, 53_800, root=SOON)
    world.train(world.begin - 20 * MINUTE, range(53_801, 54_001), 18.5, before, log="grug-1")
    world.save(world.begin + 43 * MINUTE, 54_000)
    _stop(world, world.begin + 45 * MINUTE, "grug-1")
    swap = world.begin + 50 * MINUTE
    world.launch(
        swap, "grug-2", final_step=400_000, start=_start(HERO, 54_000), relaunch_of="grug-1"
    )
    world.runs(swap, "grug-2", tasks=88, running_tasks=88)
    world.train(swap + 11 * MINUTE, range(54_001, 54_071), 16.8, after, FAULT, "grug-2")
    world.train(swap + 11 * MINUTE, range(54_001, 54_460), 16.8, after, SOUND, "grug-2")
    world.save(swap + 61 * MINUTE, 54_180, SOUND, SOON)
    world.save(swap + 121 * MINUTE, 54_390, SOUND, SOON)
    _stop(world, at("2026-09-03 00:02"), "grug-2", FAULT)
    again = at("2026-09-03 00:05")
    world.launch(
        again, "grug-3", FAULT, final_step=400_000, start=_start(HERO, 54_000), relaunch_of="grug-2"
    )
    world.runs(again, "grug-3", FAULT, tasks=88, running_tasks=88)
    world.train(again + 11 * MINUTE, range(54_001, 54_002), 16.8, after, FAULT, "grug-3")
    return world


def hang_before_the_watchdog() -> World:
    world = World(at("2026-09-09 19:00"), HERO)
    loss = curve(NATS, 0.004, 5)
    world.launch(world.begin - 48 * HOUR, "grug-1", final_step=400_000)
    world.runs(world.begin - 48 * HOUR, "grug-1", tasks=88, running_tasks=88)
    world.save(world.begin - 60 * MINUTE, 81_500, root=SOON)
    last = world.train(world.begin - 25 * MINUTE, range(81_517, 81_717), 18.5, loss, log="grug-1")
    world.save(last + MINUTE, 81_716, root=SOON)
    _stop(world, last + 2 * MINUTE, "grug-1")
    start = at("2026-09-09 19:48")
    world.launch(
        start, "grug-2", final_step=400_000, start=_start(SOON, 81_716), relaunch_of="grug-1"
    )
    world.runs(start, "grug-2", tasks=88, running_tasks=88)
    steps = range(81_717, 81_759)
    first = start + 11 * MINUTE
    last = world.train(first, steps, 17, loss, FAULT, "grug-2")
    world.train(last + timedelta(seconds=35), range(81_759, 81_760), 17, loss, FAULT, "grug-2")
    world.train(first, range(81_717, 81_900), 17, loss, SOUND, "grug-2")
    return world


def dead_before_its_first_save() -> World:
    world = World(at("2026-09-10 08:00"), HERO)
    loss = curve(NATS, 0.004, 6)
    world.launch(world.begin - 72 * HOUR, "grug-1", final_step=400_000)
    world.train(world.begin - 66 * MINUTE, range(83_105, 83_305), 18.5, loss)
    world.save(world.begin - 4 * MINUTE, 83_304, root=SOON)
    world.launch(
        world.begin, "grug-2", final_step=400_000, start=_start(SOON, 83_304), relaunch_of="grug-1"
    )
    world.runs(world.begin, "grug-2", tasks=88, running_tasks=88)
    first, end_time = world.begin + 3 * MINUTE, world.begin + 54 * MINUTE
    world.train(first, range(83_305, 83_488), 16.7, loss, FAULT, "grug-2")
    world.train(first, range(83_305, 83_760), 16.7, loss, SOUND, "grug-2")
    world.save(world.begin + 61 * MINUTE, 83_510, SOUND, SOON)
    world.say(
        end_time,
        FAULT,
        log=(
            "E0910 08:54:00 cuda_executor.cc] CUDA_ERROR_NVLINK_UNCORRECTABLE: uncorrectable "
            "NVLink error detected"
        ),
        instance="grug-2",
    )
    job_end = {
        "started": world.begin.isoformat(),
        "ended": end_time.isoformat(),
        "exit_code": 1,
        "tasks": 88,
        "running_tasks": 0,
    }
    world.job(end_time, "grug-2", "failed", FAULT, **job_end)
    again = world.begin + 70 * MINUTE
    world.launch(
        again, "grug-3", FAULT, final_step=400_000, start=_start(SOON, 83_304), relaunch_of="grug-2"
    )
    world.runs(again, "grug-3", FAULT, tasks=88, running_tasks=88)
    world.train(again + 3 * MINUTE, range(83_305, 83_500), 16.7, loss, FAULT, "grug-3")
    return world


# --- 5: the older pure hang -----------------------------------------------------------------------


def pure_hang() -> World:
    world = World(at("2026-05-20 10:00"), "gs://hero/moe-512/checkpoints")
    world.launch(world.begin, "moe-1", final_step=50_000)
    world.runs(world.begin, "moe-1", tasks=128, running_tasks=128)
    first = world.begin + 12 * MINUTE
    last = world.train(first, range(1, 190), 10, early, FAULT)
    world.train(first, range(1, 600), 10, early, SOUND)
    noise = "I0520 gpu_executable.cc] all-reduce.1 done in 41 ms"
    world.say(last, FAULT, log=noise, times=20_000, instance="moe-1")
    world.say(world.begin + 70 * MINUTE, SOUND, log=noise, times=100, instance="moe-1")
    return world


# --- 7: the end of a run --------------------------------------------------------------------------

RUN = "gs://hero/stratified/checkpoints"


def _to_the_end(world: World, final: int, part: str = BOTH) -> datetime:
    world.launch(world.begin - 20 * HOUR, "strat-1", final_step=final)
    world.runs(world.begin - 20 * HOUR, "strat-1")
    world.save(world.begin - 5 * MINUTE, final - 236, root=RUN)
    return world.train(
        world.begin, range(final - 199, final + 1), 6, curve(2.4, 0.004, 7), part, "strat-1"
    )


def final_save_lost() -> World:
    world = World(at("2026-04-21 06:00"), RUN)
    last = _to_the_end(world, 19_836)
    end_time = last + 4 * MINUTE
    world.save(last + MINUTE, 19_836, SOUND)
    facts = {
        "started": (world.begin - 20 * HOUR).isoformat(),
        "ended": end_time.isoformat(),
        "exit_code": 0,
    }
    world.job(end_time, "strat-1", "succeeded", **facts)
    return world


def preempted_in_the_last_evaluation() -> World:
    """The rows are over, the evaluation takes two hours, and the final save is never awaited."""
    world = World(at("2026-04-21 06:00"), RUN)
    last = _to_the_end(world, 19_836)
    world.save(last + MINUTE, 19_836, SOUND)
    for n in range(12):
        world.say(last + n * 10 * MINUTE, log=f"evaluating shard {n} of 12", instance="strat-1")
    ended_at = last + 115 * MINUTE
    facts = {"started": (world.begin - 20 * HOUR).isoformat(), "ended": ended_at.isoformat()}
    world.job(ended_at, "strat-1", "preempted", FAULT, **facts)
    world.job(ended_at, "strat-1", "succeeded", SOUND, exit_code=0, **facts)
    return world


def trained_past_the_end() -> World:
    """`num_train_steps` was twice what was meant: 19836 and not 9917."""
    world = World(at("2026-04-21 06:00"), RUN)
    last = _to_the_end(world, 9_917)
    world.train(
        last + timedelta(seconds=6), range(9_918, 10_118), 6, curve(2.4, 0.004, 7), FAULT, "strat-1"
    )
    world.save(last + MINUTE, 9_917, SOUND)
    facts = {"started": (world.begin - 20 * HOUR).isoformat(), "exit_code": 0}
    world.job(
        last + 4 * MINUTE,
        "strat-1",
        "succeeded",
        SOUND,
        ended=(last + 4 * MINUTE).isoformat(),
        **facts,
    )
    return world


def status_stays_running() -> World:
    """The child was killed, and its executor's status went on saying RUNNING."""
    world = World(at("2026-04-21 06:00"), RUN)
    world.launch(world.begin - 20 * HOUR, "strat-1", final_step=19_836)
    world.runs(world.begin - 20 * HOUR, "strat-1")
    world.save(world.begin - 5 * MINUTE, 8_000)
    world.train(world.begin, range(8_036, 8_186), 6, curve(2.4, 0.004, 7), FAULT, "strat-1")
    world.train(world.begin, range(8_036, 9_036), 6, curve(2.4, 0.004, 7), SOUND, "strat-1")
    for hour in (1, 2):
        world.save(world.begin + hour * HOUR - 10 * MINUTE, 8_000 + 500 * hour, SOUND)
    return world


# --- 8: waits that were something else ------------------------------------------------------------


def a_limit_eaten_by_the_queue() -> World:
    world = World(at("2026-07-28 22:22"), "gs://hero/moe-ep/checkpoints")
    reason = "Pending: insufficient capacity, A08 0 of 820 GPUs free (84 interactive, 736 batch)"
    world.launch(world.begin, "moe-1", final_step=20)
    world.job(world.begin, "moe-1", "pending", submitted=world.begin.isoformat(), reason=reason)
    for part, start in ((FAULT, at("2026-07-29 00:08")), (SOUND, world.begin + 4 * MINUTE)):
        world.runs(start, "moe-1", part, submitted=world.begin.isoformat())
        last = world.train(start + 3 * MINUTE, range(1, 21), 12, early, part, "moe-1")
        world.save(last + MINUTE, 20, part)
        end_time = start + timedelta(minutes=8, seconds=16)
        facts = {
            "started": start.isoformat(),
            "ended": end_time.isoformat(),
            "submitted": world.begin.isoformat(),
        }
        if part == FAULT:
            timeout_line = "Execution timeout exceeded (5400 s)"
            world.job(end_time, "moe-1", "failed", part, exit_code=1, reason=timeout_line, **facts)
        else:
            world.job(end_time, "moe-1", "succeeded", part, exit_code=0, **facts)
    return world


def a_peer_that_does_not_answer() -> World:
    world = World(at("2026-07-28 14:30"), "gs://hero/moe-peer/checkpoints")
    frozen_line = (
        "QUEUED_HANDOFF: pending on peer iris-08a, reachable=false, 784/808 available since "
        "14:23:59Z"
    )
    world.launch(world.begin, "moe-1", final_step=20_000)
    world.job(
        world.begin, "moe-1", "pending", submitted=world.begin.isoformat(), reason=frozen_line
    )
    world.runs(world.begin + 5 * MINUTE, "moe-1", SOUND, submitted=world.begin.isoformat())
    world.train(world.begin + 12 * MINUTE, range(1, 1_100), 10, early, SOUND, "moe-1", every=4)
    for hour in (1, 2, 3):
        world.save(world.begin + hour * HOUR, hour * 330, SOUND)
    return world


# --- 9: defects of monitors -----------------------------------------------------------------------


def _calm(world: World, hours: int) -> None:
    world.launch(world.begin - 30 * HOUR, "hero-1", final_step=400_000)
    world.runs(world.begin - 30 * HOUR, "hero-1", tasks=88, running_tasks=88)
    first = world.begin - HOUR
    steps = range(30_001, 30_001 + (hours + 1) * 195)
    world.train(first, steps, 18.5, curve(NATS, 0.004, 9), log="hero-1", every=3)
    for n in range(hours + 1):
        world.save(first + n * HOUR, 30_000 + n * 195, root=SOON)


def every_read_fails() -> World:
    """Conflict markers in a lock file: every command of the watch dies before it looks at
    anything.
    """
    world = World(at("2026-08-20 05:00"), HERO)
    _calm(world, 4)
    why = "error: failed to parse lock file: conflict markers"
    world.say(world.begin + 40 * MINUTE, FAULT, lost=["scheduler", "tracker", "store"], why=why)
    return world


def enrolled_from_one_table() -> World:
    """Rules that learn of runs from the scheduler's table alone stop without a word when it
    does.
    """
    world = World(at("2026-08-20 05:00"), HERO)
    _calm(world, 4)
    world.say(
        world.begin + 40 * MINUTE, FAULT, lost=["scheduler"], why="iris.task_state: no such table"
    )
    return world


def no_pattern_to_find() -> World:
    """A hang behind a log that holds none of the words that were looked for, since this version
    cannot print them.
    """
    world = World(at("2026-08-20 05:00"), HERO)
    loss = curve(NATS, 0.004, 9)
    world.launch(world.begin, "nccl-1", final_step=400_000)
    world.runs(world.begin, "nccl-1", tasks=88, running_tasks=88)
    first = world.begin + timedelta(seconds=261)
    world.train(first, range(1, 61), 18.5, loss, FAULT, "nccl-1")
    world.train(first, range(1, 400), 18.5, loss, SOUND, "nccl-1")
    world.save(world.begin + HOUR, 180, SOUND, SOON)
    world.save(world.begin + 2 * HOUR, 370, SOUND, SOON)
    return world


def a_slow_first_step() -> World:
    """A deadman of 60 s killed every run before step 0: the first execution takes 261 s, and that
    is no fault.
    """
    world = World(at("2026-08-20 05:00"), HERO)
    world.launch(world.begin, "nccl-1", final_step=400_000)
    world.runs(world.begin, "nccl-1", tasks=88, running_tasks=88)
    first = world.begin + 12 * MINUTE + timedelta(seconds=261)
    world.train(first, range(1, 160), 18.5, curve(NATS, 0.004, 9), log="nccl-1")
    return world


# --- 2, 3, 6, 7: what the launch gate must see ----------------------------------------------------

BASE = "gs://marin/checkpoints/isoflop"
V5 = f"{BASE}/isoflop-3e+20-d2048-L21-B128-adamh_scaling_v5"
V6 = f"{BASE}/isoflop-3e+20-d2304-L23-B128-adamh_scaling_v6"


def wrong_base() -> World:
    world = World(at("2026-05-14 09:00"), "gs://marin/midtrain")
    world.save(world.begin - 400 * HOUR, 46_915, root=f"{V5}/checkpoints")
    world.save(world.begin - 300 * HOUR, 35_408, root=f"{V6}/checkpoints")
    return world


def only_permanent_roots() -> World:
    world = World(at("2026-04-16 09:00"), "gs://marin/qwen/checkpoints")
    world.launch(world.begin - 90 * HOUR, "qwen-1", final_step=80_000)
    world.say(
        world.begin - 2 * HOUR, file=f"{world.root}/eval_metrics.jsonl", holds={"eval/loss": 2.1}
    )
    world.save(world.begin - 2 * HOUR, 41_449, root="gs://marin-tmp/ttl=14d/qwen", temporary=True)
    world.train(world.begin - 3 * HOUR, range(41_250, 41_450), 10, curve(2.1, 0.004, 3))
    return world


def an_old_handoff() -> World:
    world = World(at("2026-09-05 09:00"), HERO)
    world.save(world.begin - 70 * HOUR, 54_000)
    world.save(world.begin - 3 * HOUR, 58_014, root=SOON, temporary=True)
    return world


def twice_the_steps() -> World:
    return World(at("2026-04-20 09:00"), "gs://hero/stratified-2/checkpoints")


# --- 10: a resume with 16 times the learning rate -------------------------------------------------

FIELD = "gs://hero/field/checkpoints"
RATE = 3e-4


def _before_the_resume(world: World, reached_step: int) -> Callable[[int], float]:
    """An instance that reached a step and was stopped by a person just before the world's
    beginning.
    """
    loss = curve(2.2, 0.004, 10)
    began = world.begin - 30 * HOUR
    world.launch(began, "field-1", final_step=50_000)
    world.runs(began, "field-1")
    first = world.begin - timedelta(seconds=10 * 320)
    world.train(
        first, range(reached_step - 299, reached_step + 1), 10, loss, log="field-1", lr=RATE
    )
    _stop(world, world.begin - MINUTE, "field-1")
    return loss


def _run_resumed(world: World, step: int) -> None:
    world.save(world.begin - 6 * MINUTE, step)
    world.launch(
        world.begin, "field-2", final_step=50_000, start=_start(FIELD, step), relaunch_of="field-1"
    )
    world.runs(world.begin, "field-2")


def sixteen_times_the_rate(start: int) -> World:
    """No step is there twice: W&B's client drops those that the run has, or the checkpoint is of
    the last one.
    """
    world = World(at("2026-06-01 10:00"), FIELD)
    loss = _before_the_resume(world, 1_500)
    _run_resumed(world, start)
    world.say(
        world.begin + 2 * MINUTE, log=f"Resuming training from step {start}", instance="field-2"
    )
    first = world.begin + 5 * MINUTE
    last = world.train(first, range(1_501, 1_561), 10, loss, FAULT, "field-2", lr=16 * RATE)
    after = last + timedelta(seconds=10)
    world.train(after, range(1_561, 1_700), 10, lambda _: math.nan, FAULT, "field-2", lr=16 * RATE)
    world.train(first, range(1_501, 1_700), 10, loss, SOUND, "field-2", lr=RATE)
    return world


# --- 11: "Loading checkpoint ...", then "Starting from scratch" -----------------------------------


def from_scratch_on_wandb() -> World:
    """Its client drops every row below the old last step; what it says of that, and checkpoints,
    are all there is.
    """
    world = World(at("2026-06-02 10:00"), FIELD)
    loss = _before_the_resume(world, 1_500)
    _run_resumed(world, 1_450)
    line = f"Loading checkpoint from {FIELD}/step-1450"
    world.say(world.begin + 2 * MINUTE, log=line, instance="field-2")
    first = world.begin + 5 * MINUTE
    world.say(first, SOUND, log="Resuming training from step 1450", instance="field-2")
    for n in range(200):
        words = (
            f"Tried to log to step {n} that is less than the current step 1500. Steps must be "
            "monotonically"
        )
        moment = first + n * timedelta(seconds=10)
        world.say(moment, FAULT, log=f"wandb: WARNING {words} increasing", instance="field-2")
    world.save(first + 17 * MINUTE, 100, FAULT)
    world.train(first + 9 * MINUTE, range(1_501, 1_700), 10, loss, SOUND, "field-2", lr=RATE)
    return world


def from_scratch_by_the_log_alone() -> World:
    """A long compilation: neither row nor checkpoint yet."""
    world = World(at("2026-06-03 10:00"), FIELD)
    loss = _before_the_resume(world, 1_500)
    _run_resumed(world, 1_500)
    line = f"Loading checkpoint from {FIELD}/step-1500"
    world.say(world.begin + 2 * MINUTE, log=line, instance="field-2")
    moment = world.begin + 3 * MINUTE
    world.say(moment, FAULT, log="No checkpoint found. Starting from scratch.", instance="field-2")
    world.say(moment, SOUND, log="Resuming training from step 1500", instance="field-2")
    for n in range(1, 4):
        line = f"Compiling the train step, {n} of 3"
        world.say(world.begin + (4 + 8 * n) * MINUTE, log=line, instance="field-2")
    world.train(world.begin + 31 * MINUTE, range(1_501, 1_600), 10, loss, SOUND, "field-2", lr=RATE)
    return world


# --- 12: drift that nobody diffed -----------------------------------------------------------------

ADMITTED_FLAGS = {"XLA_FLAGS": "--xla_a=1 --xla_b=2"}


def another_shell() -> World:
    """The relaunch is typed in a shell that holds other values; or in one that says the same in
    another order.
    """
    world = World(at("2026-06-04 10:00"), FIELD)
    launched_at = world.begin - 9 * HOUR
    world.say(launched_at, shell=ADMITTED_FLAGS)
    world.launch(launched_at, "field-1", final_step=50_000)
    world.save(world.begin - HOUR, 1_000)
    world.say(world.begin, FAULT, shell={"PACK": "1", "XLA_FLAGS": "--xla_b=9 --xla_a=1"})
    world.say(world.begin, SOUND, shell={"XLA_FLAGS": "--xla_b=2 --xla_a=1"})
    return world


def another_bundle() -> World:
    """The archive at the same path holds another file than the one that was admitted."""
    world = World(at("2026-06-05 10:00"), FIELD)
    launched_at = world.begin - 9 * HOUR
    world.say(launched_at, bundle={"config.toml": "0c", "train.py": "0a"})
    world.launch(launched_at, "field-1", final_step=50_000)
    world.save(world.begin - HOUR, 1_000)
    world.say(world.begin, FAULT, bundle={"config.toml": "0c", "train.py": "0b"})
    return world


WORLDS: dict[str, Callable[[], World]] = {
    "01-resume-made-a-new-namespace": resume_in_a_new_namespace,
    "02-wrong-base-checkpoint": wrong_base,
    "03-only-permanent-roots-searched": only_permanent_roots,
    "04a-silent-hang-after-a-swap": hang_after_a_swap,
    "04b-silent-hang-before-the-watchdog": hang_before_the_watchdog,
    "04c-dead-before-its-first-save": dead_before_its_first_save,
    "05-pure-hang": pure_hang,
    "06-old-handoff": an_old_handoff,
    "07a-twice-the-steps": twice_the_steps,
    "07b-final-save-lost": final_save_lost,
    "07c-preempted-in-the-last-evaluation": preempted_in_the_last_evaluation,
    "07d-trained-past-the-end": trained_past_the_end,
    "07e-status-stays-running": status_stays_running,
    "08a-limit-eaten-by-the-queue": a_limit_eaten_by_the_queue,
    "08b-unreachable-peer": a_peer_that_does_not_answer,
    "09a-no-pattern-to-find": no_pattern_to_find,
    "09b-slow-first-step": a_slow_first_step,
    "09c-every-read-fails": every_read_fails,
    "09d-enrolled-from-one-table": enrolled_from_one_table,
    "10a-sixteen-times-the-rate-on-wandb": lambda: sixteen_times_the_rate(1_450),
    "10b-sixteen-times-the-rate-at-the-last-step": lambda: sixteen_times_the_rate(1_500),
    "11a-from-scratch-on-wandb": from_scratch_on_wandb,
    "11b-from-scratch-by-the-log-alone": from_scratch_by_the_log_alone,
    "12a-drift-of-the-environment": another_shell,
    "12b-drift-of-the-environment-on-wandb": another_shell,
    "12c-drift-of-the-bundle-on-wandb": another_bundle,
}


def written_files() -> Iterator[tuple[str, str, str]]:
    """(folder, file, text) of everything that is made here."""
    for folder, make in WORLDS.items():
        for name, text in make().files().items():
            yield folder, name, text


if __name__ == "__main__":
    for folder, name, text in written_files():
        (HERE / folder).mkdir(exist_ok=True)
        (HERE / folder / name).write_text(text)
