"""Jobs on a Ray cluster, by the Jobs REST API of its dashboard: Ray itself is never imported.

The submission id is the instance's name, so submitting twice gives one job. Every query is one HTTP
request with a time limit. Secrets are not sent: the cluster must have them. Ray stores and shows
how a job was submitted.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from herorun.core.canonical_json import canonical
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, Offered
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.ports import Place, Scheduler, Submission
from herorun.schedulers._cluster_secrets import must_be_vouched
from herorun.schedulers._idempotent import admitted_plan
from herorun.schedulers._ray.client import Dashboard
from herorun.schedulers._ray.cluster import hardware_of
from herorun.schedulers._ray.jobs import RayReader
from herorun.schedulers._ray.local_state import SubmissionFiles, SubmissionNote
from herorun.schedulers._ray.log import read_log
from herorun.schedulers._ray.options import Options as Options
from herorun.schedulers._ray.package import package
from herorun.schedulers._ray.parse import RayJob, RayStop
from herorun.schedulers._ray.request import PLAN, Needs, UploadPaths, request_of
from herorun.schedulers._ray.snapshot import RaySnapshot
from herorun.system.clock import now

EXAMPLE_URI = "gcs://_ray_pkg_<digest>.zip"  # as long as there is nothing to pack
_ID_TAKEN = lazy_regex(r"submission_id .* already exists")


def connect(options: Options, place: Place) -> Scheduler:
    notes = SubmissionFiles(Path(place.state).absolute() / "ray")
    return RayWithLogs(options, notes) if options.logs else Ray(options, notes)


class Ray(RayReader):
    """The scheduler `ray`."""

    cluster_wide = True
    reach = "cluster"
    leaves_files = False
    sets = (
        "RAY_*",
        "*_VISIBLE_DEVICES",
        "TPU_VISIBLE_CHIPS",
        "TPU_PROCESS_*",
        "TPU_CHIPS_*",
        "OMP_NUM_THREADS",
    )  # in each job, by itself
    secrets_source = "the environment of the Ray cluster"

    # --- starting ---------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The exact body of `POST /api/jobs/`, and its address; `<code>` replaces the code folder
        before it exists.
        """
        body, _ = self._prepare(submission, code, admission, packing=not code.startswith("<"))
        return f"POST {self._options.address}/api/jobs/\n{canonical(body)}"

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Start the instance. An earlier submission with the same name and request is returned
        unchanged.
        """
        name = self._name(submission.instance)
        snapshot = self._take_snapshot()
        if (record := snapshot.record(name)) is None:
            body, upload = self._prepare(submission, code, admission)
            self._notes.keep_sent(
                submission.instance, SubmissionNote(snapshot.session, self._options.address, now())
            )
            if upload:
                self._upload(snapshot.dashboard, *upload)
            record = self._post(snapshot, name, body)
        plan_digest = admitted_plan(admission)
        if record.instance != submission.instance or record.metadata.get(PLAN, "") != plan_digest:
            raise WrongUse(
                f"{self._options.address} already has a job {name}, of another plan or not made "
                "by herorun: set [scheduler] prefix, or choose another slug."
            )
        return snapshot.job(record, submission.instance, self._notes.stop(submission.instance))

    def _prepare(
        self, submission: Submission, code: str, admission: str, packing: bool = True
    ) -> tuple[dict[str, Any], tuple[str, bytes] | None]:
        options = self._options
        must_be_vouched(submission, self.secrets_vouched, "a Ray cluster")
        needs = Needs(options.num_cpus, options.num_gpus, options.memory, options.resources)
        name = self._name(submission.instance)
        upload = package(code, admission) if options.code == "upload" and packing else None
        uri = upload[0] if upload else EXAMPLE_URI if options.code == "upload" else None
        where = UploadPaths(uri, os.path.abspath(code) if packing else code, admission)
        return request_of(
            submission, name, where, needs, options.grace, admitted_plan(admission)
        ), upload

    def _upload(self, dashboard: Dashboard, uri: str, data: bytes) -> None:
        """Upload the package, unless it exists; the query also extends its lifetime there."""
        path = f"/api/packages/{uri.replace('://', '/')}"
        if dashboard.ask("GET", path, ok=(200, 404)).status == 404:
            dashboard.ask("PUT", path, data, timeout=self._options.upload_timeout.total_seconds())

    def _post(self, snapshot: RaySnapshot, name: str, body: Mapping[str, Any]) -> RayJob:
        answer = snapshot.dashboard.ask(
            "POST", "/api/jobs/", canonical(body).encode(), ok=(200, 400, 500)
        )
        if answer.status != 200 and not _ID_TAKEN.search(answer.text):
            if answer.status == 400:
                raise WrongUse(f"Ray refuses the job {name}: {answer.complaint}")
            raise CouldNotLook(f"Ray could not take the job {name}: {answer.complaint}")
        record = snapshot.record(name)
        if record is None:
            raise CouldNotLook(
                f"Ray accepted the job {name}, but does not list it: see its dashboard, then "
                "repeat the command, which looks for the job before it submits."
            )
        return record

    # --- logs and limits --------------------------------------------------------------------------

    def tail(self, instance: str, lines: int) -> str:
        """The command's output, with what Ray forwards of its tasks and actors; FileNotFoundError
        if there is none.
        """
        snapshot = self._take_snapshot()
        record = snapshot.record(self._name(instance))
        if record is None:
            raise FileNotFoundError(f"{self._options.address} knows no job {self._name(instance)}")
        return read_log(snapshot, record, lines)

    def stop(self, instance: str, by: str) -> None:
        """SIGTERM to all its processes, SIGKILL after the grace time. A job that is not placed yet
        ends once it is.
        """
        name, snapshot = self._name(instance), self._take_snapshot()
        record = snapshot.record(name)
        if record is None:
            raise WrongUse(f"There is no job {name} on {self._options.address}.")
        if record.instance != instance:
            raise WrongUse(
                f"The job {name} on {self._options.address} is not herorun's: it is left alone."
            )
        if snapshot.job(record, instance, None).state.is_final:
            return
        self._notes.keep_stop(instance, RayStop(by, now()))
        snapshot.dashboard.ask("POST", f"/api/jobs/{quote(name, safe='')}/stop")

    def offers(self, plan: Plan) -> Offered:
        """The cluster's hardware of the stated kinds. Ray has no time limit."""
        hardware, partial = hardware_of(
            self._take_snapshot().nodes, plan.hardware.value, self._options.resources
        )
        return Offered(hardware, partial=partial)

    def log_page(self, instance: str) -> str:
        """The dashboard's page of the job, which shows its log."""
        return f"{self._options.address}/#/jobs/{quote(self._name(instance), safe='')}"


class RayWithLogs(Ray):
    """A Ray scheduler whose log folder can be read from here."""

    def log(self, instance: str) -> str:
        """The path of the instance's log."""
        return str(Path(self._options.logs or "") / f"job-driver-{self._name(instance)}.log")
