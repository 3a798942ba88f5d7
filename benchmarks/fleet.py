"""A thousand runs, babysat by one process; compared with what people write instead, a shell loop
that asks for each of them.

All of them run on Slurm, for which a program stands that answers at once, and have logged 100 rows
at their first tick, which also announces them, and 10 more at their second, which is like each that
follows. Their journals tell of launches that were never made: a thousand take minutes.
"""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from datetime import timedelta
from pathlib import Path

from benchmarks.measures import memory
from benchmarks.scratch import repository
from benchmarks.timing import Row, cpu_seconds, in_turns, process, run
from herorun.adapters import connect
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.event import Initialised, Launched, Launching
from herorun.core.evidence import Checkpoints, History, StartSiblings, WorkTree
from herorun.core.journal import as_json
from herorun.core.plan.build import Sources, make_plan
from herorun.operations.babysit.fleet import watch_all
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.record.heartbeat import bell_file
from herorun.runs import Run, open_run
from herorun.runs.launch_trust import note_own
from herorun.schedulers._slurm.parse import Tag
from herorun.schedulers.slurm import Slurm
from herorun.system.clock import now
from herorun.system.git.commit_content import code_tree

RUNS, SHOWN_RUNS = 1000, 100
LOGGED_STEP, NEW = 100, 10  # rows
AGE = timedelta(minutes=20)  # within the time that a run has to check in
ROUNDS = 3
CONTRACT = """\
slug = "{slug}"
goal = "be measured"
dri = "@dri"
stop_when = "the loss rises"
final_step = 100000000

[command]
argv = ["python", "train.py"]

[output]
root = "{home}/data/{slug}"

[tracker]
kind = "jsonl"

[scheduler]
kind = "slurm"
slurm_bin = "{home}/programs"

[issue]
kind = "local"

[babysit]
recovery = "observe"
cadence = "15m"
"""
# It answers with the columns parted as it was asked to: herorun parts them anew for each question.
SQUEUE = """\
#!/bin/sh
case "$*" in *--format*) echo RUNNING; exit;; esac
form=${{*#*:}}
sed "s/PARTED/${{form%%,*}}/g" "{home}/queue"
"""
LOOP = """\
for run in "{home}"/data/*; do
  "{home}/programs/squeue" --noheader --name="${{run##*/}}-1" --format=%T
  tail -n 1 "$run/metrics.jsonl"
done
"""
RECEIPT = 'HERORUN_RECEIPT {{"instance": "{name}", "attempt": 1, "outcome": "pass", "items": []}}\n'
BESIDE = "a shell loop: `squeue` and `tail -n 1` for each"


def rows(home: Path) -> Iterator[Row]:
    yield measure_status(home / "few")
    yield from measure_ticks(home / "many")


def measure_status(home: Path) -> Row:
    """After a tick of each, so that there is what a tick stores."""
    work, slugs = a_fleet(home, SHOWN_RUNS)
    with redirect_stderr(io.StringIO()):  # to where the terminal is told that each has begun
        codes = watch_all(
            slugs,
            work,
            lambda run, turn: None,
            on_alarm=print,
            until=StopCondition(step=LOGGED_STEP - 1),
        )
    assert set(codes) == {0}, codes
    command = process(sys.executable, "-m", "herorun", "status", "--all", cwd=work)
    costs = in_turns({"status": command, "loop": looping(home)}, ROUNDS, cpu_seconds)
    return Row(
        f"`herorun status --all` of {SHOWN_RUNS} runs", costs["status"], BESIDE, costs["loop"]
    )


def measure_ticks(home: Path) -> Iterator[Row]:
    """From the start of the process to the first tick of the last of them; then a second round."""
    work, slugs = a_fleet(home, RUNS)
    began = cpu_seconds()
    oddities, ends = two_rounds(home, work, slugs)
    assert oddities == [""] * 2 * RUNS, (len(oddities), [odd for odd in oddities if odd][:3])
    loop = in_turns({"loop": looping(home)}, 1, cpu_seconds)["loop"]
    rounds = ("the first tick", ends[0] - began), ("another tick", ends[1] - ends[0])
    for name, seconds in rounds:
        what = (
            f"{name} of each of {RUNS:,} runs in one process: {RUNS / seconds:.0f} a second of "
            f"CPU, {memory('VmHWM') / 1e6:.0f} MB at most"
        )
        yield Row(what, seconds, BESIDE, loop)


def two_rounds(home: Path, work: Path, slugs: list[str]) -> tuple[list[str], list[float]]:
    """What was odd about each tick, and the CPU seconds of the process at the end of each round.

    As `herorun babysit --all` goes about it; no outcome is kept, as nothing keeps it elsewhere. A
    run's loop ends at its second tick, which sees what it logged since. Nobody rests between the
    rounds.
    """
    oddities: list[str] = []
    ends: list[float] = []
    bells: dict[str, Path] = {}  # by slug

    def log_after_round(run: Run, turn: TickOutcome) -> None:
        alerts = turn.tick and list(turn.tick.alerts.values())
        oddities.append("" if is_well(turn) else f"{turn.doubts} {alerts}")
        if turn.step == LOGGED_STEP:
            bells[run.slug] = bell_file(run)
        if len(oddities) % len(slugs) == 0:
            ends.append(cpu_seconds())
        if len(oddities) == len(slugs):
            for slug, bell in bells.items():
                log(home, slug, LOGGED_STEP, NEW)
                bell.touch()  # its next tick is due now, and the cadence is not missed

    with redirect_stderr(io.StringIO()):  # to where the terminal is told that each has begun
        codes = watch_all(
            slugs,
            work,
            log_after_round,
            on_alarm=print,
            until=StopCondition(step=LOGGED_STEP + NEW),
        )
    assert set(codes) == {0}, codes
    return oddities, ends


def is_well(turn: TickOutcome) -> bool:
    return turn.tick is not None and turn.tick.run == "healthy" and not turn.doubts


def looping(home: Path) -> Callable[[], None]:
    return process("sh", "-c", LOOP.format(home=home))


def a_fleet(home: Path, count: int) -> tuple[Path, list[str]]:
    """A repository and its runs, each under way for a while."""
    home.mkdir()
    work, slugs = repository(home, files=10), [f"run-{number}" for number in range(count)]
    for slug in slugs:
        text = CONTRACT.format(slug=slug, home=home)
        (work / "runs" / f"{slug}.toml").write_text(text, encoding="utf-8")
        (home / "data" / slug).mkdir(parents=True)
        log(home, slug, 0, LOGGED_STEP)
    run(["git", "add", "--all"], work)
    run(["git", "commit", "--quiet", "--message", "contracts"], work)
    run(["git", "push", "--quiet"], work)
    (home / "programs").mkdir()
    program = home / "programs" / "squeue"
    program.write_text(SQUEUE.format(home=home), encoding="utf-8")
    program.chmod(0o755)
    queue = [under_way(open_run(slug, work), number) for number, slug in enumerate(slugs, start=1)]
    (home / "queue").write_text("\n".join(queue) + "\n", encoding="utf-8")
    return work, slugs


def log(home: Path, slug: str, first: int, count: int) -> None:
    with (home / "data" / slug / "metrics.jsonl").open("a", encoding="utf-8") as file:
        for step in range(first, first + count):
            row = {
                "step": step,
                "train/loss": 2 + 1 / (step + 1),
                "grad_norm": 0.5,
                "throughput": 1e5,
            }
            file.write(json.dumps(row) + "\n")


def under_way(run: Run, number: int) -> str:
    """The journal of a run that was launched, and the line by which squeue tells of its job."""
    run.prepare()
    at, name, job = now() - AGE, f"{run.slug}-1", str(number)
    commit = run.repository.resolve("HEAD")
    assert commit
    tree = code_tree(run.repository, commit, run.file.path)
    sources = Sources(tree, {}, "the contract names no config", run.file.path)
    plan = make_plan(
        contract=run.contract,
        tree=WorkTree(commit=commit),
        sources=sources,
        checkpoints=Checkpoints(),
        siblings=StartSiblings(),
        history=History(),
    )
    (run.state / "slurm").mkdir()
    (run.state / "slurm" / f"{name}.log").write_text(RECEIPT.format(name=name), encoding="utf-8")
    root, owner = plan.output_root.value, run.launcher.owner
    launching = Launching(
        at=at,
        instance=name,
        number=1,
        plan=as_json(plan),
        plan_digest=plan.digest,
        why="by hand",
        contract_file=run.file.path,
        by=owner,
    )
    note_own(run.repository, run.slug, launching)
    run.record.append(
        Initialised(at, run.slug, {"DRI": "@dri"}, "issue.md"),
        launching,
        Launched(
            at=at,
            instance=name,
            number=1,
            job=job,
            plan_digest=plan.digest,
            output_root=root,
            commit=commit,
            entry={"DRI": "@dri"},
        ),
    )
    since = int(at.timestamp())
    scheduler = run.contract.scheduler
    slurm = connect(
        "schedulers", scheduler.kind, scheduler.options, run.place, {"restarts": scheduler.restarts}
    )
    assert isinstance(slurm, Slurm)
    comment = Tag(slurm._run, "0" * 12, since).comment
    text = (
        job,
        name,
        "dri",
        "RUNNING",
        0,
        0,
        since,
        since,
        since + 10**6,
        1,
        "n1",
        comment,
        "None",
    )
    return "PARTED".join(map(str, text)) + "PARTED"
