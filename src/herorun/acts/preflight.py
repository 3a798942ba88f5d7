"""The launch gate as people meet it: the plan, the exact submission, the findings and the verdict."""

from dataclasses import dataclass, fields
from typing import Any

from herorun.core.canonical import plain
from herorun.core.check import Gate, GateVerdict
from herorun.core.errors import Blocked, CouldNotLook, WrongUse
from herorun.core.plan import Plan
from herorun.core.ports import Submission, submission_of
from herorun.core.scrub import scrub_argv, scrub_tree
from herorun.gates import Report, ask
from herorun.workspace import Run


@dataclass(frozen=True)
class Preflight:
    """What the launch gate answered, and the plan and submission that it answered about.

    `plan` and `submission` are None where something that they are made of could not be read.
    """

    report: Report
    plan: Plan | None
    submission: Submission | None

    @property
    def verdict(self) -> GateVerdict:
        return self.report.verdict

    def raise_if_blocked(self) -> None:
        """`Blocked` or `CouldNotLook`, naming every reason, unless the gate is clear."""
        if self.verdict is GateVerdict.BLOCKED:
            raise Blocked(f"The launch is blocked: {self.report.summary}")
        if self.verdict is GateVerdict.UNKNOWN:
            raise CouldNotLook(f"The launch gate could not look everywhere: {self.report.summary}")

    def as_json(self) -> dict[str, Any]:
        """The promised shape."""
        return {
            "verdict": self.verdict.value,
            "plan_digest": self.plan.digest if self.plan else None,
            "plan": plan_json(self.plan) if self.plan else None,
            "submission": submission_json(self.submission) if self.submission else None,
            "findings": self.report.as_json(),
        }


def preflight(run: Run) -> Preflight:
    """Ask the launch gate. Only reads."""
    if run.repository.resolve("HEAD") is None:
        raise WrongUse(f"{run.repository.top} has no commit yet: commit the training code first.")
    run.record.fetch()
    memory = run.record.memory()
    report = ask(run, Gate.LAUNCH, wanted=[Plan])
    plan = report.evidence[Plan]
    if not isinstance(plan, Plan):
        return Preflight(report, None, None)
    return Preflight(report, plan, submission_of(plan, f"{run.slug}-{memory.next_number}"))


def plan_json(plan: Plan) -> dict[str, Any]:
    """Field -> value, source, inferred; secrets masked."""
    shape: dict[str, Any] = scrub_tree(
        {field.name: plain(getattr(plan, field.name)) for field in fields(plan)}
    )
    shape["argv"]["value"] = list(scrub_argv(plan.argv.value))
    return shape


def submission_json(submission: Submission) -> dict[str, Any]:
    shape: dict[str, Any] = scrub_tree(plain(submission))
    return {**shape, "argv": list(scrub_argv(submission.argv))}
