"""Parses a statement: either one that can be verified, or one sentence that says why not. Pure.

Anybody may have pushed the tag: none of it is used before all of it has the form that herorun
writes.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from herorun.core import lazy_pydantic
from herorun.core.contract import SLUG
from herorun.core.lazy_pydantic import BaseModel, ConfigDict, StringConstraints
from herorun.core.seal.kinds import SealKind
from herorun.core.seal.render import seal_lines, split_tag
from herorun.core.seal.statement import OWN, SCHEMA, commit_of, facts_of
from herorun.core.untrusted_json import read_strict_json

NONE = "it holds no seal statement: it was changed, or it never was a seal"
Oid = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Slug = Annotated[str, StringConstraints(pattern=f"^({SLUG.pattern})$")]


class OtherForm(ValueError):
    """It is a seal, in a form that this herorun cannot judge: it is unknown whether it holds."""


class _StatementModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _NamedEntry(_StatementModel):
    name: str


class _Manifest(_StatementModel):
    path: str
    digest: Digest
    files: int
    bytes: int
    proof: str


class _Waiver(_StatementModel):
    check: str
    reason: str
    approved_by: str


class _Tracker(_StatementModel):
    id: str | None
    name: str | None


class _Facts(_StatementModel):
    """What is read of herorun's own part."""

    run: Slug
    kind: str
    name: str
    commit: Oid
    launch_commit: Oid
    record: Oid
    edits: dict[str, Oid]
    instances: list[_NamedEntry]
    plan_digest: str
    launch_command: list[str]
    output_root: str
    tracker: _Tracker
    tracker_label: str = ""  # an earlier version stated none
    tracker_links: list[str]
    final_checkpoint: str | None
    final_checkpoint_temporary: bool | None
    final_step: int | None
    reached_step: int | None
    final_metrics: dict[str, Any]
    manifest: _Manifest | None
    waivers: list[_Waiver]
    caveats: list[str]


class _Subject(_StatementModel):
    digest: dict[str, str]


class _StatementShape(_StatementModel):
    subject: list[_Subject]


def statement_in(tag_text: str) -> dict[str, Any]:
    """The statement in a tag; `OtherForm`, or a ValueError with the reason, where it has none that
    can be judged.
    """
    _, message, _ = split_tag(tag_text)
    at = message.find("\n{")
    if at < 0:
        raise ValueError(NONE)
    return parse_statement(message[at:])


def statement_of(tag_text: str) -> dict[str, Any] | None:
    """The statement in a tag; None where there is none."""
    try:
        return statement_in(tag_text)
    except ValueError:
        return None


def parse_statement(text: str | bytes) -> dict[str, Any]:
    """A whole statement; a ValueError for anything else."""
    try:
        document = read_strict_json(text)
    except ValueError as error:
        raise ValueError(f"{NONE} ({error})") from None
    _must_be_known(document)
    try:
        _Facts.model_validate(facts_of(document))
        _StatementShape.model_validate(document)
        seal_lines(document, "")
        SealKind(facts_of(document)["kind"])
        commit_of(document)
    except lazy_pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(
            f"it is not a valid statement of a seal ({where[:80]}: {first['msg']})"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise ValueError(f"it is not a valid statement of a seal ({error})") from None
    return dict(document)


def _must_be_known(document: Any) -> None:
    if not isinstance(document, Mapping):
        raise ValueError(NONE)
    if "_type" not in document and isinstance(document.get("run"), str) and "commit" in document:
        commit, checkpoint = (
            str(document.get(name))[:100] for name in ("commit", "final_checkpoint")
        )
        raise OtherForm(
            "it is a seal in herorun's earlier flat form, which this version does not verify; it "
            f"names the commit {commit} and the checkpoint {checkpoint}: compare them by hand"
        )
    predicate = document.get("predicate")
    own = predicate.get(OWN) if isinstance(predicate, Mapping) else None
    form = own.get("schema") if isinstance(own, Mapping) else None
    if isinstance(form, int) and not isinstance(form, bool) and form > SCHEMA:
        raise OtherForm(
            f"it is a newer herorun's seal (form {form}, known is {SCHEMA}): upgrade, and verify "
            "again"
        )
