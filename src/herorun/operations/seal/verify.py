"""Verifies a seal from a clone: what is proven, what is wrong, and what cannot be checked here."""

from dataclasses import replace

from herorun.core.errors import WrongUse, describe_error
from herorun.core.redaction.scrub import scrub
from herorun.core.seal.parse import OtherForm, statement_in
from herorun.core.seal.render import split_tag
from herorun.core.seal.verification import SealProof
from herorun.operations.record.verify import RecordVerification
from herorun.operations.seal.verify_checkpoint import ask_checkpoint
from herorun.operations.seal.verify_record import ask_record, record_of, stored_manifest
from herorun.operations.seal.verify_tag import (
    SealedTag,
    ask_commit,
    ask_remote,
    ask_signature,
    verify_statement,
)
from herorun.system.git import Repository
from herorun.system.git.tags import tag_text

OFFLINE = (
    "the remote: not asked (--offline), so it is unknown whether it has this tag",
    ("the checkpoint: not read (--offline), so it is unknown whether its files are unchanged"),
)


def _instead(repository: Repository, name: str) -> str:
    """What to type: the seals of a run that was named by its slug, or a tag with a similar name."""
    from herorun.core.suggestions import closest_names

    tags = repository.git(
        "for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags/herorun/"
    ).text.split()
    own_tags = [tag for tag in tags if tag.startswith(f"herorun/{name}/")]
    closest = own_tags or closest_names(name, tags)
    if closest:
        likely = " or ".join(f"`{each}`" for each in closest)
        return f"did you mean {likely}? If not, `git fetch --tags`"
    return "`git fetch --tags`, or correct the name"


def verify_seal(repository: Repository, name: str, offline: bool = False) -> SealProof:
    """Verify the seal. `WrongUse` if this clone has no such tag. Invalid content of the tag is a
    fault, not an error.
    """
    tag = name.removeprefix("refs/tags/")
    text = tag_text(repository, tag)
    if text is None:
        raise WrongUse(
            f"There is no annotated tag {tag} in this clone: {_instead(repository, tag)}."
        )
    proof = SealProof(tag)
    try:
        statement = statement_in(text)
    except OtherForm as why:
        proof.unproven.append(f"{tag}: {scrub(str(why))}")
        return proof
    except ValueError as why:
        proof.faults.append(f"{tag}: {scrub(str(why))}")
        return proof
    _ask(SealedTag(repository, tag, *split_tag(text), statement), proof, offline)
    return proof


def verify_newest_seal(
    repository: Repository, record: RecordVerification, offline: bool
) -> RecordVerification:
    """The verification of the record, extended by its newest seal, if there is one."""
    if not record.seal:
        return record
    try:
        proof = verify_seal(repository, record.seal, offline)
    except WrongUse as error:
        return replace(record, notes=(*record.notes, describe_error(error)), unseen=True)
    about = f"{record.seal}: "
    return replace(
        record,
        faults=(*record.faults, *(about + message for message in proof.faults)),
        notes=(*record.notes, *(about + message for message in (*proof.unproven, *proof.notes))),
        unseen=record.unseen or bool(proof.unproven),
    )


def _ask(seal: SealedTag, proof: SealProof, offline: bool) -> None:
    verify_statement(seal, proof)
    proof.ask("the signature", lambda: ask_signature(seal, proof))
    proof.ask("the commit", lambda: ask_commit(seal, proof))
    record = record_of(seal)
    proof.ask("the record", lambda: ask_record(seal, record, proof))
    if offline:
        stored_manifest(seal, record, proof)
        proof.unproven += OFFLINE if seal.facts["manifest"] else OFFLINE[:1]
        return
    proof.ask("the remote", lambda: ask_remote(seal, proof))
    if then := stored_manifest(seal, record, proof):
        proof.ask("the checkpoint", lambda: ask_checkpoint(seal, then, proof))
