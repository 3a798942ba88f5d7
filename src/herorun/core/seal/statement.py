"""The statement of a seal: in-toto's Statement v1 around a provenance after SLSA v1. Pure.

What the two standards have no word for lies in the predicate under `herorun_seal`, as SLSA asks of
extensions.
Source: in-toto attestation framework, spec v1 (statement, resource descriptor); slsa.dev,
provenance v1.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from herorun.core.lazy_dataclass import dataclass
from herorun.core.seal.manifest import Manifest

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD = "urn:herorun:training-run:v1"
OWN = "herorun_seal"
SCHEMA = 1

Tree = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SealFacts:
    """What there is to state, in plain form; `facts` are herorun's own."""

    facts: Tree
    plan: Mapping[str, Any]  # the newest launch's, field -> value
    commit: str  # that the tag names
    remote: str = ""  # URL of the code's remote, without credentials
    manifest: Manifest | None = None
    record: str = ""  # commit of the record that the seal was made from
    times: tuple[str, str] = ("", "")  # when the first instance started, and when the seal was made
    # dependencies that no plan names: seal commits
    further: tuple[Tree, ...] = field(default=())


def statement(seal: SealFacts) -> dict[str, Any]:
    """The whole statement."""
    subjects = [{"name": "commit", "uri": _git(seal.remote), "digest": {"gitCommit": seal.commit}}]
    if seal.manifest:
        facts = seal.manifest.facts
        subjects.append(
            {
                "name": seal.manifest.path,
                "digest": {"sha256": seal.manifest.digest.removeprefix("sha256:")},
                "annotations": {name: facts[name] for name in ("files", "bytes", "proof")},
            }
        )
    return {
        "_type": TYPE,
        "subject": [_without_empty(each) for each in subjects],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": _definition(seal),
            "runDetails": _details(seal),
            OWN: {"schema": SCHEMA, **seal.facts},
        },
    }


def _definition(facts: SealFacts) -> dict[str, Any]:
    plan = facts.plan
    names = (
        "argv",
        "config",
        "start",
        "final_step",
        "output_root",
        "temporary_root",
        "hardware",
        "env",
    )
    ours = ("code_tree", "retention", "scheduler", "tracker", "secrets")
    return {
        "buildType": BUILD,
        "externalParameters": {name: plan.get(name) for name in names},
        "internalParameters": {name: plan.get(name) for name in ours},
        "resolvedDependencies": _dependencies(facts),
    }


def _dependencies(facts: SealFacts) -> list[dict[str, Any]]:
    plan = facts.plan
    commit = {
        "name": "code",
        "uri": _git(facts.remote),
        "digest": {"gitCommit": plan.get("commit")},
    }
    items = [commit, *(dict(each) for each in facts.further)]
    items += [
        {"name": "data", "uri": path, **_digest_or_annotation(word)}
        for path, word in (plan.get("data") or {}).items()
    ]
    for name in ("container", "bundle"):
        if word := plan.get(name):
            uri, _, digest = str(word).partition("@")
            items.append({"name": name, "uri": uri, **_digest_or_annotation(digest)})
    items += [{"name": "package", "uri": str(package)} for package in plan.get("packages") or ()]
    if start := plan.get("start"):
        items.append({"name": "start checkpoint", "uri": start["path"]})
    return [_without_empty(each) for each in items]


def _details(seal: SealFacts) -> dict[str, Any]:
    facts = seal.facts
    record = {"name": "record", "digest": {"gitCommit": seal.record}}
    instances = facts.get("instances") or ()
    scheduler = (seal.plan.get("scheduler") or {}).get("kind", "")
    return {
        "builder": {
            "id": f"urn:herorun:scheduler:{scheduler}",
            "version": {"herorun": facts.get("herorun")},
        },
        "metadata": _without_empty(
            {
                "invocationId": instances[-1]["name"] if instances else "",
                "startedOn": seal.times[0],
                "finishedOn": seal.times[1],
            }
        ),
        "byproducts": [record] if seal.record else [],
    }


def _digest_or_annotation(word: str) -> dict[str, Any]:
    """`sha256:...` as a digest; any other identity, as a store's generation, as an annotation."""
    kind, _, value = word.partition(":")
    if not value:
        return {}
    return {"digest": {kind: value}} if kind.startswith("sha") else {"annotations": {kind: value}}


def _git(remote: str) -> str:
    return f"git+{remote}" if remote else ""


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", None, {})}


def facts_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Herorun's own part of a statement; a ValueError where it is none of ours, or of a form that
    we do not know.
    """
    try:
        own = document["predicate"][OWN]
        is_ours = (
            document["_type"] == TYPE
            and document["predicateType"] == PREDICATE
            and own["schema"] == SCHEMA
        )
    except (KeyError, TypeError):
        is_ours = False
    if not is_ours:
        raise ValueError("it is of another kind, or of a version that this herorun does not know")
    return dict(own)


def checkpoint_of(document: Mapping[str, Any]) -> str | None:
    """The digest of the checkpoint's manifest among the subjects; None where there is none."""
    digests = (
        each["digest"]["sha256"] for each in document["subject"] if "sha256" in each["digest"]
    )
    return next((f"sha256:{oid}" for oid in digests), None)


def commit_of(document: Mapping[str, Any]) -> str:
    """The commit that a statement is about."""
    return next(
        str(each["digest"]["gitCommit"])
        for each in document["subject"]
        if "gitCommit" in each["digest"]
    )
