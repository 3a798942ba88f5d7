"""A Job or a JobSet of Kubernetes, by kubectl with the context, namespace and kubeconfig that the
contract names.

Its name is the instance's, which the server accepts once. Its conditions and its pods together show
its state (`_kubernetes.state`). Nothing is deleted: an ended Job stays, and a stop sets a passed
deadline, or suspends a JobSet, so that its record shows who ordered it.
"""

import re
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.doctor_report import DoctorPart
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.evidence import Job, JobState, Offered, RequestReview
from herorun.core.plan import Plan
from herorun.core.ports import (
    Absent,
    Found,
    LogPart,
    Place,
    Scheduler,
    Search,
    Submission,
    Unknown,
    submission_of,
)
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._idempotent import end_once, known_job
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.doctor import examine_cluster
from herorun.schedulers._kubernetes.events import (
    names_in_set,
    own_names,
    read_warnings,
    warning_lines,
)
from herorun.schedulers._kubernetes.instance_logs import InstanceLogs
from herorun.schedulers._kubernetes.jobset import JOB, JOBSET
from herorun.schedulers._kubernetes.kinds import kind_and_name
from herorun.schedulers._kubernetes.kueue import find_workload, kueue_reason
from herorun.schedulers._kubernetes.options import Options as Options, requested_hardware
from herorun.schedulers._kubernetes.parse import JobRecord
from herorun.schedulers._kubernetes.request import (
    INSTANCE,
    RUN,
    root_of,
)
from herorun.schedulers._kubernetes.review import review_of
from herorun.schedulers._kubernetes.snapshot import KubernetesSnapshot, all_jobs, take_snapshot
from herorun.schedulers._kubernetes.state import judge_kubernetes
from herorun.schedulers._kubernetes.stop import deactivate, end_object, end_spec
from herorun.schedulers._kubernetes.submit import KubernetesSubmitter
from herorun.schedulers._submission_record import SubmissionRecord
from herorun.schedulers._validate import is_instance_of, must_be_instance, too_early
from herorun.system.clock import now

# programs on this machine, and how they report their version
OWN_PROGRAMS = (("kubectl", "version", "--client"),)


def connect(options: Options, place: Place) -> Scheduler:
    return Kubernetes(options, place)


class Kubernetes:
    """The scheduler `kubernetes`."""

    cluster_wide = True
    reach = "cluster"
    # set in each pod by Kubernetes: a service's address is in variables of its name
    sets = ("KUBERNETES_*", "*_SERVICE_HOST", "*_SERVICE_PORT*", "*_PORT_*", "JOB_COMPLETION_INDEX")
    secrets_vouched = True  # `missing-object` asks the cluster itself

    def __init__(self, options: Options, place: Place) -> None:
        self._options, self._place = options, place
        self._folder = Path(place.state).absolute() / "kubernetes"
        self._kube, self._kind = Kubectl(options), JOBSET if options.object == "jobset" else JOB
        self._root = root_of(place.output_root)
        self._shared_snapshot: KubernetesSnapshot | None = None
        self._submitter = KubernetesSubmitter(
            self._kube,
            self._kind,
            options,
            place,
            folder=self._folder,
            find_submitted=self._submitted_job,
            end=self._end,
        )
        self._logs = InstanceLogs(self._kube, self._folder)
        self.secrets_source = f"the Secrets of {self._kube.where}"

    # --- looking ---------------------------------------------------------------------------------

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, intents: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One list of Jobs and one of pods, for any number of instances."""
        for instance in intents:
            must_be_instance(instance)
        try:
            snapshot = self._shared_snapshot or self._take_snapshot(
                f"{INSTANCE} in ({','.join(intents)})"
            )
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(intents, Unknown(describe_error(error)))
        return {name: self._search(snapshot, name, at) for name, at in intents.items()}

    @property
    def cluster(self) -> Hashable:
        options = self._options
        return (
            "kubernetes",
            options.config_path,
            options.context,
            options.namespace,
            options.program,
            options.object,
        )

    def snapshot(self, intents: Mapping[str, datetime]) -> KubernetesSnapshot:
        return self._take_snapshot(INSTANCE)

    def with_snapshot(self, snapshot: KubernetesSnapshot) -> "Kubernetes":
        with_answers = copy(self)
        with_answers._shared_snapshot = snapshot
        return with_answers

    def _take_snapshot(self, selector: str) -> KubernetesSnapshot:
        return take_snapshot(self._kube, selector, self._kind)

    def _search(self, snapshot: KubernetesSnapshot, instance: str, intended_at: datetime) -> Search:
        record = snapshot.jobs.get(instance)
        pods = snapshot.pods_of(instance)
        try:
            if record is not None and record.root != self._root:
                return Unknown(f"{self._kube.where} has {instance} of another run")
            if record is not None:
                return Found(self._with_queue(record, self._judge(snapshot, record)))
            if any(pod.live for pod in pods):
                names = ", ".join(pod.name for pod in pods if pod.live)
                return Unknown(f"the Job {instance} is gone, and its pods may still write: {names}")
            if jobs := snapshot.jobs_of(instance):
                return Unknown(f"{self._kube.where} has {jobs[0].name}, and its JobSet is not seen")
            return self._unlisted_job(
                instance, intended_at, snapshot.at, self._submission_record(instance)
            )
        except (CouldNotLook, OSError) as error:
            return Unknown(describe_error(error))

    def _judge(self, snapshot: KubernetesSnapshot, record: JobRecord) -> Job:
        owners = {"", record.uid, *(job.uid for job in snapshot.jobs_of(record.name))}
        pods = [pod for pod in snapshot.pods_of(record.name) if pod.owner in owners]
        return judge_kubernetes(record, pods, snapshot.lost_nodes)

    def _with_queue(self, record: JobRecord, job: Job) -> Job:
        """The job with Kueue's reason, if it waits in a queue."""
        if not self._options.queue or job.state is not JobState.PENDING:
            return job
        try:
            workload = find_workload(self._kube, record.uid)
        except (CouldNotLook, OSError) as error:
            reason = f"what Kueue says of it could not be read: {describe_error(error)}"
        else:
            reason = kueue_reason(workload) if workload else "Kueue has no Workload of it yet"
        return replace(job, reason="; ".join(part for part in (job.reason, reason) if part))

    def _unlisted_job(
        self, instance: str, intended_at: datetime, asked_at: datetime, submission: SubmissionRecord
    ) -> Search:
        """The answer for an unlisted job: a 404 means that it was deleted or never existed."""
        none = f"{self._kube.where} has no {self._kind.title} {instance}"
        if early := too_early(instance, intended_at, asked_at, self._options.settle):
            return early
        if submission.id:
            return Unknown(
                f"{none}, which it took as {submission.id}: it was deleted, and how it ended "
                "is unknown",
                forgotten=True,
            )
        if asked_at - intended_at > self._options.job_retention:
            reason = "which may have been deleted: see [scheduler] job_retention"
            return Unknown(f"{none}, {reason}", forgotten=True)
        return Absent()

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """Live jobs by their labels; a Job of another run with the same name is not ours."""
        snapshot = self._shared_snapshot or self._take_snapshot(f"{RUN}={slug}")
        records = [r for name, r in snapshot.jobs.items() if is_instance_of(name, slug)]
        jobs = [self._judge(snapshot, record) for record in records if record.root == self._root]
        living = [job for job in jobs if not job.state.is_final]
        return tuple(sorted(living, key=lambda job: (len(job.instance), job.instance)))

    def other_jobs(self, slug: str) -> tuple[Job, ...]:
        """Jobs of the namespace that herorun did not submit."""
        other = re.compile(rf"{re.escape(slug)}-(?![0-9]+$).+")
        records = self._shared_snapshot.all_jobs if self._shared_snapshot else all_jobs(self._kube)
        records = tuple(each for each in records if other.fullmatch(each.name))
        unlabelled_jobs = [record for record in records if not record.instance]
        jobs = (judge_kubernetes(record, ()) for record in unlabelled_jobs)
        return tuple(
            sorted((j for j in jobs if not j.state.is_final), key=lambda job: job.instance)
        )

    def offers(self, plan: Plan) -> Offered:
        """The options decide it; the plan is not asked."""
        return requested_hardware(self._options)

    def review(self, plan: Plan, slug: str) -> RequestReview:
        """Review the request of an instance number that is never used: numbers begin with 1."""
        document = self._submitter.document(
            submission_of(plan, f"{slug}-0"), "<code>", "<admission>"
        )
        return review_of(self._kube, self._options, document)

    def examine(self) -> tuple[DoctorPart, ...]:
        return examine_cluster(self._kube, self._options)

    def tail(self, instance: str, lines: int) -> str:
        return self._logs.tail(must_be_instance(instance), lines)

    def read_log(self, instance: str, offset: int, limit: int, mark: str = "") -> LogPart:
        return self._logs.read_log(must_be_instance(instance), offset, limit, mark)

    def warnings(self, instance: str) -> tuple[str, ...]:
        """Warnings about the Job and its pods, including deleted pods; the cluster keeps them for
        an hour.
        """
        name = must_be_instance(instance)
        one = own_names(name, is_indexed=self._options.replicas > 1)
        warnings = (
            self._shared_snapshot.warnings if self._shared_snapshot else read_warnings(self._kube)
        )
        return warning_lines(warnings, one if self._kind == JOB else names_in_set(name))

    # --- acting ----------------------------------------------------------------------------------

    def bundle(self, code: str) -> tuple[str, bytes] | None:
        bundle = self._submitter.bundle(code)
        return (bundle.path, bundle.data) if bundle else None

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """The exact object that is sent."""
        document = self._submitter.document(submission, code, admission)
        path = self._kube.path(self._kind.version, self._kind.plural)
        return f"POST {path} of {self._options.context}\n{canonical(document)}"

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Submit, after a dry run. The server accepts the name once, even if another process
        submits too.
        """
        return self._submitter.submit(submission, code, admission)

    def stop(self, instance: str, by: str) -> None:
        """SIGTERM to its pods, SIGKILL after their grace period; its record stays."""
        job = self._to_stop(must_be_instance(instance))
        if job is None:
            raise WrongUse(f"There is no {self._kind.title} {instance} in {self._kube.where}.")
        self._logs.store(instance)
        end_once(
            self._folder, job, by, "Kubernetes", lambda job: self._end(job.id, job.instance, by)
        )

    def _end(self, uid: str, instance: str, by: str) -> None:
        """End it so that Kueue does not restart it, also a waiting job or a JobSet."""
        record = self._take_snapshot(f"{INSTANCE}={instance}").jobs.get(instance)
        kind = kind_and_name(f"{record.kind}/x")[0] if record else self._kind
        waits = bool(record and record.suspended)
        workload = None
        if self._options.queue and (waits or kind == JOBSET):
            workload = find_workload(self._kube, uid)
        end_object(self._kube, kind, instance, uid, by, end_spec(kind, is_suspended=False))
        if workload:
            deactivate(self._kube, workload)

    def _submitted_job(self, instance: str) -> Job | None:
        """The Job with this name, unless it was deleted."""
        return known_job(self.find, instance, now() - self._job_retention)

    def _to_stop(self, instance: str) -> Job | None:
        return known_job(self.find, instance, now() - self._job_retention)

    @property
    def _job_retention(self) -> timedelta:
        return max(self._options.job_retention - timedelta(minutes=1), self._options.settle * 2)

    def _submission_record(self, instance: str) -> SubmissionRecord:
        return keeping.read_submission(self._folder, instance)
