"""A Ray job by its submission id, asked over the Jobs API of the dashboard."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.resubmit_command import must_have_no_wait
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Absent, AdapterOptions, ById, Found, Origin, Place, Search, Unknown
from herorun.schedulers._clusters import ClusterNames
from herorun.schedulers._ray.client import Dashboard
from herorun.schedulers._ray.log import read_log
from herorun.schedulers._ray.parse import ray_state_of
from herorun.schedulers._ray.snapshot import RaySnapshot

TIMEOUT = 20.0  # seconds of one question
SUBMITTER = "lib/marin/src/marin/run/ray_run.py"  # of the repository that the seed's loop is for
CLUSTERS = ClusterNames("ray", {}, "--cluster http://HOST:8265, its dashboard")


@dataclass(frozen=True, kw_only=True)
class RayJobKind(JobKind):
    def wrote(self, spec: JobSpec) -> bool:
        return bool(spec.cluster) and not spec.config

    def resolve_names(self, spec: JobSpec, start: str) -> JobSpec:
        """Read-only: the submitter of the seed's repository takes the short name itself."""
        if spec.cluster:
            CLUSTERS.resolve(spec.cluster)
        return spec

    def with_command(self, spec: JobSpec) -> JobSpec:
        """The experiment is submitted by the submitter of the seed's repository if the folder has
        it, otherwise by Ray's own.
        """
        if not spec.experiment or not spec.cluster or spec.resubmit:
            return spec
        program = ["--", "python", spec.experiment]
        if Path(spec.cwd or ".", SUBMITTER).is_file():
            argv = ["uv", "run", SUBMITTER, "--no_wait", "--cluster", spec.cluster, *program]
        else:
            where = ["--address", CLUSTERS.resolve(spec.cluster)]
            argv = ["ray", "job", "submit", *where, "--no-wait", "--working-dir", ".", *program]
        return replace(spec, names_no_command=False, resubmit=shlex.join(argv))

    def adapter_options(self, spec: JobSpec) -> dict[str, str]:
        return {"cluster": CLUSTERS.resolve(spec.cluster)}

    def contract_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "cluster": options.get("address")}

    def must_be_reachable(self, spec: JobSpec) -> None:
        if not spec.cluster:
            raise WrongUse(
                "A Ray job needs --cluster: the address of the dashboard, or the cluster's short "
                "name."
            )

    def must_return(self, command: str) -> None:
        must_have_no_wait(command)


JOBS = RayJobKind(
    id_pattern=lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]*"),
    id_form="a submission id, such as ray-run-held-isoflop_sweep-20260131-051716",
    needs=("cluster", "experiment"),
    place=("cluster",),
    printed=lazy_regex(r"Job '([^'\s]+)' submitted|\b((?:ray-run|raysubmit)[\w.-]*\w)"),
    has_machine=False,
)


class Options(AdapterOptions):
    cluster: str = Field(pattern=r"^https?://", description="The dashboard, `http://host:8265`.")


def connect(options: Options, place: Place) -> ById:
    return RayById(options)


_A_SHELLS = lazy_regex(r"[$`|&;<>(){}*?~\\\n]")


def _plain_argv(entrypoint: str) -> tuple[str, ...]:
    """
    >>> _plain_argv("python 'my train.py'"), _plain_argv("cd x && python y")
    (('python', 'my train.py'), ())
    """
    try:
        return () if _A_SHELLS.search(entrypoint) else tuple(shlex.split(entrypoint))
    except ValueError:
        return ()


class RayById:
    def __init__(self, options: Options) -> None:
        self._address = options.cluster.rstrip("/")

    def find_job(self, job: str) -> Search:
        try:
            snapshot = self._take_snapshot()
            record = snapshot.record(job)
            if record is None:
                return Absent()
            if record.submitted is None:
                return Unknown(
                    f"{job} was deleted, and Ray stored an incomplete entry again: its state is "
                    "unknown"
                )
            return Found(snapshot.job(record, job, None))
        except CouldNotLook as error:
            return Unknown(str(error))

    def tail(self, job: str, lines: int) -> str:
        snapshot = self._take_snapshot()
        record = snapshot.record(job)
        if record is None:
            raise FileNotFoundError(2, "Ray has no such job", job)
        return read_log(snapshot, record, lines)

    def origin(self, job: str) -> Origin:
        """Ray knows no users. Its entrypoint is a shell's words; those that a shell would change
        are not compared.
        """
        record = self._take_snapshot().record(job)
        entrypoint = record.entrypoint if record else ""
        return Origin(command=_plain_argv(entrypoint), details=entrypoint)

    def live_namesakes(self, job: str) -> tuple[str, ...]:
        """Other live jobs with its entrypoint: Ray knows neither names nor users."""
        snapshot = self._take_snapshot()
        record = snapshot.record(job)
        if record is None or not record.entrypoint:
            raise CouldNotLook(f"Ray no longer lists {job}, so what it ran is unknown")
        return tuple(
            each.name
            for each in snapshot.records
            if each.name != job and each.entrypoint == record.entrypoint and ray_state_of(each).live
        )

    def stop(self, job: str) -> None:
        """The job alone: nothing here touches the cluster."""
        snapshot = self._take_snapshot()
        if snapshot.record(job) is None:
            raise WrongUse(f"There is no job {job} on {self._address}.")
        snapshot.dashboard.ask("POST", f"/api/jobs/{quote(job, safe='')}/stop")

    def _take_snapshot(self) -> RaySnapshot:
        return RaySnapshot(Dashboard(self._address, {}, TIMEOUT, None))
