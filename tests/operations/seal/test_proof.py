"""What a checkpoint, a tag and a record prove of a seal, question by question."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.test_sealing_reading import COMMIT, MANIFEST, statement_with
from herorun.core.errors import WrongUse
from herorun.core.seal.manifest import FileRecord, Manifest
from herorun.core.seal.render import tag_message
from herorun.core.seal.verification import SealProof
from herorun.operations.record.verify import RecordVerification
from herorun.operations.seal import verify, verify_checkpoint, verify_record
from herorun.operations.seal.verify_tag import SealedTag, verify_statement

TAG = "herorun/tiny/seal-1"
FILES = (FileRecord("a", 8, "md5:aGk="), FileRecord("b", 9, "md5:aG8="))
THEN = Manifest("/data/step-4", FILES)


def a_seal(repository: Any = None, **changes: Any) -> SealedTag:
    statement = statement_with(**changes)
    head = {"object": COMMIT, "tag": TAG}
    return SealedTag(repository, TAG, head, tag_message(statement, TAG), "", statement)


def counts(proof: SealProof) -> tuple[int, int, int, int]:
    return len(proof.proven), len(proof.faults), len(proof.unproven), len(proof.notes)


@pytest.mark.parametrize(
    ("then", "files", "expectation"),
    [
        (THEN, FILES, (1, 0, 0, 0)),
        (THEN, FILES[:1], (0, 1, 0, 0)),
        (THEN, (*FILES, FileRecord("c", 1)), (0, 1, 0, 0)),
        (THEN, (FILES[0], FileRecord("b", 9, "md5:other")), (0, 1, 0, 0)),
        (THEN, (FILES[0], FileRecord("b", 9)), (0, 0, 1, 0)),
        (THEN, (FILES[0], FileRecord("b", 10)), (0, 1, 0, 0)),
        (
            Manifest(THEN.path, (FileRecord("a", 8, "md5:aGk=", "1"),)),
            (FileRecord("a", 8, "md5:aGk=", "2"),),
            (1, 0, 0, 1),
        ),
    ],
)
def test_a_checkpoint_is_held_against_its_manifest(
    monkeypatch: pytest.MonkeyPatch,
    then: Manifest,
    files: tuple[FileRecord, ...],
    expectation: tuple[int, int, int, int],
) -> None:
    proof = prove(monkeypatch, then, Manifest(then.path, files))
    assert counts(proof) == expectation


@pytest.mark.parametrize(("unproven", "names"), [(3, ["f0, f1, f2)"]), (4, ["f2, ...)"])])
def test_the_first_three_files_that_are_not_proven_are_named(
    monkeypatch: pytest.MonkeyPatch, unproven: int, names: list[str]
) -> None:
    then = Manifest("/data/x", tuple(FileRecord(f"f{n}", 8, "md5:aGk=") for n in range(unproven)))
    now = Manifest("/data/x", tuple(FileRecord(f"f{n}", 8) for n in range(unproven)))
    (message,) = prove(monkeypatch, then, now).unproven
    assert f"{unproven} of {unproven} files" in message
    assert all(name in message for name in names)


@pytest.mark.parametrize(
    ("path", "expectation"), [("gs://b/step-4", (0, 1, 0, 0)), ("/data/step-4", (0, 0, 1, 0))]
)
def test_a_checkpoint_that_is_gone_is_a_fault_only_where_every_machine_sees_it(
    monkeypatch: pytest.MonkeyPatch, path: str, expectation: tuple[int, int, int, int]
) -> None:
    assert counts(prove(monkeypatch, Manifest(path, FILES), None)) == expectation


def test_digests_are_made_only_where_the_seal_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Manifest("/data/step-4", (FileRecord("a", 8),))
    mixed_manifest = Manifest("/data/step-4", (FileRecord("a", 8), FILES[1]))
    monkeypatch.setattr(verify_checkpoint, "read_manifest", lambda store, path: bare)
    monkeypatch.setattr(verify_checkpoint, "read_contents", lambda store, listing: mixed_manifest)
    store: Any = None
    assert verify_checkpoint._as_it_is(store, bare) == bare
    assert verify_checkpoint._as_it_is(store, mixed_manifest) == mixed_manifest


def prove(monkeypatch: pytest.MonkeyPatch, then: Manifest, now: Manifest | None) -> SealProof:
    """`now` is None where the checkpoint is gone."""

    def read(store: Any, then: Manifest) -> Manifest:
        if now is None:
            raise FileNotFoundError(then.path)
        return now

    monkeypatch.setattr(verify_checkpoint, "_store", lambda seal: None)
    monkeypatch.setattr(verify_checkpoint, "_as_it_is", read)
    proof = SealProof(TAG)
    verify_checkpoint.ask_checkpoint(a_seal(), then, proof)
    return proof


def test_a_whole_tag_proves_four_things() -> None:
    proof = SealProof(TAG)
    verify_statement(a_seal(), proof)
    assert counts(proof) == (4, 0, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"tag": "herorun/tiny/seal-2"},
        {"head": {"object": "e" * 40, "tag": TAG}},
        {"head": {"object": COMMIT, "tag": "herorun/tiny/seal-2"}},
        {"message": "another\n"},
    ],
)
def test_each_part_of_a_tag_that_was_changed_is_a_fault(changes: dict[str, Any]) -> None:
    proof, parts = SealProof(TAG), {**vars(a_seal()), **changes}
    verify_statement(SealedTag(**parts), proof)
    # a tag of another name has another message too
    assert len(proof.faults) == (2 if "tag" in changes else 1)
    assert len(proof.proven) + len(proof.faults) == 4


def test_a_statement_without_its_subject_is_a_fault() -> None:
    proof = SealProof(TAG)
    verify_statement(a_seal(manifest=None), proof)
    assert len(proof.faults) == 1


@pytest.mark.parametrize(
    ("data", "changes", "expectation"),
    [
        (MANIFEST.text.encode(), {}, (1, 0, 0, 0)),
        (THEN.text.encode(), {}, (0, 1, 0, 0)),
        (b"{", {}, (0, 1, 0, 0)),
        (b"{}", {}, (0, 1, 0, 0)),
        (None, {}, (0, 0, 1, 0)),
        (MANIFEST.text.encode(), {"manifest": None}, (0, 0, 0, 1)),
    ],
)
def test_the_manifest_in_the_record_is_the_one_that_the_seal_names(
    data: bytes | None, changes: dict[str, Any], expectation: tuple[int, int, int, int]
) -> None:
    path = f"files/manifest-{MANIFEST.digest[7:19]}.json"
    repository = SimpleNamespace(read=lambda tip, paths, most: {path: data})
    record: Any = SimpleNamespace(tip="7e11", files_path="files")
    proof = SealProof(TAG)
    manifest = verify_record.stored_manifest(a_seal(repository, **changes), record, proof)
    assert counts(proof) == expectation
    assert manifest == (MANIFEST if expectation[0] else None)


@pytest.mark.parametrize(
    ("proof", "verdict"),
    [
        (SealProof(TAG, proven=["p"]), "clear"),
        (SealProof(TAG, faults=["f"], notes=["n"]), "blocked"),
        (SealProof(TAG, unproven=["u"], notes=["n"]), "unknown"),
    ],
)
def test_a_verified_record_takes_over_what_its_newest_seal_proves(
    monkeypatch: pytest.MonkeyPatch, proof: SealProof, verdict: str
) -> None:
    monkeypatch.setattr(verify, "verify_seal", lambda repository, tag, offline: proof)
    repository: Any = None
    record = RecordVerification(entries=3, commits=2, faults=(), notes=("own note",), seal=TAG)
    verification = verify.verify_newest_seal(repository, record, offline=True)
    assert verification.verdict == verdict
    assert verification.faults == tuple(f"{TAG}: {each}" for each in proof.faults)
    assert verification.notes == (
        "own note",
        *(f"{TAG}: {each}" for each in (*proof.unproven, *proof.notes)),
    )
    unseen_verification = RecordVerification(
        entries=3, commits=2, faults=(), notes=(), unseen=True, seal=TAG
    )
    assert verify.verify_newest_seal(repository, unseen_verification, offline=True).unseen


def test_a_record_without_a_seal_or_with_one_that_is_not_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(repository: Any, tag: str, offline: bool) -> SealProof:
        raise WrongUse(f"{tag} is not here")

    monkeypatch.setattr(verify, "verify_seal", missing)
    repository: Any = None
    bare = RecordVerification(entries=3, commits=2, faults=(), notes=())
    assert verify.verify_newest_seal(repository, bare, offline=True) is bare
    verification = verify.verify_newest_seal(
        repository,
        RecordVerification(entries=3, commits=2, faults=(), notes=(), seal=TAG),
        offline=True,
    )
    assert (verification.verdict, verification.notes) == ("unknown", (f"{TAG} is not here",))
