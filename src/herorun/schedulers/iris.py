"""Iris, by its own command line, in any of its three generations.

An instance is the job `/<user>/<instance>`, found by its whole name and the time of its submission.
Iris replaces an ended job by a new one of its name, so nothing is submitted under a name that Iris
or this machine knows. Secrets are not sent: the cluster must have them.
"""

import re
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, Offered
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.ports import Place, Scheduler, Submission
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._cluster_secrets import must_be_vouched
from herorun.schedulers._error_line import message_of
from herorun.schedulers._idempotent import end_once, known_job, taken_after
from herorun.schedulers._iris.argv import stop_argv
from herorun.schedulers._iris.client import USAGE
from herorun.schedulers._iris.jobs import IrisReader
from herorun.schedulers._iris.options import Options as Options, requested_hardware
from herorun.schedulers._iris.parse import submitted_id
from herorun.schedulers._iris.state import root_of
from herorun.schedulers._iris.submit import (
    copy_bundle,
    must_be_sound,
    run_argv,
    show_request,
    unknown_flags,
)
from herorun.schedulers._validate import must_be_instance
from herorun.system.clock import now

_NAME_TAKEN = lazy_regex(r"already exists", re.IGNORECASE)
_DENIAL = lazy_regex(r"permission.?denied|not authorized|forbidden|owned by", re.IGNORECASE)

OWN_PROGRAMS = (("iris", "--version"),)


def connect(options: Options, place: Place) -> Scheduler:
    return Iris(options, Path(place.state).absolute() / "iris")


class Iris(IrisReader):
    """The scheduler `iris`."""

    cluster_wide = True
    reach = "cluster"
    leaves_files = False
    sets = ("IRIS_*", "*_VISIBLE_DEVICES", "TPU_*", "JAX_PLATFORMS")  # in each job, by itself
    secrets_source = "the environment of the Iris cluster's jobs"

    # --- logs and limits --------------------------------------------------------------------------

    def offers(self, plan: Plan) -> Offered:
        """The hardware that the job itself requests; its children may request their own."""
        return requested_hardware(self._options)

    def tail(self, instance: str, lines: int) -> str:
        """The log of the job and its children; FileNotFoundError if there is no such job."""
        job = self._id(must_be_instance(instance))
        text = self._iris.log(job, lines)
        if text is None or (
            not text.strip() and root_of(self._list(instance, is_full_name=True).rows, job) is None
        ):
            raise FileNotFoundError(2, "Iris has no such job", job)
        return text

    def log_page(self, instance: str) -> str:
        """The dashboard's page of the job, which shows its log; "" if only iris knows the
        controller's address.
        """
        address = (self._options.controller_url or "").rstrip("/")
        job = quote(self._id(must_be_instance(instance)), safe="")
        return f"{address}/job/{job}" if address else ""

    # --- acting ----------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The request: iris' arguments."""
        argv = run_argv(submission, self._options, code, admission)
        return show_request(
            self._iris.program, argv, submission.secrets, self._options.code == "bundle"
        )

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Submit, with queries before and after. While another instance of the run may be live,
        nothing is submitted.
        """
        instance = must_be_instance(submission.instance)
        must_be_sound(submission)
        must_be_vouched(submission, self.secrets_vouched, "an Iris cluster")
        within = self._options.submit_timeout.total_seconds()
        with keeping.submission_lock(self._folder, instance, within):
            submitted_job = self._submitted_job(instance)
            if submitted_job:
                return submitted_job
            self._must_be_alone(instance)
            argv = run_argv(submission, self._options, code, admission)
            self._must_know(argv)
            keeping.record_attempt(self._folder, instance)
            self._run(instance, argv, code, admission)
            keeping.record_id(self._folder, instance, self._id(instance))
            return self._current_job(instance)

    def stop(self, instance: str, by: str) -> None:
        """The job and its children."""
        job = self._to_stop(must_be_instance(instance))
        if job is None:
            raise WrongUse(f"Iris has no job {self._id(instance)}.")
        end_once(self._folder, job, by, "Iris", self._end)

    def _end(self, job: Job) -> None:
        answer = self._iris.ask(stop_argv(self._iris.generation, job.id))
        if answer.code and _DENIAL.search(message_of(answer)):
            raise WrongUse(f"{job.id} is another user's: only they may end it.")
        if answer.code:
            raise self._iris.trouble("job stop", answer)

    def _submitted_job(self, instance: str) -> Job | None:
        """The job of the name, within the time that Iris certainly remembers."""
        return known_job(self.find, instance, self._memory_start())

    def _to_stop(self, instance: str) -> Job | None:
        """The same for a stop: a listed job counts at any age, because a hero run is days old."""
        root = root_of(self._list(instance, is_full_name=True).rows, self._id(instance))
        submitted_at = root.submitted if root else None
        return known_job(self.find, instance, min(submitted_at or now(), self._memory_start()))

    def _memory_start(self) -> datetime:
        """The time since which Iris certainly remembers submissions."""
        return now() - self._options.job_retention + timedelta(minutes=5)

    def _must_be_alone(self, instance: str) -> None:
        """Raise if another instance may be live: a job that waits for hardware or another cluster
        will start later.
        """
        others = [
            job for job in self.live_jobs(instance.rpartition("-")[0]) if job.instance != instance
        ]
        if others:
            raise WrongUse(
                f"{instance} was not submitted: {others[0].id} is {others[0].state}. Stop it "
                "first, or wait for its end."
            )

    def _must_know(self, argv: list[str]) -> None:
        answer = self._iris.ask(["job", "run", "--help"])
        unknown = unknown_flags(argv, answer.text) if answer.code == 0 else []
        if answer.code:
            raise self._iris.trouble("job run --help", answer)
        if unknown:
            raise WrongUse(
                f"This iris has no {unknown[0]}: it would read it as part of the command. "
                "Correct [scheduler]."
            )

    def _run(self, instance: str, argv: list[str], code: str, admission: str) -> None:
        within = self._options.submit_timeout.total_seconds()
        try:
            if self._options.code == "shared":
                answer = self._iris.ask(argv, within, code)
            else:
                with copy_bundle(self._folder, code, admission) as folder:
                    answer = self._iris.ask(argv, within, str(folder))
        except CouldNotLook as error:
            taken_after(lambda: self._submitted_job(instance), error)
            return
        message = message_of(answer)
        if answer.code == USAGE:
            raise WrongUse(f"Iris refuses {instance}: {message}")
        if answer.code or _NAME_TAKEN.search(message):
            uncertain = CouldNotLook(f"{instance} was perhaps not submitted: {message}")
            taken_after(lambda: self._submitted_job(instance), uncertain)
            return
        took = submitted_id(answer.text, answer.err.decode("utf-8", "replace"))
        if took and took != self._id(instance):
            ending_argv = (*self._iris.program, *stop_argv(self._iris.generation, took))
            raise CouldNotLook(
                f"Iris accepted {instance} as {took}, not as {self._id(instance)}: end it with "
                f"`{shlex.join(ending_argv)}`."
            )

    def _current_job(self, instance: str) -> Job:
        job = self._submitted_job(instance)
        if job is None:
            raise CouldNotLook(
                f"Iris accepted {instance}, but no longer lists it. Repeat the command: it looks "
                "for the job before it submits."
            )
        return job
