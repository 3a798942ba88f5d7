"""Proving a seal again, from a clone: what holds, what does not, and what nobody here can tell."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from herorun import discover
from herorun.acts.history import read_history
from herorun.acts.manifest import read_manifest
from herorun.core.canonical import digest
from herorun.core.contract import parse_contract
from herorun.core.errors import HerorunError, WrongUse, in_words
from herorun.core.event import Sealed
from herorun.core.ports import Place
from herorun.core.scrub import scrub
from herorun.core.sealing.manifest import Manifest, differences, manifest_from
from herorun.core.sealing.statement import commit_of, facts_of
from herorun.core.sealing.words import split_tag, statement_of, tag_message
from herorun.core.verify import judge
from herorun.record import Record
from herorun.routed import RoutedStore
from herorun.system.git import Repository
from herorun.system.plumbing import tag_text
from herorun.system.signing import signature_of


@dataclass
class Proof:
    """What was looked at, in words. `unproven` is what could not be looked at; `notes` prove nothing either way."""

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

    def as_json(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("tag", "proven", "faults", "unproven", "notes")}
        return {"verdict": self.verdict, **told}

    def ask(self, what: str, look: Callable[[], None]) -> None:
        """One question; where it cannot be answered that is said, and the others are asked all the same."""
        try:
            look()
        except (HerorunError, OSError) as error:
            self.unproven.append(f"{what}: {scrub(in_words(error))}")


@dataclass(frozen=True)
class Sealing:
    """The tag taken apart."""

    repository: Repository
    tag: str
    head: dict[str, str]
    message: str
    signature: str
    statement: dict[str, Any]

    @property
    def facts(self) -> dict[str, Any]:
        return facts_of(self.statement)


def verify_seal(repository: Repository, name: str, offline: bool = False) -> Proof:
    """`WrongUse` where there is no such tag in this clone, or it is no seal."""
    tag = name.removeprefix("refs/tags/")
    text = tag_text(repository, tag)
    if text is None:
        raise WrongUse(
            f"There is no annotated tag {tag} in this clone: `git fetch --tags`, or correct the name."
        )
    proof, (head, message, signature) = Proof(tag), split_tag(text)
    statement = statement_of(text)
    if statement is None:
        proof.faults.append(f"{tag} holds no statement of a seal: it was changed, or it never was one")
        return proof
    seal = Sealing(repository, tag, head, message, signature, statement)
    _tag(seal, proof)
    proof.ask("the signature", lambda: _signature(seal, proof))
    proof.ask("the commit", lambda: _commit(seal, proof))
    record = _record(seal)
    proof.ask("the record", lambda: _recorded(seal, record, proof))
    if offline:
        proof.unproven += ["the remote: not asked (--offline)", "the checkpoint: not looked at (--offline)"]
        return proof
    proof.ask("the remote", lambda: _remote(seal, proof))
    proof.ask("the checkpoint", lambda: _checkpoint(seal, record, proof))
    return proof


def _tag(seal: Sealing, proof: Proof) -> None:
    facts, statement = seal.facts, seal.statement
    found = [
        ("its own name", seal.head.get("tag") == seal.tag, f"it calls itself {seal.head.get('tag')}"),
        (
            "the commit that it states",
            seal.head.get("object") == commit_of(statement) == facts["commit"],
            f"it points at {seal.head.get('object')}, and states {commit_of(statement)}",
        ),
        (
            "its words, which say what its statement says",
            seal.message == tag_message(statement, seal.tag),
            "the words of its message are not those of its statement",
        ),
    ]
    proof.proven += [f"the tag has {what}" for what, holds, _ in found if holds]
    proof.faults += [f"the tag: {why}" for _, holds, why in found if not holds]


def _signature(seal: Sealing, proof: Proof) -> None:
    if not seal.signature:
        proof.notes.append("the tag is not signed: who made it is not proven")
        return
    found = signature_of(seal.repository, seal.tag)
    if found.good is None:
        proof.unproven.append(f"the signature: this machine cannot check it: {scrub(found.words)}")
    elif found.good:
        proof.proven.append(f"the signature: {scrub(found.words)}")
    else:
        proof.faults.append(f"the signature does not fit the tag: {scrub(found.words)}")


def _commit(seal: Sealing, proof: Proof) -> None:
    edits = seal.facts["edits"]
    for what, commit in {
        "the commit": seal.facts["commit"],
        **{f"the edits of {k}": v for k, v in edits.items()},
    }.items():
        if seal.repository.has(commit):
            proof.proven.append(f"{what} {commit[:9]} is in this clone")
        else:
            proof.unproven.append(f"{what} {commit[:9]} is not in this clone: fetch it")


def _record(seal: Sealing) -> Record:
    slug = str(seal.facts["run"])
    remote = "origin" if "origin" in seal.repository.remotes() else None
    return Record(seal.repository, slug, f"herorun/{slug}", remote, lambda: "")


def _tip(seal: Sealing, record: Record) -> str | None:
    """The record as this clone has it: its own, else as a plain `git clone` brought it."""
    if record.tip:
        return record.tip
    names = seal.repository.git("for-each-ref", "--format=%(refname)", "refs/remotes/").text.split()
    there = (name for name in names if name.split("/", 3)[3:] == [record.branch])
    return next((tip for name in there if (tip := seal.repository.resolve(name))), None)


def _recorded(seal: Sealing, record: Record, proof: Proof) -> None:
    facts, told = seal.facts, str(seal.facts["record"])
    tip = _tip(seal, record)
    if tip is None or not seal.repository.has(told):
        where = f"refs/heads/{record.branch}:{record.ref}"
        proof.unproven.append(f"the record is not in this clone: `git fetch origin {where}`")
        return
    if not seal.repository.is_ancestor(told, tip):
        proof.faults.append(f"the record that it names ({told[:9]}) is no part of {record.branch}")
        return
    judged = judge(read_history(record, tip))
    proof.faults += [f"the record: {fault}" for fault in judged.faults]
    if judged.newer:
        proof.unproven.append(f"the record: {judged.newer} lines are a newer herorun's")
    name = f"{record.files_path}/seal-{digest(seal.statement)[7:19]}.json"
    kept = seal.repository.read(tip, [name])[name]
    if kept is None or json.loads(kept) != seal.statement:
        proof.faults.append("the record keeps another statement than the tag, or none")
        return
    proof.proven.append(f"the record keeps the very statement, after {told[:9]} on {record.branch}")
    sealed = [line.event for line in record.lines() if isinstance(line.event, Sealed)] if record.tip else []
    if record.tip and (seal.tag, digest(seal.statement)) not in {(e.tag, e.statement_digest) for e in sealed}:
        proof.faults.append(f"the journal of {facts['run']} does not know of this seal")


def _remote(seal: Sealing, proof: Proof) -> None:
    if "origin" not in seal.repository.remotes():
        proof.unproven.append("the remote: this clone has none called origin")
        return
    ref = f"refs/tags/{seal.tag}"
    there = seal.repository.remote_tips("origin", ref).get(ref)
    here = seal.repository.git("rev-parse", "--verify", ref).text.strip()
    if there == here:
        proof.proven.append("origin has the very same tag")
    elif there is None:
        proof.faults.append("origin has no such tag: it was never pushed, or somebody took it away")
    else:
        proof.faults.append(f"origin has another tag of that name ({there[:9]})")


def _checkpoint(seal: Sealing, record: Record, proof: Proof) -> None:
    told = seal.facts["manifest"]
    if told is None:
        proof.notes.append("it states no checkpoint")
        return
    then = _kept_manifest(seal, record, told)
    if then is None:
        proof.unproven.append("the checkpoint: its manifest is not in this clone's record")
        return
    try:
        there = read_manifest(_store(seal), then.path)
    except FileNotFoundError:
        if "://" in then.path:
            proof.faults.append(f"the checkpoint {then.path} is gone")
        else:
            proof.unproven.append(f"the checkpoint {then.path} is not on this machine")
        return
    changed = differences(then, there)
    proof.faults += [f"the checkpoint: {words}" for words in changed]
    if not changed:
        proof.proven.append(f"the checkpoint {then.path} is as it was, by {then.proof}")


def _kept_manifest(seal: Sealing, record: Record, told: dict[str, Any]) -> Manifest | None:
    """From the record; it must have the digest that the statement names."""
    tip = _tip(seal, record)
    path = f"{record.files_path}/manifest-{told['digest'][7:19]}.json"
    data = seal.repository.read(tip, [path])[path] if tip else None
    if data is None:
        return None
    found = manifest_from(json.loads(data))
    if found.digest != told["digest"]:
        raise WrongUse(f"{path} in the record is not the manifest that the seal names: it was changed")
    return found


def _store(seal: Sealing) -> RoutedStore:
    """By the scheduler of the launch: a path without a scheme is one of the machine where the job ran."""
    facts, reach = seal.facts, None
    path = f"runs/{facts['run']}.toml"
    data = seal.repository.read(facts["launch_commit"], [path])[path]
    if data is not None:
        told = parse_contract(data.decode(), path).scheduler
        reach = discover.reach(told.kind, told.options)
    return RoutedStore(Place(facts["run"], "", facts["output_root"], str(seal.repository.top), reach))
