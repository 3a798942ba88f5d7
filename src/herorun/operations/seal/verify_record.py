"""What the record of a run proves about its seal: the statement and the checkpoint's manifest."""

from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.errors import HerorunError
from herorun.core.event import Sealed
from herorun.core.finding import count
from herorun.core.record.verify import judge_history
from herorun.core.seal.manifest import Manifest, manifest_from
from herorun.core.seal.verification import SealProof
from herorun.core.untrusted_json import read_strict_json
from herorun.operations.record.history import read_history
from herorun.operations.seal.verify_tag import SealedTag, contract_of
from herorun.record import MAX_BYTES, Record


def record_of(seal: SealedTag) -> Record:
    """The record, on the branch that the contract of the launch names."""
    slug = str(seal.facts["run"])
    remote = "origin" if "origin" in seal.repository.remotes() else None
    try:
        contract = contract_of(seal)
    except HerorunError:
        contract = None
    branch = contract.record_branch if contract else ""
    return Record.discover(seal.repository, slug, branch, remote)


def _tip(seal: SealedTag, record: Record) -> str | None:
    """The record's tip in this clone: its own ref, or else a remote branch that `git clone`
    fetched.
    """
    if record.tip:
        return record.tip
    names = seal.repository.git("for-each-ref", "--format=%(refname)", "refs/remotes/").text.split()
    matching = (name for name in names if name.split("/", 3)[3:] == [record.branch])
    return next((tip for name in matching if (tip := seal.repository.resolve(name))), None)


def ask_record(seal: SealedTag, record: Record, proof: SealProof) -> None:
    facts, commit = seal.facts, str(seal.facts["record"])
    tip = _tip(seal, record)
    if tip is None or not seal.repository.has(commit):
        where = f"refs/heads/{record.branch}:{record.ref}"
        proof.unproven.append(
            f"the record is not in this clone; fetch it: `git fetch origin {where}`"
        )
        return
    if not seal.repository.is_ancestor(commit, tip):
        proof.faults.append(
            f"the record that it names ({commit[:9]}) is no part of {record.branch}"
        )
        return
    judgement = judge_history(read_history(record, tip))
    proof.faults += [f"the record: {fault}" for fault in judgement.faults]
    if judgement.newer:
        proof.unproven.append(f"the record: {count(judgement.newer, 'line')} of a newer herorun")
    name = f"{record.files_path}/seal-{digest(seal.statement)[7:19]}.json"
    data = seal.repository.read(tip, [name], MAX_BYTES)[name]
    if data is None or _parse_json(data) != seal.statement:
        proof.faults.append("the record holds another statement than the tag, or none")
        return
    proof.proven.append(
        f"the record holds the same statement, after {commit[:9]} on {record.branch}"
    )
    seals = (
        [line.event for line in record.lines() if isinstance(line.event, Sealed)]
        if record.tip
        else []
    )
    if record.tip and (seal.tag, digest(seal.statement)) not in {
        (e.tag, e.statement_digest) for e in seals
    }:
        proof.faults.append(f"the journal of {facts['run']} does not contain this seal")


def _parse_json(data: bytes) -> Any:
    """The value; None if the data is invalid or ambiguous JSON, which herorun never writes."""
    try:
        return read_strict_json(data)
    except ValueError:
        return None


def stored_manifest(seal: SealedTag, record: Record, proof: SealProof) -> Manifest | None:
    """The recorded manifest of the checkpoint: it must have the digest that the statement names."""
    digest_facts = seal.facts["manifest"]
    if digest_facts is None:
        proof.notes.append("it states no checkpoint")
        return None
    tip = _tip(seal, record)
    path = f"{record.files_path}/manifest-{digest_facts['digest'][7:19]}.json"
    data = seal.repository.read(tip, [path], MAX_BYTES)[path] if tip else None
    if data is None:
        proof.unproven.append("the checkpoint's manifest is not in this clone's record")
        return None
    manifest = _manifest(data)
    if manifest is None or manifest.digest != digest_facts["digest"]:
        proof.faults.append(
            f"{path} in the record is not the manifest that the seal names: it was changed"
        )
        return None
    proof.proven.append(
        f"the record keeps the manifest of {manifest.path}: {count(len(manifest.files), 'file')}, "
        f"{count(manifest.bytes, 'byte')}"
    )
    return manifest


def _manifest(data: bytes) -> Manifest | None:
    try:
        return manifest_from(_parse_json(data))
    except (ValueError, KeyError, TypeError):
        return None
