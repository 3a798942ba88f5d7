"""What a checkpoint is made of: every file by its name, its size and the digest of its content."""

from collections.abc import Mapping
from typing import Any

from herorun.core.canonical_json import canonical, digest
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass

# From the strongest on. `-of-parts`: a digest of the digests of an upload's parts, which depends on
# how it was cut.
KINDS = (
    "sha256",
    "sha1",
    "md5",
    "crc64nvme",
    "crc32c",
    "crc32",
    "sha256-of-parts",
    "sha1-of-parts",
)


@dataclass(frozen=True)
class FileRecord:
    """One file of a checkpoint."""

    name: str  # relative to the checkpoint; empty where that is one file
    size: int  # bytes
    # `kind:value`, several apart by a space; empty where nothing but the size is known
    checksum: str = ""
    # the store's own word for this content: it changes whenever the file is written again
    version: str = ""

    @property
    def checksums(self) -> dict[str, str]:
        """By their kinds, the strongest first."""
        by_kind = dict(each.split(":", 1) for each in self.checksum.split() if ":" in each)
        order = {kind: place for place, kind in enumerate(KINDS)}
        return dict(
            sorted(by_kind.items(), key=lambda item: (order.get(item[0], len(KINDS)), item[0]))
        )

    @property
    def plain(self) -> dict[str, Any]:
        """As the record stores it. If the store gave no version, the key is left out, as in earlier
        records.
        """
        fields = {"name": self.name, "size": self.size, "checksum": self.checksum}
        return fields | ({"version": self.version} if self.version else {})


@dataclass(frozen=True)
class Manifest:
    """All files of one checkpoint, sorted by name."""

    path: str
    files: tuple[FileRecord, ...]

    @property
    def plain(self) -> dict[str, Any]:
        return {"path": self.path, "files": [file.plain for file in self.files]}

    @property
    def digest(self) -> str:
        return digest(self.plain)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def by_size_alone(self) -> tuple[str, ...]:
        """Names of the files whose content the manifest does not prove."""
        return tuple(file.name for file in self.files if not file.checksum)

    @property
    def proof(self) -> str:
        """What the manifest can prove, for people.

        >>> Manifest("/data/step-4", (FileRecord("weights", 8),)).proof
        'sizes alone; the content is not verified'
        >>> Manifest("gs://b/step-4", (FileRecord("weights", 8, "md5:aGk="),)).proof
        'checksums (md5) of all files'
        """
        kinds = sorted({kind for file in self.files for kind in file.checksums})
        bare = len(self.by_size_alone)
        if not kinds:
            return "sizes alone; the content is not verified"
        size_only = f"; {bare} of {len(self.files)} by their sizes alone" if bare else ""
        return f"checksums ({', '.join(kinds)}) of all{' other' if bare else ''} files{size_only}"

    @property
    def text(self) -> str:
        return canonical(self.plain) + "\n"

    @property
    def facts(self) -> dict[str, Any]:
        """Its identity and size, without the files."""
        return {
            "path": self.path,
            "digest": self.digest,
            "files": len(self.files),
            "bytes": self.bytes,
            "proof": self.proof,
        }


def manifest_from(document: Mapping[str, Any]) -> Manifest:
    """From its plain form; a ValueError, KeyError or TypeError where it is none."""
    files = (
        FileRecord(
            str(f["name"]), int(f["size"]), str(f.get("checksum", "")), str(f.get("version", ""))
        )
        for f in document["files"]
    )
    return Manifest(str(document["path"]), tuple(files))


@dataclass(frozen=True)
class ManifestComparison:
    """How a checkpoint stands to what it was, one line a file that changed."""

    changed: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()  # names of files of the same size, with no digest that both have
    rewritten: tuple[str, ...] = ()  # names of files that were written again, with the same content


def compare(before: Manifest, after: Manifest) -> ManifestComparison:
    """The content is compared by the strongest checksum that is known of both times; without one,
    by the version.
    """
    before_files, after_files = (
        {file.name: file for file in each.files} for each in (before, after)
    )
    both = [
        (before_files[name], after_files[name])
        for name in sorted(before_files.keys() & after_files.keys())
    ]
    missing = [
        f"{name or before.path} is gone"
        for name in sorted(before_files.keys() - after_files.keys())
    ]
    new = [
        f"{name or before.path} is new" for name in sorted(after_files.keys() - before_files.keys())
    ]
    different = [text for pair in both if (text := _describe_change(*pair))]
    same = [pair for pair in both if not _describe_change(*pair)]
    unproven = [old.name or before.path for old, now in same if not _proves(old, now)]
    rewritten = [
        old.name or before.path for old, now in same if _proves(old, now) and _rewritten(old, now)
    ]
    return ManifestComparison((*missing, *new, *different), tuple(unproven), tuple(rewritten))


def _describe_change(before: FileRecord, after: FileRecord) -> str:
    name = before.name or "it"
    if before.size != after.size:
        return f"{name} has {count(after.size, 'byte')} and had {before.size}"
    kind = _common_kind(before, after)
    old, new = (each.checksums.get(kind, "") for each in (before, after))
    return (
        ""
        if old == new
        else f"the content of {name} has changed: {kind} is {new:.16}, not {old:.16}"
    )


def _proves(before: FileRecord, after: FileRecord) -> bool:
    """Whether the content is known to be the same, where no checksum differs."""
    return bool(_common_kind(before, after)) or bool(
        before.version and before.version == after.version
    )


def _rewritten(before: FileRecord, after: FileRecord) -> bool:
    return bool(before.version and after.version and before.version != after.version)


def _common_kind(before: FileRecord, after: FileRecord) -> str:
    return next((kind for kind in before.checksums if kind in after.checksums), "")
