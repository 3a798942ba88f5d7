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
    # dependencies that no plan tells of: seal commits
    further: tuple[Tree, ...] = field(default=())


def statement(found: SealFacts) -> dict[str, Any]:
    """The whole statement."""
    subjects = [
        {"name": "commit", "uri": _git(found.remote), "digest": {"gitCommit": found.commit}}
    ]
    if found.manifest:
        facts = found.manifest.facts
        subjects.append(
            {
                "name": found.manifest.path,
                "digest": {"sha256": found.manifest.digest.removeprefix("sha256:")},
                "annotations": {name: facts[name] for name in ("files", "bytes", "proof")},
            }
        )
    return {
        "_type": TYPE,
        "subject": [_without_empty(each) for each in subjects],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": _definition(found),
            "runDetails": _details(found),
            OWN: {"schema": SCHEMA, **found.facts},
        },
    }


def _definition(facts: SealFacts) -> dict[str, Any]:
    plan = facts.plan
    asked = (
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
        "externalParameters": {name: plan.get(name) for name in asked},
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
    told = [commit, *(dict(each) for each in facts.further)]
    told += [
        {"name": "data", "uri": path, **_digest_or_annotation(word)}
        for path, word in (plan.get("data") or {}).items()
    ]
    for name in ("container", "bundle"):
        if word := plan.get(name):
            uri, _, digest = str(word).partition("@")
            told.append({"name": name, "uri": uri, **_digest_or_annotation(digest)})
    told += [{"name": "package", "uri": str(package)} for package in plan.get("packages") or ()]
    if start := plan.get("start"):
        told.append({"name": "start checkpoint", "uri": start["path"]})
    return [_without_empty(each) for each in told]


def _details(found: SealFacts) -> dict[str, Any]:
    facts = found.facts
    record = {"name": "record", "digest": {"gitCommit": found.record}}
    instances = facts.get("instances") or ()
    scheduler = (found.plan.get("scheduler") or {}).get("kind", "")
    return {
        "builder": {
            "id": f"urn:herorun:scheduler:{scheduler}",
            "version": {"herorun": facts.get("herorun")},
        },
        "metadata": _without_empty(
            {
                "invocationId": instances[-1]["name"] if instances else "",
                "startedOn": found.times[0],
                "finishedOn": found.times[1],
            }
        ),
        "byproducts": [record] if found.record else [],
    }


def _digest_or_annotation(word: str) -> dict[str, Any]:
    """`sha256:...` as a digest; any other identity, as a store's generation, as an annotation."""
    kind, _, value = word.partition(":")
    if not value:
        return {}
    return {"digest": {kind: value}} if kind.startswith("sha") else {"annotations": {kind: value}}


def _git(remote: str) -> str:
    return f"git+{remote}" if remote else ""


def _without_empty(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value not in ("", None, {})}


def facts_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """Herorun's own part of a statement; a ValueError where it is none of ours, or of a form that
    we do not know.
    """
    try:
        found = told["predicate"][OWN]
        known = (
            told["_type"] == TYPE
            and told["predicateType"] == PREDICATE
            and found["schema"] == SCHEMA
        )
    except (KeyError, TypeError):
        known = False
    if not known:
        raise ValueError(
            "it is no statement of a seal, or of a form that this herorun does not know"
        )
    return dict(found)


def checkpoint_of(told: Mapping[str, Any]) -> str | None:
    """The digest of the checkpoint's manifest among the subjects; None where there is none."""
    found = (each["digest"]["sha256"] for each in told["subject"] if "sha256" in each["digest"])
    return next((f"sha256:{oid}" for oid in found), None)


def commit_of(told: Mapping[str, Any]) -> str:
    """The commit that a statement is about."""
    return next(
        str(each["digest"]["gitCommit"])
        for each in told["subject"]
        if "gitCommit" in each["digest"]
    )
