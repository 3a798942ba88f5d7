"""The result of each question about a seal. Pure."""

from collections.abc import Callable
from dataclasses import field

from herorun.core.errors import HerorunError, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub


@dataclass
class SealProof:
    """What was looked at, in words. `unproven` is what could not be looked at; `notes` prove
    nothing either way.
    """

    tag: str
    proven: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        if self.faults:
            return "blocked"
        return "unknown" if self.unproven else "clear"

    def ask(self, what: str, check: Callable[[], None]) -> None:
        """One question. If it cannot be answered, the result says so, and the others are still
        asked.
        """
        try:
            check()
        except (HerorunError, OSError) as error:
            self.unproven.append(f"{what}: {scrub(describe_error(error))}")
