"""Whether a sealed checkpoint still has the content that it had, file by file."""

from herorun import adapter_declarations
from herorun.core.finding import count as count_of
from herorun.core.ports import Place, Store
from herorun.core.seal.manifest import Manifest, ManifestComparison, compare
from herorun.core.seal.verification import SealProof
from herorun.operations.checkpoints.manifest import read_contents, read_manifest
from herorun.operations.seal.verify_tag import SealedTag, contract_of
from herorun.store_router import RoutedStore


def ask_checkpoint(seal: SealedTag, then: Manifest, proof: SealProof) -> None:
    """Compare the checkpoint with the recorded manifest. A store that this machine cannot reach is
    no fault.
    """
    try:
        now = _as_it_is(_store(seal), then)
    except FileNotFoundError:
        if "://" in then.path:
            proof.faults.append(f"the checkpoint {then.path} is gone")
        else:
            proof.unproven.append(
                f"the checkpoint {then.path} is not on this machine: verify again where it is"
            )
        return
    _add_manifest_proof(then, compare(then, now), proof)


def _as_it_is(store: Store, then: Manifest) -> Manifest:
    """The checkpoint as it is now, read as for the seal: digests that cannot be compared are not
    computed.
    """
    listing = read_manifest(store, then.path)
    return listing if len(then.by_size_alone) == len(then.files) else read_contents(store, listing)


def _add_manifest_proof(then: Manifest, comparison: ManifestComparison, proof: SealProof) -> None:
    proof.faults += [f"the checkpoint: {change}" for change in comparison.changed]
    if comparison.unproven:
        several, some = len(comparison.unproven) > 1, ", ".join(comparison.unproven[:3])
        proof.unproven.append(
            f"the checkpoint {then.path}: {len(comparison.unproven)} of "
            f"{count_of(len(then.files), 'file')} "
            f"({some}{', ...' if len(comparison.unproven) > 3 else ''}) "
            f"{'have their' if several else 'has its'} sealed size, and the seal has no digest of "
            "the content "
            "that could be compared"
        )
    elif not comparison.changed:
        proof.proven.append(f"the checkpoint {then.path} is unchanged, by {then.proof}")
    if comparison.rewritten:
        count, first = len(comparison.rewritten), comparison.rewritten[0]
        proof.notes.append(
            f"the checkpoint: {first}{f' and {count - 1} more' if count > 1 else ''} was written "
            "again "
            "with the same content"
        )


def _store(seal: SealedTag) -> RoutedStore:
    """The store, by the scheduler of the launch: a path without a scheme is on the machine where
    the job ran.
    """
    facts, contract = seal.facts, contract_of(seal)
    scheduler = contract.scheduler if contract else None
    reach = adapter_declarations.reach(scheduler.kind, scheduler.options) if scheduler else None
    return RoutedStore(
        Place(facts["run"], "", facts["output_root"], str(seal.repository.top), reach)
    )
