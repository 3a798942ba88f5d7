"""What `herorun doctor` reports about a cluster, beyond that it answers. Read-only."""

from herorun.core.doctor_report import DoctorPart, Fit
from herorun.schedulers._kubernetes.client import Kubectl, ReadRefusal
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.review import list_forbidden, list_permissions


def examine_cluster(kube: Kubectl, options: Options) -> tuple[DoctorPart, ...]:
    return (_examine_namespace(kube), _examine_rights(kube, options))


def _examine_namespace(kube: Kubectl) -> DoctorPart:
    """A server lists nothing in a namespace that does not exist, as in one that is empty."""
    name = f"kubernetes, namespace {kube.namespace}"
    try:
        kube.get(f"/api/v1/namespaces/{kube.namespace}")
    except ReadRefusal as error:
        if f'namespaces "{kube.namespace}" not found' not in str(error):
            message = (
                "its Jobs can be listed; this login has no permission to read the namespace itself"
            )
            return DoctorPart("scheduler", name, Fit.SKIPPED, message)
        fix = "Correct [scheduler] namespace, or create it."
        return DoctorPart("scheduler", name, Fit.FAILED, "does not exist", fix)
    return DoctorPart("scheduler", name, Fit.OK, "exists")


def _examine_rights(kube: Kubectl, options: Options) -> DoctorPart:
    name = f"kubernetes, rights in {kube.namespace}"
    if missing := list_forbidden(kube, list_permissions(options)):
        message = f"this login has no permission to: {', '.join(missing)}"
        fix = "Grant the role of docs/schedulers/kubernetes.md to it."
        return DoctorPart("scheduler", name, Fit.FAILED, message, fix)
    return DoctorPart("scheduler", name, Fit.OK, "this login may do what a run needs")
