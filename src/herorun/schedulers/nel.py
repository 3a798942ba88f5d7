"""Evaluations by the NeMo evaluator launcher, `nel`, with its local executor or its Slurm executor.

An instance is the invocation whose output directory is ours, `<folder>/<instance>`, found in nel's
own list of jobs on this machine. nel runs no commands: `[command] argv` is its configuration file
and overrides. nel inherits the secrets, and passes them to the containers that its configuration
names.
"""

import os
import re
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta
from pathlib import Path
from shlex import join

from herorun.core.admission.environment import is_any
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.evidence import Job, Offered
from herorun.core.finding import count
from herorun.core.plan import Plan
from herorun.core.ports import Absent, Found, Place, Scheduler, Search, Submission, Unknown
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._environment import machine_environment
from herorun.schedulers._idempotent import end_once, known_job
from herorun.schedulers._nel.client import refusal
from herorun.schedulers._nel.hardware import requested_hardware
from herorun.schedulers._nel.jobs import Asked, NelJobs
from herorun.schedulers._nel.options import (
    OUTPUT,
    Options as Options,
    config_and_overrides,
    quote_value,
)
from herorun.schedulers._nel.parse import (
    NelTask,
    invocation_in,
    of_output,
)
from herorun.schedulers._nel.snapshot import NelSnapshot, of_runs
from herorun.schedulers._nel.state import JudgedTask, judge_nel
from herorun.schedulers._validate import must_be_instance, secret_values, too_early
from herorun.system.clock import now

# What nel itself needs, to reach its containers, its registry and its Slurm.
_LAUNCHERS = ("NEMO_EVALUATOR_*", "NEL_*", "DOCKER_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID")


def _of_launcher() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if is_any(name, _LAUNCHERS)}
    return {**machine_environment(), **own}


OWN_PROGRAMS = (("nemo-evaluator-launcher", "--version"),)


def connect(options: Options, place: Place) -> Scheduler:
    folder = options.folder or f"{place.output_root.rstrip('/')}/nel"
    if not folder.startswith("/"):
        raise WrongUse(
            f"nel cannot write to {place.output_root}: set [scheduler] folder to an absolute path."
        )
    return Nel(options, Path(place.state).absolute() / "nel", folder.rstrip("/"), place.repository)


class Nel(NelJobs):
    """The scheduler `nel`."""

    cluster_wide = False  # nel's list of jobs is on this machine
    # its containers and Slurm allot the devices
    sets = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")

    def __init__(self, options: Options, folder: Path, outputs: str, repository: str = "") -> None:
        super().__init__(options, folder)
        self._repository = repository
        self._options, self._folder, self._outputs = options, folder, outputs
        self._snapshot: NelSnapshot | None = None

    # --- looking ---------------------------------------------------------------------------------

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """Find instances with one `nel status` for all, and one query of Slurm for those that run
        there.
        """
        for instance in intents:
            must_be_instance(instance)
        asked_at = self._snapshot.at if self._snapshot else now()
        try:
            tasks = self._entries()
            jobs = {name: of_output(tasks, self._output(name)) for name in intents}
            parts = self._parts(
                [entry for of in jobs.values() for each in of.values() for entry in each]
            )
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(intents, Unknown(describe_error(error)))
        return {
            name: self._answer(name, at, jobs[name], parts, asked_at)
            for name, at in intents.items()
        }

    def _answer(
        self,
        instance: str,
        intended_at: datetime,
        tasks_by_invocation: Mapping[str, Sequence[NelTask]],
        parts: Mapping[str, JudgedTask],
        asked_at: datetime,
    ) -> Search:
        record = keeping.read_submission(self._folder, instance)
        jobs = [
            judge_nel(instance, name, [parts[e.id] for e in each], record)
            for name, each in tasks_by_invocation.items()
        ]
        live = [job for job in jobs if not job.state.is_final]
        if len(live) > 1:
            return Unknown(
                f"{count(len(live), 'invocation')} write to {self._output(instance)}: kill all "
                "but one with nel kill"
            )
        if jobs:
            return Found((live or jobs)[0])
        if early := too_early(instance, intended_at, asked_at, self._options.settle):
            return early
        if record.id:
            return Unknown(
                f"nel's list of jobs has lost {instance}, which was invocation {record.id}",
                forgotten=True,
            )
        return Absent()

    @property
    def cluster(self) -> Hashable:
        options = self._options.model_dump(
            exclude={"folder", "settle", "timeout", "submit_timeout"}
        )
        return ("nel", str(self._nel.db), *options.values())

    def snapshot(self, intents: Mapping[str, datetime]) -> NelSnapshot:
        """The list, which is a file, one `nel status`, and one query of Slurm for those that run
        there.
        """
        at, tasks = now(), self._entries()
        jobs = of_runs(tasks, intents)
        return NelSnapshot(
            at, tasks, frozenset(job.invocation for job in jobs), *self._task_states(jobs)
        )

    def with_snapshot(self, snapshot: NelSnapshot) -> "Nel":
        view = copy(self)
        view._snapshot = snapshot
        return view

    def offers(self, plan: Plan) -> Offered:
        """The hardware that the configuration's `execution` requests, with the overrides of the
        command line.
        """
        return requested_hardware(self._repository, plan)

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        self._nel.must_be_there()
        name_pattern = re.compile(rf"{re.escape(self._outputs)}/({re.escape(slug)}-[0-9]+)/?")
        matches = (name_pattern.fullmatch(entry.output) for entry in self._entries())
        names = sorted({each[1] for each in matches if each}, key=lambda name: (len(name), name))
        jobs = []
        for name, answer in self.find_all(dict.fromkeys(names, now())).items() if names else ():
            if isinstance(answer, Unknown):
                raise CouldNotLook(f"{name}: {answer.why}.")
            jobs += (
                [answer.job] if isinstance(answer, Found) and not answer.job.state.is_final else []
            )
        return tuple(jobs)

    def tail(self, instance: str, lines: int) -> str:
        """The newest log of each task; FileNotFoundError if there is none."""
        groups = list(of_output(self._entries(), self._output(must_be_instance(instance))).values())
        jobs = groups[0] if groups else []
        ends = [(job, self._end(job, lines)) for job in jobs]
        logs = [(job, end) for job, end in ends if end is not None]
        if not logs:
            raise FileNotFoundError(2, "nel has no log for it", instance)
        if len(logs) == 1:
            return logs[0][1]
        return "".join(f"==> {job.id}\n{end}" for job, end in logs)

    def log_place(self, instance: str) -> str:
        """The folder under which nel writes the instance's logs, one for each task."""
        return self._output(must_be_instance(instance))

    def _entries(self) -> tuple[NelTask, ...]:
        return self._snapshot.entries if self._snapshot else super()._entries()

    def _task_states(self, jobs: Sequence[NelTask]) -> Asked:
        view = self._snapshot
        return (
            (view.statuses, view.slurm)
            if view and view.covers(jobs)
            else super()._task_states(jobs)
        )

    # --- acting ----------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The request: nel's arguments and its folder."""
        by_name = (
            f"# with {', '.join(submission.secrets)} in its environment\n"
            if submission.secrets
            else ""
        )
        env = [f"{name}={value}" for name, value in self._env(submission, admission).items()]
        argv = [*self._options.program, *self._run_argv(submission)]
        return f"# in {os.path.join(code, submission.cwd)}\n{by_name}{join(['env', *env, *argv])}\n"

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Submit, with queries before and after."""
        instance = must_be_instance(submission.instance)
        argv = self._run_argv(submission)
        secret_values(submission)  # a missing one is reported before anything starts
        where = Path(code, submission.cwd)
        if not (where / argv[2]).is_file():
            raise WrongUse(
                f"{instance} was not submitted: there is no {where / argv[2]}. Correct [command] "
                "argv."
            )
        within = self._options.submit_timeout.total_seconds()
        with keeping.submission_lock(self._folder, instance, within):
            submitted_job = self._submitted_job(instance)
            if submitted_job:
                return submitted_job
            keeping.record_attempt(self._folder, instance)
            self._run(submission, argv, str(where), admission)
            job = self._submitted_job(instance)
            if job is None:
                raise CouldNotLook(
                    f"nel accepted {instance}, but does not list it. Repeat the command: it looks "
                    "for the job before it submits."
                )
            keeping.record_id(self._folder, instance, job.id)
            return job

    def _run_argv(self, submission: Submission) -> list[str]:
        config, overrides = config_and_overrides(submission.argv)
        mine = f"{OUTPUT}={quote_value(self._output(submission.instance))}"
        options = [word for each in (*overrides, mine) for word in ("-o", each)]
        return [
            "run",
            "--config",
            config,
            *options,
            "--config-output",
            str(self._folder / "configs"),
        ]

    def _env(self, submission: Submission, admission: str) -> dict[str, str]:
        return {
            **submission.env,
            "HERORUN_INSTANCE": submission.instance,
            "HERORUN_ADMISSION": admission,
            "HERORUN_ATTEMPT": "1",
        }

    def _run(self, submission: Submission, argv: list[str], where: str, admission: str) -> None:
        within = self._options.submit_timeout.total_seconds()
        try:
            environment = {
                **_of_launcher(),
                **self._env(submission, admission),
                **secret_values(submission),
            }
            answer = self._nel.ask(argv, within, where, environment)
        except CouldNotLook as error:
            self._must_be_taken(submission.instance, error)
            return
        if answer.code or invocation_in(answer.text) is None:
            self._must_be_taken(submission.instance, refusal(submission.instance, answer))

    def _must_be_taken(self, instance: str, error: HerorunError) -> None:
        """Raise if the job was not accepted: nel lists a job before it starts it."""
        if self._submitted_job(instance) is None:
            raise error

    def stop(self, instance: str, by: str) -> None:
        """Runs `nel kill`. For a local job it stops the container; what the container started
        elsewhere continues.
        """
        job = self._submitted_job(must_be_instance(instance))
        if job is None:
            raise WrongUse(f"There is no job {instance} in {self._nel.db}.")
        end_once(self._folder, job, by, "nel", lambda job: self._kill(job.id))

    def _submitted_job(self, instance: str) -> Job | None:
        return known_job(self.find, instance, now() - timedelta(days=30))

    def _output(self, instance: str) -> str:
        return f"{self._outputs}/{instance}"
