"""The evidence of a tick as it is stored for replay: encodes it as one JSON object, and decodes it.

Secrets are masked before digests are computed, so that the digest in the journal is that of the
stored text.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core import evidence as types
from herorun.core.canonical_json import canonical_json, digest, digest_of, plain
from herorun.core.check import name_of
from herorun.core.contract import Contract, contract_from
from herorun.core.decode import decode
from herorun.core.evidence import Evidence, Nothing, Unavailable
from herorun.core.evidence_names import evidence_name
from herorun.core.once_per_object import once_per_object
from herorun.core.redaction.scrub import scrub_tree

# By name, what a tick may have judged by. Adapters and the repository are in its evidence too: they
# are no facts.
KINDS: Mapping[str, type[Any]] = {
    "Contract": Contract,
    **{
        name: kind
        for name, kind in vars(types).items()
        if isinstance(kind, type)
        and "__dataclass_fields__" in vars(kind)  # `is_dataclass` reads it
    },
    "ActionBlock": types.ActionBlock,  # its name in earlier evidence
}
_TYPES = frozenset(KINDS.values())


class LostEvidence(ValueError):
    """What is kept cannot be what the tick saw: says why."""


def encode_evidence(evidence: Evidence) -> dict[str, Any]:
    """Every fact in plain form: `{"value": ...}`, or the reason as `{"nothing": ...}` or
    `{"unavailable": ...}`.
    """
    forms = {
        name_of(kind): _form(value) for kind, value in evidence.items() if name_of(kind) in KINDS
    }
    form: dict[str, Any] = scrub_tree(
        plain({name: form for name, form in forms.items() if form is not None})
    )
    return form


@once_per_object
def _contract_form(contract: Contract) -> dict[str, Any]:
    return {"value": contract.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)}


def _form(value: Any) -> dict[str, Any] | None:
    match value:
        case Nothing(why):
            return {"nothing": why}
        case Unavailable(why):
            return {"unavailable": why}
        case Contract():
            # Not `data_for_toml`, whose JSON has no word for a threshold that is infinite.
            return _contract_form(value)
    return {"value": value} if type(value) in _TYPES else None


def canonical_facts(forms: Mapping[str, Any]) -> dict[str, str]:
    """The canonical JSON of each fact. They are plain as they are."""
    return {name: canonical_json(form) for name, form in forms.items()}


def digests(facts: Mapping[str, str]) -> dict[str, str]:
    """Each fact's own digest, as `Observed` names it."""
    return {name: digest_of(text) for name, text in facts.items()}


def decode_evidence(forms: Mapping[str, Any], journal_digests: Mapping[str, str]) -> Evidence:
    """The evidence again, if it has the digests that are in `journal_digests`; otherwise
    `LostEvidence`.

    A fact that this version does not know is left out: no check asks for it.
    """
    mismatches = sorted(
        n
        for n in forms.keys() | journal_digests.keys()
        if n not in forms or digest(forms[n]) != journal_digests.get(n)
    )
    if mismatches:
        names = ", ".join(map(evidence_name, mismatches))
        raise LostEvidence(
            f"the stored evidence is not what the tick read, so it was edited or damaged: {names} "
            "(its digest is not the one in the journal)"
        )
    return {KINDS[name]: _decode_value(name, form) for name, form in forms.items() if name in KINDS}


def _decode_value(name: str, form: Mapping[str, Any]) -> Any:
    """Nothing may be lost on the way: what is read must be written in the same words again."""
    try:
        if "nothing" in form:
            return Nothing(str(form["nothing"]))
        if "unavailable" in form:
            return Unavailable(str(form["unavailable"]))
        kind, value = KINDS[name], form["value"]
        return (
            contract_from(value, "the contract then") if kind is Contract else decode(kind, value)
        )
    except Exception as error:  # WrongUse, a missing key, a field that this version reads otherwise
        raise LostEvidence(
            f"the evidence of {name} cannot be read: {str(error).splitlines()[0]}"
        ) from None


def evidence_line(at: str, facts: Mapping[str, str]) -> str:
    """One line of the evidence file, canonical too."""
    pairs = ",".join(f"{canonical_json(name)}:{facts[name]}" for name in sorted(facts))
    return f'{{"at":{canonical_json(at)},"evidence":{{{pairs}}}}}'
