"""Whether a sealed checkpoint is still what it was, file by file."""

from herorun import discover
from herorun.acts.manifest import read_manifest
from herorun.acts.proving_tag import SealedTag, contract_of
from herorun.core.ports import Place
from herorun.core.sealing.manifest import Manifest, differences
from herorun.core.sealing.proof import Proof
from herorun.routed import RoutedStore


def ask_checkpoint(seal: SealedTag, then: Manifest, proof: Proof) -> None:
    """Against the manifest that the record keeps. What this machine cannot reach is no fault."""
    try:
        there = read_manifest(_store(seal), then.path)
    except FileNotFoundError:
        if "://" in then.path:
            proof.faults.append(f"the checkpoint {then.path} is gone")
        else:
            proof.unproven.append(
                f"the checkpoint {then.path} is not on this machine: ask again where it lies"
            )
        return
    changed = differences(then, there)
    proof.faults += [f"the checkpoint: {words}" for words in changed]
    if not changed:
        proof.proven.append(f"the checkpoint {then.path} is as it was, by {then.proof}")


def _store(seal: SealedTag) -> RoutedStore:
    """By the scheduler of the launch: a path without a scheme is one of the machine where the job ran."""
    facts, contract = seal.facts, contract_of(seal)
    told = contract.scheduler if contract else None
    reach = discover.reach(told.kind, told.options) if told else None
    return RoutedStore(Place(facts["run"], "", facts["output_root"], str(seal.repository.top), reach))
