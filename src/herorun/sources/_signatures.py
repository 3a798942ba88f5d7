"""The log signatures of a run."""

from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.core.triage.signatures import SignatureSet


def signature_set_of(contract: Contract, place: Place) -> SignatureSet:
    """The signatures with the user's own rows. If their file has become invalid, which reading the
    contract reports, only the built-in rows.
    """
    from herorun import signatures

    try:
        return signatures.of_contract(contract, Path(place.repository))
    except WrongUse:
        return signatures.load_signature_set()
