"""Why a job ended, for people: the root cause in its log, how its tasks ended, and a proposal.
Pure.
"""

from herorun.core.lazy_dataclass import dataclass

_SMALL = "code-bug-small"
# Nothing in the code or the command is to be changed.
_OUTSIDE = frozenset(
    {"preemption", "timeout", "node-failure", "network-collective", "capacity", "storage"}
)


@dataclass(frozen=True, kw_only=True)
class JobCause:
    """`failure` is the class of triage; empty where the log does not say why."""

    failure: str = ""
    file: str = ""
    line: int | None = None
    excerpt: str = ""
    tasks: str = ""  # how its tasks ended, as text
    advice: str = ""

    @property
    def effort(self) -> str:
        """`small`: a typo, a missing import. `complex`: for a person. Empty: nothing to change."""
        if self.failure in _OUTSIDE or not (self.failure or self.tasks):
            return ""
        return "small" if self.failure == _SMALL else "complex"

    def __str__(self) -> str:
        """
        >>> print(JobCause(failure="code-bug-small", file="a.py", line=3, excerpt="NameError: x"))
        code-bug-small (a small fix) at a.py:3: NameError: x
        """
        effort = f" (a {self.effort} fix)" if self.effort and self.failure else ""
        at = f" at {self.file}" if self.file else ""
        at += f":{self.line}" if self.file and self.line else ""
        root = f"{self.failure}{effort}{at}" if self.failure else "its log does not say why"
        excerpt = f": {self.excerpt}" if self.excerpt and self.failure else ""
        parts = (self.tasks, f"{root}{excerpt}", self.advice)
        return ". ".join(part.rstrip(".") for part in parts if part)
