"""What the server would make of a request, its webhooks included; nothing is kept."""

from collections.abc import Mapping
from typing import Any

from herorun.core.errors import WrongUse
from herorun.schedulers._kubernetes.client import Kubectl, NameTaken, ObjectNotFound, ServerRefusal
from herorun.schedulers._kubernetes.compare import differing_fields
from herorun.schedulers._kubernetes.jobset import JOB, JOBSET, job_in, kind_of

NOT_OURS = "cannot create resource"  # of a login that may make the whole, and not its parts


def changed_fields(
    kube: Kubectl, document: Mapping[str, Any], tolerated_fields: tuple[str, ...]
) -> tuple[str, ...]:
    """`NameTaken` where an object of its name is there, `WrongUse` where the server refuses."""
    kind = kind_of(document)
    try:
        admitted_document = kube.create(kube.dry_run_path(kind.version, kind.plural), document)
    except ObjectNotFound:
        if kind == JOB:
            raise
        raise WrongUse(no_jobsets(kube)) from None
    inner = _changed_in_job(kube, document, tolerated_fields) if kind == JOBSET else ()
    return (*differing_fields(document, admitted_document, tolerated_fields), *inner)


def _changed_in_job(
    kube: Kubectl, document: Mapping[str, Any], tolerated_fields: tuple[str, ...]
) -> tuple[str, ...]:
    """JobSet makes the Job with what it holds, of which an older server drops what it does not
    know. JobSet's definition takes it anyway.
    """
    job = job_in(document)
    try:
        admitted_document = kube.create(kube.dry_run_path(JOB.version, JOB.plural), job)
    except NameTaken:
        return ()
    except ServerRefusal as error:
        if NOT_OURS in str(error):
            return ()
        raise
    return differing_fields(job, admitted_document, tolerated_fields)


def no_jobsets(kube: Kubectl) -> str:
    return (
        f"{kube.where} has no {JOBSET.version}: install JobSet there, or set [scheduler] object = "
        '"job".'
    )
