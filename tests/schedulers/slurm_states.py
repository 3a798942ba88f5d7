"""Every state that one machine can bring about, each by a real job, all side by side on the real
Slurm.

`walk` gives what the adapter said of each job, by a word for its situation. It takes about 20
seconds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from herorun.core.evidence import Job
from herorun.core.ports import Found, Place, Submission
from herorun.schedulers import slurm
from herorun.system.clock import now
from services.slurm import Cluster

HUNGRY = "x = bytearray(600 * 2**20); import time; time.sleep(30)"
PATIENCE = 120.0


@dataclass
class Walk:
    cluster: Cluster
    state: Path
    code: Path
    numbers: dict[str, int] = field(default_factory=dict)
    jobs_seen: dict[str, Job] = field(default_factory=dict)

    def adapter(self, **options: object) -> slurm.Slurm:
        adapter_options = slurm.Options(**{"slurm_conf": self.cluster.conf, **options})
        return slurm.connect(
            adapter_options, Place("tiny", str(self.state), f"{self.state}/out", "/repository")
        )

    def submit(self, what: str, script: str, **options: object) -> Job:
        self.numbers[what] = len(self.numbers) + 1
        argv = ("sh", "-c", script)
        submission = Submission(self.name(what), argv, ".", {}, ())
        return self.adapter(**options).submit(submission, str(self.code), "/admission.json")

    def name(self, what: str) -> str:
        return f"tiny-{self.numbers[what]}"

    def now(self, *whats: str) -> dict[str, Job]:
        """By one question for all of them."""
        long_ago = now() - timedelta(hours=1)
        answers = self.adapter().find_all({self.name(what): long_ago for what in whats})
        jobs_by_name = {what: answers[self.name(what)] for what in whats}
        return {
            what: answer.job for what, answer in jobs_by_name.items() if isinstance(answer, Found)
        }

    def see(self, true: Callable[[Job], object], *whats: str) -> None:
        """Look until it is true of each, and keep what was said of it then."""
        until, missing_states = time.monotonic() + PATIENCE, list(whats)
        while missing_states:
            jobs = self.now(*missing_states)
            self.jobs_seen |= {what: job for what, job in jobs.items() if true(job)}
            missing_states = [
                what for what in missing_states if what not in jobs or not true(jobs[what])
            ]
            assert time.monotonic() < until, jobs
            time.sleep(0.2)

    def ask(self, *argv: str) -> None:
        self.cluster.ask(*argv)


def walk(cluster: Cluster, folder: Path) -> dict[str, Job]:
    (folder / "code").mkdir(parents=True)
    stage = Walk(cluster, folder / "state", folder / "code")
    try:
        _short(stage)
        _waiting(stage)
        _crowd_out(stage)
        _on_a_breaking_node(stage)
        _by_hand(stage)
        _over(stage)
    finally:
        for job in (*stage.adapter().live_jobs("tiny"), *stage.adapter().other_jobs("tiny")):
            cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)
            cluster.ask("scancel", job.id, check=False)
    return stage.jobs_seen


def _short(stage: Walk) -> None:
    """Those that only have to be waited for."""
    for what, script in {
        "exit 0": "exit 0",
        "exit 3": "exit 3",
        "exit 137": "exit 137",
        "exit 255": "exit 255",
        "killed": "kill -9 $$",
    }.items():
        stage.submit(what, script)
    stage.submit("out of memory", f"python3 -c '{HUNGRY}'; exit 1", arguments=("--mem=120M",))
    stage.submit("time limit", "sleep 300", time_limit="1m")
    stage.submit("stopped by us", "sleep 300")
    stage.submit("stopped by another", "sleep 300")
    stage.submit("no program", "exec no-such-program")


def _waiting(stage: Walk) -> None:
    first = stage.submit("dependency's", "sleep 300")
    stage.submit("dependency", "true", arguments=(f"--dependency=afterok:{first.id}",))
    stage.submit("begin time", "true", arguments=("--begin=now+1hour",))
    stage.submit("held", "true", arguments=("--hold",))
    stage.submit("partition's limit", "true", partition="short", time_limit="10m")
    stage.submit("partition down", "true", partition="closed")
    stage.submit("of a user's one", "sleep 300", qos="one")
    stage.submit("user's limit", "true", qos="one")


def _crowd_out(stage: Walk) -> None:
    """A job of the lower quality gives way, and does not come back; who waits behind the other one,
    waits.
    """
    exclusive = {"partition": "crowded", "arguments": ("--exclusive",)}
    stage.submit("preempted", "sleep 300", qos="low", **exclusive)
    stage.see(_runs, "preempted")
    stage.submit("preempting", "sleep 300", qos="high", **exclusive)
    stage.submit("resources", "sleep 300", qos="high", **exclusive)
    stage.submit("priority", "sleep 300", qos="low", **exclusive)
    with_deadline = {"partition": "crowded", "arguments": ("--exclusive", "--deadline=now+65")}
    stage.submit("deadline", "true", qos="low", time_limit="1m", **with_deadline)


def _on_a_breaking_node(stage: Walk) -> None:
    node = stage.cluster.node("breaking")
    exclusive = {"partition": "breaking", "arguments": ("--exclusive",)}
    stage.submit(
        "preempted, to start again", "sleep 300", qos="low", restarts="backend", **exclusive
    )
    stage.see(_runs, "preempted, to start again")
    high = stage.submit("high", "sleep 300", qos="high", **exclusive)
    stage.see(_waits, "preempted, to start again")
    stage.see(_runs, "high")
    stage.ask("scancel", high.id)
    stage.ask("scancel", stage.jobs_seen["preempted, to start again"].id)
    stage.submit("on a lost node", "sleep 300", partition="breaking")
    stage.submit(
        "on a lost node, to start again", "sleep 300", partition="breaking", restarts="backend"
    )
    stage.see(_runs, "on a lost node", "on a lost node, to start again")
    stage.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    stage.see(_waits, "on a lost node, to start again")
    stage.ask("scancel", stage.jobs_seen["on a lost node, to start again"].id)
    # Its slurmd answers still, so the node comes back by itself: ReturnToService=2.
    stage.submit(
        "on a node that does not boot", "true", partition="breaking", arguments=("--reboot",)
    )
    stage.see(_is_made_ready, "on a node that does not boot")
    stage.jobs_seen["while the node boots"] = stage.jobs_seen["on a node that does not boot"]


def _by_hand(stage: Walk) -> None:
    """What herorun submits itself is one job of one part: these are what it meets of other
    people's.
    """
    script = stage.code / "others.sh"
    script.write_text("#!/bin/sh\nsleep 300\n")
    common = ("sbatch", f"--chdir={stage.code}", "--output=/dev/null")
    stage.ask(*common, "--job-name=tiny-array", "--array=1-3", str(script))
    stage.ask(*common, "--job-name=tiny-mixed", "--ntasks=1", ":", "--ntasks=1", str(script))
    parts = {"tiny-array": 3, "tiny-mixed": 2}
    until, jobs = time.monotonic() + PATIENCE, {}
    while {name: job.running_tasks for name, job in jobs.items()} != parts:
        assert time.monotonic() < until, jobs
        time.sleep(0.2)
        jobs = {job.instance: job for job in stage.adapter().other_jobs("tiny")}
    stage.jobs_seen |= jobs


def _over(stage: Walk) -> None:
    stage.see(_runs, "time limit", "stopped by us", "stopped by another", "of a user's one")
    stage.ask("scontrol", "update", f"JobId={stage.jobs_seen['time limit'].id}", "EndTime=now+1")
    stage.adapter().stop(stage.name("stopped by us"), "ada@box")
    stage.ask("scancel", stage.jobs_seen["stopped by another"].id)
    stage.jobs_seen["running"] = stage.jobs_seen["of a user's one"]
    for what in (
        "dependency",
        "begin time",
        "held",
        "partition's limit",
        "partition down",
        "user's limit",
    ):
        stage.see(_has_reason, what)
    stage.see(_has_reason, "resources", "priority")
    end_states = (
        "exit 0",
        "exit 3",
        "exit 137",
        "exit 255",
        "killed",
        "out of memory",
        "time limit",
        "no program",
    )
    stage.see(
        _is_final, *end_states, "stopped by us", "stopped by another", "preempted", "on a lost node"
    )
    stage.see(_is_final, "deadline", "on a node that does not boot")


def _runs(job: Job) -> bool:
    return job.raw == "RUNNING"


def _waits(job: Job) -> bool:
    return job.raw == "PENDING"


def _is_made_ready(job: Job) -> bool:
    return job.raw == "CONFIGURING"


def _has_reason(job: Job) -> bool:
    return job.raw == "PENDING" and bool(job.reason)


def _is_final(job: Job) -> bool:
    return job.state.is_final
