"""Jobs on a remote machine that is reached by ssh: each under tmux, with a supervisor that outlives
the connection.

The supervisor is that of the scheduler `local`, sent along and run by the machine's Python, because
a shell cannot distinguish exit 137 from SIGKILL, an orphaned worker from an ended job, or a reused
process id from the job's own. All files of an instance are in `<folder>/<instance>/` on the
machine; creating that folder claims the instance. A lost connection or a machine that is off is
`CouldNotLook`: the job may continue.
"""

import base64
import errno
import json
import os
import time
from collections.abc import Hashable, Mapping
from copy import copy
from datetime import datetime
from typing import Any

from herorun.core.doctor_report import DoctorPart
from herorun.core.durations import format_duration
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.evidence import Job, JobState, RequestReview
from herorun.core.plan import Plan
from herorun.core.ports import Absent, Found, LogPart, Place, Scheduler, Search, Submission, Unknown
from herorun.core.remote.target import RemoteTarget, SshLogin
from herorun.schedulers._logs import read_remote_part
from herorun.schedulers._ssh import folder, request as build
from herorun.schedulers._ssh.options import Options as Options
from herorun.schedulers._ssh.parse import answer_of, parse_job, stored_request
from herorun.schedulers._ssh.snapshot import SshSnapshot
from herorun.schedulers._validate import is_instance_of, must_be_instance, secret_values, too_early
from herorun.system.clock import now
from herorun.system.remote_python import readable, remote_to
from herorun.system.transport import ssh_argv

OWN_PROGRAMS = (("ssh", "-V"),)


def connect(options: Options, place: Place) -> Scheduler:
    return SshScheduler(options)


def reach(options: Options) -> RemoteTarget:
    """The remote target: checkpoints, receipts and metrics on the machine are read by the same
    transport.
    """
    login = SshLogin(**options.model_dump(include=set(SshLogin.model_fields)))
    within = options.connect_timeout.total_seconds(), options.timeout.total_seconds()
    return RemoteTarget(login, options.python, *within)


class SshScheduler:
    """The scheduler `ssh`."""

    cluster_wide = True  # the remote machine gives everyone the same answers
    reach = "ssh"
    on_the_machine = True
    whole_environment = True  # nothing but herorun sets a variable of the job

    def __init__(self, options: Options) -> None:
        self._options = options
        self._folder = options.folder
        self._login = reach(options).login
        self._remote = remote_to(reach(options))
        self._where = self._remote.transport.where
        self._within = options.timeout.total_seconds()
        self._snapshot: SshSnapshot | None = None
        # orders without an answer, which may still arrive until they expire
        self._sent_at: dict[str, datetime] = {}

    # --- submitting -------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        order = self._order(submission, code, admission)
        return build.format_request(
            ssh_argv(self._login), order, os.path.abspath(code) if self._ships else ""
        )

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Start the instance. A command that cannot be run gives a failed job with the reason."""
        name = _instance(submission.instance)
        secrets = secret_values(submission)
        order = self._order(submission, code, admission)
        admission_text = (
            build.remote_admission(admission, order["request"]["code"]) if self._ships else ""
        )
        private = json.dumps({"secrets": secrets, "admission": admission_text}).encode("ascii")
        answer = self._probe_instances([name])
        if not self._job(name, answer):
            began, archive = time.monotonic(), build.pack_code(code) if self._ships else b""
            # By the machine's own clock: a delayed order must not start a job that was given up
            # since.
            expires = (
                answer["now"] + time.monotonic() - began + self._options.settle.total_seconds()
            )
            answer = self._send({**order, "expires": expires}, private, archive)
        job = self._job(name, answer)
        if job is None or job.state is JobState.PENDING:
            raise CouldNotLook(
                f"{name} has not started on {self._where} within "
                f"{format_duration(self._options.start_timeout)}, but still may. Read "
                f"{self._folder}/{name} there, then repeat the command: the job cannot start "
                "twice."
            )
        self._must_be_ours(submission, answer["jobs"][name])
        return job

    @property
    def _ships(self) -> bool:
        return self._options.code == "upload"

    def _order(self, submission: Submission, code: str, admission: str) -> dict[str, Any]:
        request = build.request_of(submission, code, admission, self._folder, self._ships)
        grace, within = (
            self._options.grace.total_seconds(),
            self._options.start_timeout.total_seconds(),
        )
        return build.order_of(request, self._folder, self._options.tmux, grace, within)

    def _send(self, order: dict[str, Any], private: bytes, archive: bytes) -> Any:
        full_order = {
            **order,
            "private": len(private),
            "code": build.digest_of(archive) if archive else None,
        }
        within = self._options.start_timeout.total_seconds() + self._within
        within += self._options.send_timeout.total_seconds() if archive else 0
        name = order["request"]["instance"]
        try:
            self._sent_at[name] = now()
            answer = self._remote.ask_with_input(
                build.ACTING, "submit", within, private + archive, order=full_order
            )
            with readable(self._where):
                result = answer_of(answer, [name])
            del self._sent_at[name]
            return result
        except OSError as error:
            del self._sent_at[name]  # it was refused, so it cannot arrive later
            raise HerorunError(
                f"Nothing was started on {self._where}: {describe_error(error)}."
            ) from None

    def _must_be_ours(self, submission: Submission, facts: Mapping[str, Any]) -> None:
        """Raise if the job is of another repository that uses the same run name."""
        request = stored_request(submission.instance, facts, self._where)
        if request and (request.argv, request.env, request.cwd) != (
            submission.argv,
            dict(submission.env),
            submission.cwd,
        ):
            raise WrongUse(
                f"{submission.instance} in {self._folder} on {self._where} was started with "
                "another command: give this run a `folder` of its own in [scheduler]."
            )

    def review(self, plan: Plan, slug: str) -> RequestReview:
        """The folder decides it; the plan is not asked."""
        return folder.review_of(self._where, self._folder, self._folder_problem())

    def examine(self) -> tuple[DoctorPart, ...]:
        return (folder.part_of(self._where, self._folder, self._folder_problem()),)

    def _folder_problem(self) -> str:
        return str(
            self._remote.ask(
                build.PROBE_PROGRAM, "folder_problem", self._within, folder=self._folder
            )
        )

    # --- looking ----------------------------------------------------------------------------------

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({_instance(instance): intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """All by one connection."""
        names, snapshot = [_instance(name) for name in intents], self._snapshot
        if snapshot and snapshot.jobs >= set(names):
            return {
                name: self._search(name, snapshot.answer, at, snapshot.at)
                for name, at in intents.items()
            }
        asked_at = now()
        try:
            answer = self._probe_instances(names)
        except (OSError, CouldNotLook) as error:
            return dict.fromkeys(intents, Unknown(describe_error(error)))
        return {name: self._search(name, answer, at, asked_at) for name, at in intents.items()}

    def _search(
        self, name: str, answer: Mapping[str, Any], intended_at: datetime, asked_at: datetime
    ) -> Search:
        try:
            job = self._job(name, answer)
        except CouldNotLook as error:
            return Unknown(str(error))
        if job and answer["jobs"][name]["there"]:
            return Found(job)
        if job:
            return Unknown(f"{name} is being submitted right now")
        at = max(intended_at, self._sent_at.get(name, intended_at))
        return too_early(name, at, asked_at, self._options.settle) or Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """Live jobs by their full name; `CouldNotLook` or OSError if one cannot be read."""
        snapshot = self._snapshot
        answer = (
            snapshot.answer if snapshot and slug in snapshot.slugs else self._probe_all([slug], [])
        )
        jobs = (self._job(name, answer) for name in answer["jobs"] if is_instance_of(name, slug))
        return tuple(job for job in jobs if job and job.state.live)

    @property
    def cluster(self) -> Hashable:
        options = self._options
        return ("ssh", *self._login.model_dump().values(), options.python, options.folder)

    def snapshot(self, intents: Mapping[str, datetime]) -> SshSnapshot:
        """All by one connection."""
        slugs = frozenset(_instance(name).rpartition("-")[0] for name in intents)
        at = now()
        return SshSnapshot(at, self._probe_all(sorted(slugs), sorted(intents)), slugs)

    def with_snapshot(self, snapshot: SshSnapshot) -> "SshScheduler":
        view = copy(self)
        view._snapshot = snapshot
        return view

    def _probe_all(self, slugs: list[str], instances: list[str]) -> Any:
        arguments = {"folder": self._folder, "slugs": slugs, "instances": instances}
        answer = self._remote.ask(build.PROBE_PROGRAM, "probe_all", self._within, **arguments)
        with readable(self._where):
            return answer_of(answer, instances)

    def tail(self, instance: str, lines: int) -> str:
        """The end of the log, at most 1 MiB; FileNotFoundError if there is no such instance."""
        arguments = {"folder": self._folder, "name": _instance(instance), "lines": lines}
        answer = self._remote.ask(build.PROBE_PROGRAM, "tail", self._within, **arguments)
        with readable(self._where):
            return base64.b64decode(answer).decode("utf-8", "replace")

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        path = self.log_place(instance)
        return read_remote_part(self._remote, path, offset, limit, mark, self._within)

    def log_place(self, instance: str) -> str:
        """The path of the instance's log on the machine."""
        return f"{self._folder}/{_instance(instance)}/job.log"

    def _probe_instances(self, names: list[str]) -> Any:
        answer = self._remote.ask(
            build.PROBE_PROGRAM, "probe_instances", self._within, folder=self._folder, names=names
        )
        with readable(self._where):
            return answer_of(answer, names)

    def _job(self, name: str, answer: Mapping[str, Any]) -> Job | None:
        with readable(self._where):
            return parse_job(name, answer["jobs"][name], answer["boot"], self._where)

    # --- stopping ---------------------------------------------------------------------------------

    def stop(self, instance: str, by: str) -> None:
        """The supervisor sends SIGTERM to the process group within a second, and SIGKILL after the
        grace time.
        """
        name, grace = _instance(instance), self._options.grace.total_seconds()
        within = self._within + grace
        arguments = {"folder": self._folder, "name": name, "by": by, "grace": grace}
        try:
            reply = self._remote.ask(build.ACTING, "stop", within, **arguments)
            with readable(self._where):
                answer = answer_of(reply, [name])
        except OSError as error:
            full = (
                " The disk is full: make room there, then stop it again."
                if error.errno == errno.ENOSPC
                else ""
            )
            raise CouldNotLook(
                f"{name} was not stopped on {self._where}: {describe_error(error)}.{full}"
            ) from None
        facts = answer["jobs"][name]
        if facts["there"]:
            return
        if facts["submitting"] or facts["locked"]:
            raise CouldNotLook(
                f"{name} is being submitted right now: stop it again in a few seconds."
            )
        raise WrongUse(f"There is no job {name} in {self._folder} on {self._where}.")


def _instance(name: str) -> str:
    must_be_instance(name)
    return name
