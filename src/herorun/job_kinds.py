"""Jobs that are named by ids: which scheduler's adapter takes the id, and which options a job
without a contract needs.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from herorun import adapters
from herorun.core.adhoc_jobs.kind import JobKind
from herorun.core.adhoc_jobs.spec import OPTIONS, JobSpec
from herorun.core.errors import WrongUse
from herorun.core.suggestions import did_you_mean

PORT: Final = "schedulers.external"


def kinds() -> tuple[str, ...]:
    """The schedulers whose jobs can be looked at by id, installed packages' too."""
    return adapters.offered_kinds(PORT)


def is_supported(kind: str) -> bool:
    """Whether this scheduler's jobs can be looked at by id; no adapter is loaded for the answer."""
    return adapters.is_offered(PORT, kind)


def job_kind(kind: str) -> JobKind:
    """What its adapter declares as `JOBS`; `WrongUse` for a scheduler whose jobs cannot be read by
    id.
    """
    if not is_supported(kind):
        raise WrongUse(
            f"{kind!r} is not a scheduler whose jobs herorun can monitor by id."
            f"{did_you_mean(kind, kinds())} Known: {', '.join(kinds())}."
        )
    declared_jobs = getattr(adapters.adapter_module(PORT, kind), "JOBS", None)
    if not isinstance(declared_jobs, JobKind):
        raise WrongUse(
            f"The adapter {kind!r} of {adapters.ADAPTERS[PORT]} lacks JOBS, which is a JobKind."
        )
    return declared_jobs


def must_be_id(kind: str, job: str) -> None:
    """`WrongUse` for an id of the wrong form, or of a scheduler whose jobs nobody can look at by
    their id.
    """
    jobs_kind = job_kind(kind)
    if not jobs_kind.id_pattern.fullmatch(job):
        raise WrongUse(
            f"{job!r} is not the id of {jobs_kind.article} {kind} job: it must be "
            f"{jobs_kind.id_form}."
        )


def with_kind(spec: JobSpec) -> JobSpec:
    """`--job PID --host HOST` alone means a process on that host."""
    if spec.kind or not spec.host or not spec.job:
        return spec
    other_kinds = [
        kind
        for kind in kinds()
        if (jobs_kind := job_kind(kind)).is_process and jobs_kind.id_pattern.fullmatch(spec.job)
    ]
    return replace(spec, kind=other_kinds[0]) if len(other_kinds) == 1 else spec


def with_kind_of_fields(spec: JobSpec) -> JobSpec:
    """A state file without a scheduler is of the one kind that says it wrote such fields."""
    if spec.kind:
        return spec
    writers = [kind for kind in kinds() if job_kind(kind).wrote(spec)]
    return replace(spec, kind=writers[0]) if len(writers) == 1 else spec


def resolve_spec(spec: JobSpec, start: str) -> JobSpec:
    """The same with short names of clusters replaced, where its scheduler is named."""
    return job_kind(spec.kind).resolve_names(spec, start) if spec.kind else spec


def with_command(spec: JobSpec) -> JobSpec:
    """The same with the submission command that follows from its other fields, if any does."""
    return job_kind(spec.kind).with_command(spec) if spec.kind else spec


def missing_options(spec: JobSpec) -> tuple[str, ...]:
    """The options that this kind of job cannot do without and that were not given."""
    needs = job_kind(spec.kind).needs if spec.kind else ()
    return tuple(OPTIONS[name] for name in ("job", "kind", *needs) if not getattr(spec, name))


def must_be_complete(spec: JobSpec) -> None:
    """`WrongUse` in one sentence, with every option that is missing."""
    if lacking := missing_options(spec):
        choices = f" (--scheduler is one of {', '.join(kinds())})" if not spec.kind else ""
        job = (
            f"{job_kind(spec.kind).article.capitalize()} {spec.kind} job" if spec.kind else "A job"
        )
        raise WrongUse(f"{job} without a contract needs {_join_names(lacking)}{choices}.")
    must_be_id(spec.kind, spec.job)


def _join_names(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
