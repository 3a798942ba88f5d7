"""What a seal's tag proves by itself, in a clone, and on the remote."""

from typing import Any

from herorun.core.contract import Contract, parse_contract
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.core.seal.render import tag_message
from herorun.core.seal.statement import checkpoint_of, commit_of, facts_of
from herorun.core.seal.verification import SealProof
from herorun.system.git import Repository
from herorun.system.git.signing import signature_of


@dataclass(frozen=True)
class SealedTag:
    """A parsed tag with a valid statement."""

    repository: Repository
    tag: str
    head: dict[str, str]
    message: str
    signature: str
    statement: dict[str, Any]

    @property
    def facts(self) -> dict[str, Any]:
        return facts_of(self.statement)


def contract_of(seal: SealedTag) -> Contract | None:
    """The contract at the newest instance's launch; None if that commit is not in this clone, or
    has none.
    """
    path = f"runs/{seal.facts['run']}.toml"
    data = seal.repository.read(seal.facts["launch_commit"], [path])[path]
    return None if data is None else parse_contract(data.decode("utf-8", "replace"), path)


def verify_statement(seal: SealedTag, proof: SealProof) -> None:
    facts, statement = seal.facts, seal.statement
    subject, stated_digest = checkpoint_of(statement), (facts["manifest"] or {}).get("digest")
    rows = [
        (
            "its name",
            seal.head.get("tag") == seal.tag,
            f"its object names it {seal.head.get('tag')}",
        ),
        (
            "the commit that it states",
            seal.head.get("object") == commit_of(statement) == facts["commit"],
            f"it points at {seal.head.get('object')}, and states {commit_of(statement)}",
        ),
        (
            "the same checkpoint in its subjects and its facts"
            if stated_digest
            else "no checkpoint, and says so",
            subject == stated_digest,
            (
                f"its subjects name the manifest {subject or 'of no checkpoint'}, and its facts "
                f"{stated_digest or 'none'}"
            ),
        ),
        (
            "a message that matches its statement",
            seal.message == tag_message(statement, seal.tag),
            "its message does not match its statement",
        ),
    ]
    proof.proven += [f"the tag has {what}" for what, is_true, _ in rows if is_true]
    proof.faults += [f"the tag: {why}" for _, is_true, why in rows if not is_true]


def ask_signature(seal: SealedTag, proof: SealProof) -> None:
    if not seal.signature:
        proof.notes.append("the tag is not signed: who made it is not proven")
        return
    signature = signature_of(seal.repository, seal.tag)
    if signature.good is None:
        proof.unproven.append(
            f"the signature: this machine cannot check it: {scrub(signature.detail)}"
        )
    elif signature.good:
        proof.proven.append(f"the signature: {scrub(signature.detail)}")
    else:
        proof.faults.append(f"the signature does not fit the tag: {scrub(signature.detail)}")


def ask_commit(seal: SealedTag, proof: SealProof) -> None:
    edits = seal.facts["edits"]
    for what, commit in {
        "the commit": seal.facts["commit"],
        **{f"the edits of {k}": v for k, v in edits.items()},
    }.items():
        if seal.repository.has(commit):
            proof.proven.append(f"{what} {commit[:9]} is in this clone")
        else:
            proof.unproven.append(f"{what} {commit[:9]} is not in this clone: fetch it")


def ask_remote(seal: SealedTag, proof: SealProof) -> None:
    if "origin" not in seal.repository.remotes():
        proof.unproven.append("the remote: this clone has none called origin")
        return
    ref = f"refs/tags/{seal.tag}"
    remote_oid = seal.repository.remote_tips("origin", ref).get(ref)
    local_oid = seal.repository.git("rev-parse", "--verify", ref).text.strip()
    if remote_oid == local_oid:
        proof.proven.append("origin has the same tag as this clone")
    elif remote_oid is None:
        proof.faults.append("origin has no such tag: it was never pushed, or was deleted")
    else:
        proof.faults.append(f"origin has another tag of that name ({remote_oid[:9]})")
