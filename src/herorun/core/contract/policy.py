"""The contract's tables of modes, gates of a comparison, approvals and waivers."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from herorun.core.contract.values import Name, PostedComment, Table
from herorun.core.finding import Waiver as SignedWaiver
from herorun.core.lazy_pydantic import AfterValidator, Field, field_validator


def _gate(text: str) -> str:
    from herorun.core.compare.gate import parse_gate

    parse_gate(text)
    return text


class CompareTable(Table):
    """The gates that `herorun compare` applies to this run, set before the result is known."""

    gates: tuple[Annotated[Name, AfterValidator(_gate)], ...] = Field(
        (),
        description=(
            "Limits of a difference, as in `loss mean <= +0.5%`: a metric, then `mean`, `median` "
            "or `largest`, then `<=`, `>=` or `within`, then a number, which `%` may follow."
        ),
    )


class PolicyTable(Table):
    """How strictly findings are acted on."""

    mode: Literal["enforce", "warn", "audit"] = Field(
        "enforce",
        description=(
            "Whether findings stop a launch, only warn, or are only recorded. A hero run is "
            "always enforced."
        ),
    )

    approvals: Literal["recorded", "committed"] | None = Field(
        None,
        description=(
            "recorded, the default: the name in a waiver is enough. committed, always for a hero "
            "run: that person must have committed it."
        ),
    )
    approvers: tuple[Name, ...] = Field(
        (),
        description=(
            'Who may approve in addition to the DRI, with the address of their commits: "@ana '
            '<ana@example.org>".'
        ),
    )


class SealTable(Table):
    """What a seal proves of the checkpoint."""

    digest: Literal["content", "sizes"] = Field(
        "content",
        description=(
            "content: the digest of every file, which reads a local or ssh checkpoint whole. "
            "sizes: only the names and sizes of the files, so `verify TAG` cannot prove the "
            "content."
        ),
    )


class WaiverTable(Table):
    """A finding that a person accepts. Granting one is a commit."""

    RENAMED: ClassVar = {"unknown": "covers_unknown"}

    check: Name = Field(description="The check's name.")
    subject: str | None = Field(
        None, description="The finding's exact subject; by default every subject."
    )
    reason: PostedComment = Field(description="Why it is accepted.")
    approved_by: PostedComment = Field(
        description="Who accepts it: the DRI, or one of [policy] approvers."
    )
    expires: datetime = Field(description="Until when it holds.")
    covers_unknown: bool = Field(
        False, description="Whether it also covers a finding that could not be checked."
    )

    @field_validator("expires")
    @classmethod
    def _require_zone(cls, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise ValueError("needs a time zone: write it like 2026-12-01T12:00:00Z")
        try:
            value.astimezone(UTC)  # as each launch and tick writes it down
        except OverflowError:
            raise ValueError("lies outside the years 1 to 9999 in UTC") from None
        return value

    def as_signed_waiver(self) -> SignedWaiver:
        return SignedWaiver(
            self.check,
            self.reason,
            self.approved_by,
            self.expires,
            self.subject,
            self.covers_unknown,
        )
