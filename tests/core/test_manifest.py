"""A checkpoint's manifest: what it proves of the content, and how it is held against what is there
now.
"""

import pytest

from herorun.core.canonical_json import digest
from herorun.core.seal.manifest import (
    FileRecord,
    Manifest,
    ManifestComparison,
    compare,
    manifest_from,
)
from screens.notices import Notice
from wording import mentions


def manifest(*files: FileRecord) -> Manifest:
    return Manifest("/data/step-4", files)


@pytest.mark.parametrize(
    ("then", "now", "expectation"),
    [
        ("sha256:a", "sha256:a", ManifestComparison()),
        ("", "", ManifestComparison(unproven=("w",))),
        ("", "sha256:a", ManifestComparison(unproven=("w",))),
        ("sha256:a", "", ManifestComparison(unproven=("w",))),
        ("md5:a", "crc32c:b", ManifestComparison(unproven=("w",))),
        # composed since: it has no MD5 any more
        ("crc32c:a md5:b", "crc32c:a", ManifestComparison()),
        # uploaded again in other parts
        ("sha256:a etag:x-2", "sha256:a etag:x-7", ManifestComparison()),
    ],
)
def test_the_strongest_checksum_of_both_times_decides(
    then: str, now: str, expectation: ManifestComparison
) -> None:
    assert (
        compare(manifest(FileRecord("w", 8, then)), manifest(FileRecord("w", 8, now)))
        == expectation
    )


@pytest.mark.parametrize(
    ("then", "now"), [("crc32c:a", "crc32c:b"), ("sha256:a etag:x", "sha256:b etag:x")]
)
def test_another_content_is_named_with_both_checksums(then: str, now: str, notice: Notice) -> None:
    comparison = compare(manifest(FileRecord("w", 8, then)), manifest(FileRecord("w", 8, now)))
    (difference,) = comparison.changed
    assert comparison == ManifestComparison((difference,))
    assert difference == notice


def test_a_version_proves_the_content_and_another_one_with_the_same_checksum_is_a_rewrite() -> None:
    old = FileRecord("w", 8, "md5:a", "version:1")
    assert (
        compare(manifest(old), manifest(FileRecord("w", 8, "", "version:1")))
        == ManifestComparison()
    )
    assert compare(
        manifest(old), manifest(FileRecord("w", 8, "md5:a", "version:2"))
    ) == ManifestComparison(rewritten=("w",))
    assert compare(
        manifest(old), manifest(FileRecord("w", 8, "", "version:2"))
    ) == ManifestComparison(unproven=("w",))


def test_what_is_gone_new_or_of_another_size_changed() -> None:
    before = manifest(FileRecord("a", 1, "md5:a"), FileRecord("b", 2, "md5:b"))
    after = manifest(FileRecord("b", 3, "md5:b"), FileRecord("c", 1, "md5:c"))
    missing, extra, resized_files = compare(before, after).changed
    assert missing == "a is gone" and extra == "c is new"
    assert mentions(resized_files, "b ", "3 bytes", "2")


def test_a_checkpoint_of_one_file_goes_by_its_path() -> None:
    def one(checksum: str = "", version: str = "") -> Manifest:
        return Manifest("/data/last.ckpt", (FileRecord("", 8, checksum, version),))

    none = Manifest("/data/last.ckpt", ())
    assert compare(one(), none).changed == ("/data/last.ckpt is gone",)
    assert compare(none, one()).changed == ("/data/last.ckpt is new",)
    assert compare(one(), one()).unproven == ("/data/last.ckpt",)
    again = compare(one("md5:a", "version:1"), one("md5:a", "version:2"))
    assert again == ManifestComparison(rewritten=("/data/last.ckpt",))
    assert len(compare(one("md5:a"), one("md5:b")).changed) == 1


def test_what_is_known_by_size_alone_is_reported() -> None:
    some = manifest(FileRecord("a", 1, "sha256:a"), FileRecord("b", 2))
    assert mentions(some.proof, "checksums", "sha256", "1 of", "2 by")
    assert some.by_size_alone == ("b",)
    assert mentions(manifest(FileRecord("b", 2)).proof, "sizes", "content")


def test_the_manifest_of_a_seal_from_before_there_were_versions_keeps_its_digest() -> None:
    fields = {"path": "/data/step-4", "files": [{"name": "w", "size": 8, "checksum": ""}]}
    assert manifest_from(fields).digest == digest(fields)
    newer = {
        "path": "/p",
        "files": [{"name": "w", "size": 8, "checksum": "md5:a", "version": "version:1"}],
    }
    assert (
        manifest_from(newer).digest == digest(newer)
        and manifest_from(newer).files[0].version == "version:1"
    )
