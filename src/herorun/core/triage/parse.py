"""From TOML to signatures: the shipped rows and a user's own, checked and compiled."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from herorun.core.canonical_json import digest
from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.triage.classes import FailureClass, LineRole, LoadedState, RootStrength
from herorun.core.triage.prefilter import EDGE
from herorun.core.triage.signatures import Exceptions, ExitCode, LogSignature, SignatureSet

T = TypeVar("T", FailureClass, LoadedState, LineRole)
_LETTERS = lazy_regex(rf"[^\d{EDGE}]{{3}}")
# Ids that shipped rows had in earlier versions: a user's own file may still use them.
RENAMED: Mapping[str, str] = {"slurm-cascade": "process-cascade"}
_KEYS = {
    "id",
    "class",
    "role",
    "strength",
    "keywords",
    "pattern",
    "person",
    "advice",
    "source",
    "hedged",
    "confirms",
    "printed_by",
    "due_mib",
    "loads",
}


def parse(
    documents: Sequence[Mapping[str, Any]], own: Sequence[tuple[str, Mapping[str, Any]]] = ()
) -> SignatureSet:
    """The signatures of the shipped documents and of a user's own (name, document).

    A user's row with a shipped id takes its place; the others come first, so that they win a tie.
    Raises WrongUse for a row that is not as docs/triage.md says.
    """
    rules = next(d for d in documents if "rules" in d)["rules"]
    mine = _own_signatures(own)
    own_ids = {signature.id for signature in mine}
    shipped_rules = [
        _signature(row, "the shipped signatures")
        for document in documents
        for row in document.get("signature", ())
    ]
    _require(len(own_ids) == len(mine), "your signatures", "one id appears twice")
    signatures = (*mine, *(s for s in shipped_rules if s.id not in own_ids))
    return SignatureSet(
        signatures=signatures,
        exit_codes={row["code"]: _exit_code(row) for row in rules["exit_code"]},
        exceptions=Exceptions(
            **{name: frozenset(types) for name, types in rules["exceptions"].items()}
        ),
        hedges=lazy_regex(rules["hedges"], re.IGNORECASE),
        source_text=lazy_regex(rules["source_text"]),
        stems=tuple(rules["stems"]),
        digest=digest([list(documents), list(own)]),
    )


def _own_signatures(own: Sequence[tuple[str, Mapping[str, Any]]]) -> list[LogSignature]:
    """A user's rows. Raises all that is wrong in them, the first fault of each."""
    signatures, errors = list[LogSignature](), list[str]()
    for name, document in own:
        for row in _signature_rows(document, name):
            try:
                signatures.append(_own_signature(row, name))
            except WrongUse as error:
                errors.append(str(error))
    if errors:
        raise WrongUse(" ".join(errors))
    return signatures


def _signature_rows(document: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    _require(set(document) <= {"signature"}, name, "it holds more than [[signature]] tables")
    rows = document.get("signature", [])
    _require(
        isinstance(rows, list) and all(isinstance(row, dict) for row in rows),
        name,
        "signature is no [[table]]",
    )
    return list(rows)


def _own_signature(row: Mapping[str, Any], name: str) -> LogSignature:
    """One whose pattern was compiled: it was not tested before."""
    signature = _signature(row, name)
    try:
        re.compile(row["pattern"], re.IGNORECASE)
    except re.error as error:
        what = f"{name}: signature {signature.id}"
        raise WrongUse(f"{what}: the pattern is not a regular expression: {error}.") from None
    return signature


def _signature(row: Mapping[str, Any], name: str) -> LogSignature:
    what = f"{name}: signature {row.get('id', '?')}"
    _require(not set(row) - _KEYS, what, f"unknown keys: {', '.join(sorted(set(row) - _KEYS))}")
    for key in ("id", "class", "role", "pattern", "advice"):
        _require(
            isinstance(row.get(key), str) and bool(row[key]),
            what,
            f"{key} is missing or is not a text",
        )
    keywords = row.get("keywords")
    _require(isinstance(keywords, list) and bool(keywords), what, "keywords is missing or empty")
    assert isinstance(keywords, list)
    for keyword in keywords:
        if not (isinstance(keyword, str) and _LETTERS.search(keyword.strip())):
            problem = f"keyword {keyword!r} needs three characters in a row that are not digits"
            raise WrongUse(f"{what}: {problem}.")
    return LogSignature(
        id=RENAMED.get(row["id"], row["id"]),
        failure=_one_of(FailureClass, row["class"], f"{what}: class"),
        role=_one_of(LineRole, row["role"], f"{what}: role"),
        strength=_strength(row.get("strength", "cause"), what),
        keywords=tuple(keyword.lower() for keyword in keywords),
        pattern=lazy_regex(row["pattern"], re.IGNORECASE),
        person=bool(row.get("person", False)),
        advice=row["advice"],
        source=str(row.get("source", "")),
        hedged=bool(row.get("hedged", False)),
        confirms=tuple(RENAMED.get(each, each) for each in row.get("confirms", ())),
        printed_by=str(row.get("printed_by", "")),
        due=_parse_mebibytes(row.get("due_mib", 0), what),
        loads=_loads(row, what),
    )


def _loads(row: Mapping[str, Any], what: str) -> LoadedState | None:
    _require(
        (row["role"] == LineRole.LOADING) == ("loads" in row),
        what,
        "loads belongs to the role loading, and to no other",
    )
    return _one_of(LoadedState, row["loads"], f"{what}: loads") if "loads" in row else None


def _parse_mebibytes(value: object, what: str) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    _require(good, what, f"due_mib {value!r} is not a whole number of MiB")
    assert isinstance(value, int)
    return value << 20


def _one_of(kind: type[T], value: str, what: str) -> T:
    try:
        return kind(value)
    except ValueError:
        raise WrongUse(f"{what} {value!r} is not one of {', '.join(kind)}.") from None


def _strength(value: object, what: str) -> RootStrength:
    try:
        return RootStrength[str(value).upper()]
    except KeyError:
        raise WrongUse(
            f"{what}: strength {value!r} is not one of faint, symptom, bug, cause."
        ) from None


def _exit_code(row: Mapping[str, Any]) -> ExitCode:
    return ExitCode(row["code"], FailureClass(row["class"]), row["advice"])


def _require(condition: bool, what: str, otherwise: str) -> None:
    if not condition:
        raise WrongUse(f"{what}: {otherwise}.")
