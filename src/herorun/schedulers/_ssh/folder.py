"""Whether the scheduler's folder can hold a job, for preflight and `herorun doctor`. Pure."""

from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.evidence import RequestReview

# what a machine does not have; it is not what it would take, which `refused` says
_INAPPLICABLE = ("changed", "forbidden", "missing", "exceeded", "unplaceable", "preemptors")


def review_of(where: str, folder: str, problem: str) -> RequestReview:
    """A machine takes every request, unless the folder cannot hold its records."""
    refusals = (f"[scheduler] folder {folder} cannot be used: {problem}",) if problem else ()
    return RequestReview(where=where, refused=refusals, inapplicable=_INAPPLICABLE)


def part_of(where: str, folder: str, problem: str) -> DoctorPart:
    name = f"ssh, folder {folder}"
    if not problem:
        return DoctorPart("scheduler", name, Fit.OK, f"a job's records can be written on {where}")
    fix = f"Make room or grant access on {where}, or set [scheduler] folder to another path."
    return DoctorPart("scheduler", name, Fit.FAILED, f"cannot be used: {problem}", fix)
